"""Evaluate: a saved model on rows with known targets."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.cli.asked import check_columns, find_metric, task_of
from anymetric.cli.baselines import OURS, notes_of_warnings
from anymetric.cli.black_box import BlackBox
from anymetric.cli.faults import UserError
from anymetric.cli.models import TableModel, load_model
from anymetric.cli.rows import coded, read_sample
from anymetric.cli.targets import Task
from anymetric.cli.voice import Voice, measured, number
from anymetric.metrics import Metric, MetricError
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.exchange import ROW
from anymetric.metrics.metered import Metered
from anymetric.metrics.ranked import QUERY
from anymetric.recorded import Recorded
from anymetric.report.cuts import by_class, counted, splits
from anymetric.report.sample import Sample
from anymetric.report.table import spread
from anymetric.rules import TopRule
from anymetric.store import open_store

RESAMPLES = 200


def evaluate(
    model_path: Path,
    path: Path,
    names: tuple[str, ...],
    greater: bool | None,
    seed: int,
    voice: Voice,
    *,
    encoding: str = "",
    lenient: bool = False,
    box: BlackBox | None = None,
    budget: int | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Evaluate a model by its own metric or by others; print and return what was found.

    A program is called once for all rows and once for each group; a budget allows for an error.
    """
    model = load_model(model_path)
    if not names and box is None:
        check_module(model, trust, voice)
    ways: dict[str, Any] = {"encoding": encoding, "lenient": lenient}
    sample = read_sample(path, model.roles, voice, model.schema, **ways)
    # A named metric has its own direction; the option is meant for functions, if there are any.
    own = [name for name in names if ":" in name] or names
    metrics = {name: metric_for(model, name, greater if name in own else None) for name in names}
    if box is not None:
        metrics[box.name] = model.read_as(box.metric(greater), named=False)
    metrics = metrics or {model.metric: model.asked()}
    for metric in metrics.values():
        check_columns(metric, bool(model.roles.groups), model.roles.side)
    meter = Metered(Recorded(open_store()))
    with notes_of_warnings(voice), answered_by(meter):
        rows = coded(sample, model.target, model.matrix(sample.X, sample.name))
        words, rng = model.target.words(rows.y), np.random.default_rng(seed)
        if box is not None:
            rows = replace(rows, side={ROW: sample.rows + 1, **rows.side})
            groups = 0 if rows.groups is None else len(np.unique(rows.groups))
            budget = budget or 1 + groups
        found = []
        for metric in metrics.values():
            model.estimator.metric_ = metric
            meter.most = budget
            try:
                scored = Sample.of(
                    {OURS: model.estimator}, rows.X, words, rows.groups, rows.side or None
                )
                found.append(evaluated(top_decided(scored, model), rng))
            except (ValueError, MetricError) as error:
                raise UserError(f"{path}: {error}") from error
    return show(model, found, len(sample), str(path), voice)


def check_module(model: TableModel, trust: bool, voice: Voice) -> None:
    """Name the module that the model's own metric would be imported from; import only if trusted.

    A model's file may come from anybody, and importing runs what it names.
    """
    if ":" not in model.metric or model.box:
        return
    module = model.metric.partition(":")[0]
    where = home_of(module)
    if not trust:
        raise UserError(
            f"The model was trained for {model.metric}: to evaluate it, the module {module!r} "
            f"({where}) would be imported and run. Add --trust-metric if it is yours, or name a "
            "metric with --metric."
        )
    voice.note(f"Importing {module!r} ({where}) for the model's metric {model.metric}.")


def home_of(module: str) -> str:
    """Return the file that a module would be imported from, without importing it.

    Examples
    --------
    >>> home_of("no_such_module")
    'not found'
    """
    package = module.partition(".")[0]
    places = [str(Path.cwd()), *sys.path]
    found = PathFinder.find_spec(package, places)
    if found is None:
        return "built in" if package in sys.builtin_module_names else "not found"
    return str(found.origin or "a folder without a file of its own")


def top_decided(sample: Sample, model: TableModel) -> Sample:
    """Return the sample with scores above zero where the model flags a row among all of them."""
    if not isinstance(model.rule, TopRule):
        return sample
    moved = {name: model.decided(scores) for name, scores in sample.scores.items()}
    return replace(sample, scores=moved)


