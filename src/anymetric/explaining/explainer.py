"""Explainer: from a metric and the record of a fit to an explanation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.asking import Asker
from anymetric.explaining.explanation import Explanation
from anymetric.explaining.prices import prices
from anymetric.explaining.record import Record, columns_of
from anymetric.explaining.scores import only_signs, scores_read
from anymetric.explaining.study import Finding, Study
from anymetric.explaining.words import headline, limit_sentences, price_sentence, unread
from anymetric.metrics import Metric
from anymetric.metrics.told import Told

Floats64 = NDArray[np.float64]
MAX_CALLS = 60


def explain_metric(
    metric: Metric,
    record: Record,
    *,
    max_calls: float = MAX_CALLS,
    max_seconds: float = np.inf,
    n_jobs: int | None = None,
    seed: int = 0,
) -> Explanation:
    """Say what a metric values, from the answers of a fit and some more.

    Parameters
    ----------
    metric : Metric
    record : Record
        The validation rows, the model's scores of them, the answers so far.
    max_calls : int
        Calls of the metric, retries included. A metric that is told by people is not called.
    max_seconds : float
        No call begins later than this.
    n_jobs : int, optional
    seed : int

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> y = np.repeat([-1.0, 1.0], [140, 60])
    >>> record = Record(y, {}, ("ham", "spam"), np.random.default_rng(0).normal(y))
    >>> print(explain_metric(as_metric("f1"), record).headline)
    f1 is F1.
    """
    if isinstance(getattr(getattr(metric, "inner", metric), "function", None), Told):
        max_calls = 0
    classes = max(len(record.names), 2)
    side = record.side
    bound = metric.bind(record.y, side=side, labels=record.labels, X=record.X)
    asker = Asker(bound, classes, max_calls, max_seconds, n_jobs)
    scores = np.zeros(len(record.y)) if record.scores is None else record.scores
    try:
        if not record.decided or (classes > 2 and not metric.decides):
            return strange(metric, asker, scores, record)
        signs = True if metric.decides else only_signs(asker, scores.reshape(-1))
        if not signs:
            return refused(metric, scores_read(asker, scores.reshape(-1)), asker.calls)
        found = studied(metric, record, asker, scores, seed)
        return in_words(metric, record, found)
    finally:
        record.calls += asker.calls


def studied(metric: Metric, record: Record, asker: Asker, scores: Floats64, seed: int) -> Finding:
    """Ask and fit."""

    def reordered(order: NDArray[np.intp]) -> float:
        X = None if record.X is None else record.X[order]
        side = columns_of(record.side, order)
        other = metric.bind(record.y[order], side=side, labels=record.labels, X=X)
        again = Asker(other, asker.classes, asker.left, asker.seconds, asker.n_jobs)
        value = again.values(base[order][:, np.newaxis])[0]
        asker.calls += again.calls
        return float(value)

    cells, base = record.cells(metric), record.decisions(scores)
    shape = (0, 1, *cells.sizes.shape, len(cells.classes))
    known = (
        np.stack(record.counts) if record.counts else np.zeros(shape),
        np.array(record.values, dtype=np.float64),
    )
    return Study(cells, asker, base, known, reordered, np.random.default_rng(seed)).run()


def in_words(metric: Metric, record: Record, found: Finding) -> Explanation:
    """Return the explanation of what was found."""
    cells, form = found.sample.cells, found.form
    priced = form is not None and found.understood
    local = prices(form, cells, found.base, metric.greater_is_better) if priced and form else ()
    return Explanation(
        metric=metric.name,
        understood=found.understood,
        formula=form.text() if found.named and form is not None else None,
        headline=headline(metric.name, found),
        sentences=tuple(price_sentence(local)),
        limits=tuple(limit_sentences(form, found)),
        unread=tuple(unread(metric.decides, found)),
        prices=local,
        noise=found.sample.noise,
        calls=found.calls,
        answers=len(found.sample),
        evidence=evidence(found),
        finding=found,
        labels=record.shown or record.names,
    )


def evidence(found: Finding) -> str:
    """Return what an explanation rests on."""
    count = len(found.sample)
    text = f"From {count} answers, {found.calls} of them asked for this."
    if count <= found.calls:
        text = f"From {count} answers to {found.calls} calls."
    if found.named and found.checked:
        text += f" The formula predicted {found.checked} of them that it was not fitted to."
    if found.failed:
        text += f" {found.failed} questions had no answer."
    return text


def strange(metric: Metric, asker: Asker, scores: Floats64, record: Record) -> Explanation:
    """Return what there is to say where rows have numbers, sets of labels or a score a class."""
    if record.labels is not None:
        what = "sets of labels" if not record.decided else "a score for each class"
        why = f"it reads {what}, and explanations are of decisions for one class."
    elif metric.decides or record.scores is None:
        why = "there are no classes, so there are no kinds of mistakes to price."
    else:
        why = scores_read(asker, scores.reshape(-1)).replace("scores", "predictions")
    return refused(metric, why, asker.calls)


def refused(metric: Metric, why: str, calls: int) -> Explanation:
    """Return that a metric is not understood, or if it is ready-made, has no prices; and why."""
    found = "is not understood" if metric.black_box else "puts no price on kinds of mistakes"
    said = f"{metric.name} {found}: {why}"
    evidence = f"From {calls} answers asked for this." if calls else ""
    return Explanation(metric.name, False, None, said, calls=calls, evidence=evidence)
