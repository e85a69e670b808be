"""Importance: what `explain` says of the columns, as measured at fit or on the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anymetric.cli.asked import check_columns
from anymetric.cli.baselines import OURS, notes_of_warnings
from anymetric.cli.evaluate import check_module, metric_for
from anymetric.cli.faults import UserError
from anymetric.cli.rows import coded, read_sample
from anymetric.cli.table_model import TableModel
from anymetric.cli.voice import Voice, measured
from anymetric.metrics import Metric, MetricError
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.metered import Metered
from anymetric.recorded import Recorded
from anymetric.report.importance import importances_of
from anymetric.report.sample import Sample
from anymetric.store import open_store


def measured_on(
    model: TableModel, path: Path, metric: str | None, trust: bool, seed: int, voice: Voice
) -> dict[str, Any]:
    """Return the permutation importance of every column, for a metric, on the rows of a file.

    The rows should be none that trained the model: what it learned by heart would count.
    """
    found = wanted(model, metric, trust, voice)
    check_columns(found, bool(model.roles.groups), model.roles.side)
    sample = read_sample(path, model.roles, voice, model.schema)
    with notes_of_warnings(voice), answered_by(Metered(Recorded(open_store()))):
        rows = coded(sample, model.target, model.matrix(sample.X, sample.name))
        words = model.target.words(rows.y)
        model.estimator.metric_ = found
        try:
            models = {OURS: model.estimator}
            judged = Sample.of(models, rows.X, words, rows.groups, rows.side or None)
            measures = importances_of(
                model.estimator,
                judged,
                rows.X,
                model.features.blocks,
                group=" and ".join(model.roles.groups),
                random_state=seed,
            )
        except (ValueError, MetricError) as error:
            raise UserError(f"{path}: {error}") from error
    count = measures.get("n", len(sample))
    return measures | {"metric": found.name, "on": f"{count:,} rows of {path}"}


def wanted(model: TableModel, name: str | None, trust: bool, voice: Voice) -> Metric:
    """Return the metric by name, or the model's own if it may be imported."""
    if name is not None:
        return metric_for(model, name, None)
    check_module(model, trust, voice)
    return model.asked()


def show(found: dict[str, Any], top: int, voice: Voice) -> None:
    """Print the importances, or why there are none."""
    if "absent" in found:
        voice.line(found["absent"])
    if not found.get("rows"):
        return
    rows = [
        [one["name"], measured(one["importance"], one["error"], sign=True)]
        for one in found["rows"][:top]
    ]
    title = (
        f"Permutation importance: by how much {found['metric']} gets worse if a column is shuffled "
        f"({found['on']})"
    )
    voice.table(["column", "importance"], rows, title)