def metric_for(model: TableModel, name: str, greater: bool | None) -> Metric:
    """Return a metric by name that fits the model's target."""
    metric = find_metric(name, greater, model.roles.side)
    if task_of(metric, Task.AUTO) not in (model.target.task, Task.AUTO):
        kind = model.target.task.value
        raise UserError(f"The model is one of {kind}; {metric.name!r} is no metric of that.")
    return model.read_as(metric, named=":" not in name)


def evaluated(sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
    """Return the value with its error, and the value in each group that has an answer."""
    value = float(sample.values()[0])
    if value != value:
        raise UserError(f"The metric {sample.metric.name!r} has no answer on these rows.")
    groups = sample.data.side.get("groups")
    return {
        "metric": sample.metric.name,
        "greater_is_better": bool(sample.metric.greater_is_better),
        "value": value,
        "groups": {} if groups is None or not splits(sample) else by_group(sample, groups),
        "error": spread(sample.resamples(RESAMPLES, rng)[:, 0]),
        "confusion": confusion(sample),
    }


def by_group(sample: Sample, groups: Any) -> dict[str, float | None]:
    """Return the metric on the rows of each group alone; None where it has no answer."""
    found: dict[str, float | None] = {}
    for name in np.unique(groups):
        try:
            found[str(name)] = float(sample.take(np.flatnonzero(groups == name)).values()[0])
        except (ValueError, MetricError):
            found[str(name)] = None
    return found


def confusion(sample: Sample) -> dict[str, Any]:
    """Return how many rows are true and false positives and negatives.

    Empty for numbers, and for the order within queries, which calls no row anything.

    Of many classes: for each the rows that are predicted as each.
    """
    if sample.labels is None or QUERY in sample.metric.needs:
        return {}
    if sample.many:
        names = [str(label) for label in sample.labels]
        table = counted(sample, sample.scores[OURS]).tolist()
        return {
            name: dict(zip(names, row, strict=True)) for name, row in zip(names, table, strict=True)
        }
    flagged, positive = sample.matrix[:, 0] > 0.0, sample.data.y > 0.0
    return {
        "true positives": int(np.sum(flagged & positive)),
        "false positives": int(np.sum(flagged & ~positive)),
        "false negatives": int(np.sum(~flagged & positive)),
        "true negatives": int(np.sum(~flagged & ~positive)),
    }


def show(
    model: TableModel, found: list[dict[str, Any]], count: int, name: str, voice: Voice
) -> dict[str, Any]:
    """Show what was found."""
    groups = list({group: None for one in found for group in one["groups"]})
    rows = [
        [
            f"{one['metric']} ({'greater' if one['greater_is_better'] else 'lower'} is better)",
            measured(one["value"], one["error"]),
            *(number(one["groups"].get(group)) for group in groups),
        ]
        for one in found
    ]
    voice.table(["", "value", *groups], rows, f"{name}: {count:,} rows")
    cells = found[0]["confusion"]
    if cells and model.target.many:
        show_classes(cells, voice)
    elif cells:
        counts = ", ".join(f"{n:,} {cell}" for cell, n in cells.items())
        voice.line(f"{model.target.sentence} {counts}.")
    return {"rows": count, "metrics": found}


def show_classes(cells: dict[str, dict[str, int]], voice: Voice) -> None:
    """Show the confusion matrix; if that is too wide, the most frequent mistakes."""
    names = list(cells)
    rates = by_class(np.array([list(cells[name].values()) for name in names]))
    shown = [[number(rate["recall"]), number(rate["precision"])] for rate in rates]
    head = ["predicted", *names, "recall", "precision"]
    rows = [
        [f"is {name}", *(f"{n:,}" for n in cells[name].values()), *rate]
        for name, rate in zip(names, shown, strict=True)
    ]
    if not voice.fits(head, rows):
        head = ["", "rows", "recall", "precision", "most often predicted instead"]
        rows = [
            [f"is {name}", f"{sum(cells[name].values()):,}", *rate, instead(cells[name], name)]
            for name, rate in zip(names, shown, strict=True)
        ]
    voice.table(head, rows, "Predictions for the rows of each class")


def instead(row: dict[str, int], own: str) -> str:
    """Return the other class that most rows of one are predicted as, and how many.

    Examples
    --------
    >>> instead({"ant": 9, "bee": 2, "cat": 5}, "ant"), instead({"ant": 9, "bee": 0}, "ant")
    ('cat (5)', '-')
    """
    others = {name: n for name, n in row.items() if name != own and n}
    most = max(others, key=lambda name: others[name], default=None)
    return "-" if most is None else f"{most} ({others[most]:,})"
