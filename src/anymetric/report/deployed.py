"""Deployed: the section on which model was saved, and how to use it."""

from __future__ import annotations

import shlex

from anymetric.report.markup import Markup, joined, tag
from anymetric.report.parts import EMPTY, section
from anymetric.report.run import Run


def use(run: Run) -> Markup:
    """Return which rows trained the saved model, and the lines that predict with it."""
    parts = [tag("p", said)] if (said := trained(run)) else []
    if command := predicting(run):
        parts += [tag("p", "On the command line:"), tag("pre", tag("code", command))]
    if code := in_python(run):
        parts += [tag("p", "In Python:"), tag("pre", tag("code", code, class_="python"))]
    return section("use", "Use the model", joined(parts)) if parts else EMPTY


def trained(run: Run) -> str:
    """Say which rows trained the saved model, and whether the table is of that model.

    Examples
    --------
    >>> trained(Run({}, {}, [], deployed={"refit": {"done": False, "says": "Not refitted."}}))
    'Not refitted.'
    """
    return str(run.deployed.get("refit", {}).get("says", ""))


def predicting(run: Run) -> str:
    """Return the command that predicts with the saved model; empty if none was saved."""
    saved = run.deployed
    if not saved.get("model"):
        return ""
    return shlex.join(["anymetric", "predict", saved["model"], saved["file"], "-o", "scores.csv"])


def in_python(run: Run) -> str:
    """Return code that loads the saved model and predicts, or makes the estimator again.

    Examples
    --------
    >>> print(in_python(Run({}, {}, [], deployed={"model": "m.skops", "file": "rows.csv"})))
    import anymetric
    <BLANKLINE>
    model = anymetric.load('m.skops')
    rows = model.read('rows.csv')  # or any data frame with these columns
    print(model.predict(rows)[:5])
    """
    saved = run.deployed
    if not saved.get("model"):
        return str(run.made.get("snippet", ""))
    lines = [
        "import anymetric",
        "",
        f"model = anymetric.load({saved['model']!r})",
        f"rows = model.read({saved['file']!r})  # or any data frame with these columns",
        "print(model.predict(rows)[:5])",
    ]
    if saved.get("proba"):
        lines.append("print(model.predict_proba(rows)[:5])")
    return "\n".join(lines)
