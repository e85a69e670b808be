"""Explain: what a saved model has learned, and the report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.cli.faults import UserError
from anymetric.cli.importance import measured_on, show
from anymetric.cli.models import TableModel, load_model
from anymetric.cli.tables import check_out, whole
from anymetric.cli.voice import Voice
from anymetric.metrics.ranked import QUERY
from anymetric.report import Run, page
from anymetric.report.worth import Slice


def explain(
    model_path: Path,
    top: int,
    voice: Voice,
    *,
    rows: Path | None = None,
    metric: str | None = None,
    trust: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Print and return the importances of columns, learned weights and the largest coefficients."""
    model = load_model(model_path)
    importances = model.importances
    if rows is not None:
        importances = measured_on(model, rows, metric, trust, seed, voice)
    elif metric is not None or trust:
        raise UserError("Importances for a metric are measured on rows: give a file of them, too.")
    estimator = model.estimator
    on = f" on {model.trained_on}" if model.trained_on else ""
    voice.line(f"Trained for {model.metric!r}{on}. {model.target.sentence}")
    if validation := getattr(estimator, "validation_", ""):
        voice.line(f"{validation}")
    show(importances, top, voice)
    show_weights(model, voice)
    if getattr(estimator, "link_", "") == "log":
        voice.line("The model is one of the target's logarithm: predictions are its exponential.")
    return {
        **described(model),
        "importances": importances,
        **coefficients(model, top, voice),
    }


def show_weights(model: TableModel, voice: Voice) -> None:
    """Print the learned weights, and what groups add to their scores."""
    weights: dict[str, float] = getattr(model.estimator, "weights_", {})
    # Of numbers, and within queries, the weights are those of losses over all rows.
    losses = model.target.labels is None or QUERY in model.roles.side
    if weights:
        voice.table(
            ["loss" if losses else "slice", "share of the loss"],
            [[slice_label(model, name), f"{share:.1%}"] for name, share in weights.items()],
            f"Learned weights: each {'loss' if losses else 'slice of the rows'} in the loss",
        )
    if shifts := getattr(model.estimator, "shifts_", {}):
        voice.table(
            ["group", "adds to the score"],
            [[name, f"{shift:+.4f}"] for name, shift in shifts.items()],
            "Groups have thresholds of their own",
        )


def coefficients(model: TableModel, top: int, voice: Voice) -> dict[str, Any]:
    """Print and return the coefficients of a linear model, or what else it is made of."""
    estimator = model.estimator
    if not hasattr(estimator, "coef_"):
        return explain_members(model, voice)
    if model.target.many:
        return explain_classes(model, top, voice)
    found = dict(zip(model.feature_names, np.ravel(estimator.coef_).tolist(), strict=True))
    order = sorted(found, key=lambda name: -abs(found[name]))
    voice.table(
        ["feature", "coefficient"],
        [[name, f"{found[name]:+.4f}"] for name in order[:top]],
        f"The {min(top, len(order))} largest of {len(order)} coefficients, each for one standard "
        "deviation of its feature",
    )
    return {
        "intercept": float(np.ravel(estimator.intercept_)[0]),
        "coefficients": {name: found[name] for name in order},
    }


def explain_classes(model: TableModel, top: int, voice: Voice) -> dict[str, Any]:
    """Print and return the coefficients of every class, beside the mean of all classes."""
    labels = [str(label) for label in model.target.labels or ()]
    weights, offsets = model.estimator.coef_, model.estimator.intercept_
    # What moves the scores of all classes alike decides nothing between them.
    weights, offsets = weights - weights.mean(axis=0), offsets - offsets.mean()
    names = model.feature_names
    show_coefficients(weights, names, labels, top, voice)
    return {
        "intercepts": dict(zip(labels, offsets.tolist(), strict=True)),
        "coefficients": {
            label: dict(zip(names, row.tolist(), strict=True))
            for label, row in zip(labels, weights, strict=True)
        },
    }


def show_coefficients(
    weights: NDArray[np.float64], names: list[str], labels: list[str], top: int, voice: Voice
) -> None:
    """Show a column a class for the strongest features; if that is too wide, a row a number."""
    order = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:top]
    head, first = ["feature", *labels], f"The {len(order)} of {len(names)} features with the"
    rows = [[names[j], *(f"{w:+.2f}" for w in weights[:, j])] for j in order]
    if not voice.fits(head, rows):
        cells = np.argsort(-np.abs(weights), axis=None, kind="stable")[:top]
        pairs = [divmod(int(cell), len(names)) for cell in cells]
        head, first = ["feature", "class", "coefficient"], f"{len(pairs)} of {weights.size:,}: the"
        rows = [[names[j], labels[k], f"{weights[k, j]:+.4f}"] for k, j in pairs]
    each = "each for one standard deviation of its feature, beside the mean of the classes"
    voice.table(head, rows, f"{first} largest coefficients, {each}")


def described(model: TableModel) -> dict[str, Any]:
    """Return what there is to say of any model: its metric, its target and its learned weights."""
    weights: dict[str, float] = getattr(model.estimator, "weights_", {})
    return {
        "metric": model.metric,
        "trained_on": model.trained_on,
        "target": {"column": model.roles.target, "labels": model.target.labels},
        "slices": {slice_label(model, name): share for name, share in weights.items()},
        **({"shifts": shifts} if (shifts := getattr(model.estimator, "shifts_", {})) else {}),
        **({"link": link} if (link := getattr(model.estimator, "link_", "")) else {}),
    }


def explain_members(model: TableModel, voice: Voice) -> dict[str, Any]:
    """Say what a model without coefficients is made of."""
    fitted = model.estimator.model_
    members = getattr(fitted, "members", (fitted,))
    names = [type(getattr(one, "estimator", one)).__name__ for one in members]
    kinds = ", ".join(sorted(set(names)))
    voice.line(f"An average of {len(members)} model(s) ({kinds}): there are no coefficients.")
    return {"members": names}


def slice_label(model: TableModel, name: str) -> str:
    """Return a slice as the user would call it: by the columns and values of the file."""
    found = Slice.read(name, 0.0, model.target.labels)
    if found.code is None or model.target.labels is None:
        return name
    called = {"groups": " and ".join(model.roles.groups), "source": model.roles.source}
    words = [f"{model.roles.target} = {model.target.labels[found.code]}"]
    words += [f"{called.get(key) or key} = {value}" for key, value in found.parts.items()]
    return ", ".join(words)


def write_page(run: Path, out: Path | None, force: bool = False) -> Path:
    """Write the report of a run; return where. Its own report is replaced, no other file."""
    if out is not None:
        check_out(out, run, force=force)
    file = run / "run.json" if run.is_dir() else run
    if run.is_dir() and not file.is_file():
        raise UserError(f"{run} is no run: it has no run.json.")
    try:
        found = Run.load(file)
    except (ValueError, TypeError) as error:
        raise UserError(str(error)) from error
    target = out or file.with_name("report.html")
    with whole(target) as scratch:
        scratch.write_text(page(found), encoding="utf-8")
    return target
