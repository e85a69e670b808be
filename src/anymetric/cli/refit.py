"""Refit: after the comparison, the model of the same settings trained on all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from anymetric.calibration import calibrated
from anymetric.cli.baselines import Rows, Setting, fitted
from anymetric.cli.faults import UserError, need
from anymetric.cli.progress import Course, told
from anymetric.cli.roles import Sample
from anymetric.cli.rows import coded
from anymetric.cli.slim import slim
from anymetric.cli.stored import all_rows
from anymetric.cli.table_model import TableModel
from anymetric.cli.vectors import Features
from anymetric.cli.voice import Voice
from anymetric.estimators._shell import MetricEstimator
from anymetric.solution import Status

if TYPE_CHECKING:
    from anymetric.cli.work import Work


DONE = (
    "The saved model was trained again with the same settings, on {rows}. The table is of the "
    "model before that, trained on {before}: its values are the estimate for new rows."
)


@dataclass(frozen=True)
class Refitted:
    """The model to be saved, whether it was refitted, and a note.

    Examples
    --------
    >>> Refitted(None, False, "Not refitted (--no-refit).").record
    {'done': False, 'says': 'Not refitted (--no-refit).'}
    """

    model: Any
    done: bool
    says: str

    @property
    def record(self) -> dict[str, Any]:
        """What the report and JSON say."""
        return {"done": self.done, "says": self.says}


def refit(
    work: Work, model: TableModel, setting: Setting, seconds: float, voice: Voice
) -> Refitted:
    """Return the model trained on all rows, with the same settings and kind of decision rule.

    Where that is not wanted, or would take calls that were not announced, the model stays.

    Parameters
    ----------
    work : Work
    model : TableModel
        Any fitted estimator, ours or a baseline.
    setting : Setting
    seconds : float
        How long it took to train.
    voice : Voice
    """
    before = f"{len(work.division.train):,} rows"
    kept = f"the saved model is that of the table, trained on {before}"
    calibrator = calibrator_for(model, work.test)
    same = replace(with_calibrator(model, calibrator), trained_on=before)
    if reason := why_not(work, setting, seconds):
        return Refitted(same, False, reason.format(kept=kept))
    train, valid = whole(work)
    try:
        found = trained(work, model, setting, train, valid, seconds, voice)
    except UserError as error:
        return Refitted(same, False, f"Not refitted, since all rows fail ({error}): {kept}.")
    if type(found.rule) is not type(model.rule):
        end = f"Not refitted, since all rows lead to another kind of decision rule: {kept}."
        return Refitted(same, False, end)
    rows = f"all {len(train) + len(valid or ()):,} rows"
    if passes := getattr(getattr(found.estimator, "summary_", None), "passes", 0):
        rows = f"all rows of {train.name}, in {passes} passes over them"
    found = replace(with_calibrator(found, calibrator), trained_on=rows)
    return Refitted(found, True, DONE.format(rows=rows, before=before))


def why_not(work: Work, setting: Setting, seconds: float) -> str:
    """Return why there is no refit, in words; empty if there is one."""
    asked = work.asked
    if not held_out(work):
        if asked.test is not None:
            return f"The rows of {asked.test} only test: {{kept}}."
        return "No rows were held out: {kept}."
    if asked.refit is False:
        return "Not refitted (--no-refit): {kept}."
    if asked.refit:
        return ""
    if setting.called and setting.plan is not None:
        name = setting.metric.name
        return f"Not refitted, which would take more calls of {name} (--refit): {{kept}}."
    if asked.max_seconds is not None and 2.0 * seconds > asked.max_seconds:
        return "Not refitted, since --max-seconds leaves no time (--refit): {kept}."
    return ""


def held_out(work: Work) -> bool:
    """Whether the rows of the table were held out of the rows to train or to validate on."""
    division = work.division
    return work.asked.test is None and division.held_out


def whole(work: Work) -> tuple[Sample, Sample | None]:
    """Return all rows to train on and to validate on, those of the table back in their place."""
    division = work.division
    train, valid, test = division.train, division.valid, division.test
    if valid is not None and test.name == valid.name:
        return train, joined(valid, test)
    return joined(train, test), valid


def joined(kept: Sample, out: Sample) -> Sample:
    """Return the rows of two parts of a file in the order of the file.

    Examples
    --------
    >>> pd = need("pandas")
    >>> parts = [
    ...     Sample(pd.DataFrame({"x": x}), pd.Series(x), rows=np.array(x)) for x in ([0, 2], [1])
    ... ]
    >>> joined(*parts).X["x"].tolist()
    [0, 1, 2]
    """
    rows = np.concatenate([kept.rows, out.rows])
    order = np.argsort(rows, kind="stable")
    pd = need("pandas")

    def both(name: str) -> Any:
        one, other = getattr(kept, name), getattr(out, name)
        return None if one is None else np.concatenate([one, other])

    side = {name: np.concatenate([kept.side[name], out.side[name]]) for name in kept.side}
    return Sample(
        pd.concat([kept.X, out.X], ignore_index=True),
        pd.concat([kept.y, out.y], ignore_index=True),
        both("groups"),
        both("source"),
        side,
        kept.name,
        rows,
        schema=kept.schema,
        stored=kept.stored,
    ).take(order)


def trained(
    work: Work,
    model: TableModel,
    setting: Setting,
    train: Sample,
    valid: Sample | None,
    seconds: float,
    voice: Voice,
) -> TableModel:
    """Return the model with its steps and its estimator trained on these rows."""
    features, matrix = Features.fitted(model.schema, train.X, work.asked.seed)
    rows = work.numbered(coded(train, model.target, matrix), train)
    judges: Rows | None = None
    if valid is not None:
        judges = coded(valid, model.target, features.matrix(valid.X))
        judges = work.numbered(judges, valid)
    estimator = unfitted(model.estimator, setting, seconds)
    files = all_rows(work, estimator, train, features)
    with told(voice, Course("all rows")):
        fitted(estimator, rows if files is None else replace(rows, X=files), judges, setting.target)
    if getattr(estimator, "status_", None) is Status.FAULTS:
        raise UserError(str(estimator.summary_.failure).rstrip("."))
    return replace(model, features=features, estimator=estimator)


def unfitted(estimator: Any, setting: Setting, seconds: float) -> Any:
    """Return an estimator of the same settings, within what is left of calls and time."""
    if not isinstance(estimator, MetricEstimator):
        return clone(estimator)
    given = estimator.get_params(deep=False)
    if setting.plan is not None and setting.called:
        given["max_metric_calls"] = setting.plan.refit
    if given.get("max_seconds") is not None:
        given["max_seconds"] = max(given["max_seconds"] - seconds, 0.001)
    return type(estimator)(**given)


def calibrator_for(model: TableModel, rows: Rows) -> Any:
    """Return what makes probabilities of a baseline's scores, by held-out rows, if it has none."""
    if model.target.labels is None or hasattr(model.estimator, "calibrator_"):
        return None
    scores = slim(model.estimator, model.metric)._scores(rows.X)
    return calibrated(np.asarray(scores), *encoded(model, rows))


def with_calibrator(model: TableModel, calibrator: Any) -> TableModel:
    """Return a model with probabilities of its own, or the given ones."""
    if calibrator is None:
        return model
    estimator = slim(model.estimator, model.metric)
    estimator.calibrator_ = calibrator
    return replace(model, estimator=estimator)


def encoded(model: TableModel, rows: Rows) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return targets as a calibrator takes them, weights, and the classes if they are many."""
    y = rows.y.astype(np.float64)
    if model.target.many:
        return y, np.ones(len(y)), model.target.known
    return np.where(y == 1.0, 1.0, -1.0), np.ones(len(y)), None
