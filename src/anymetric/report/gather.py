"""Gather: from fitted estimators and rows that none of them saw to a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from anymetric.metrics import MetricError
from anymetric.metrics.ranked import QUERY
from anymetric.recommendation import Recommendation
from anymetric.report.advice import advice, method_limits
from anymetric.report.aloud import explanation_of
from anymetric.report.course import course_of
from anymetric.report.cuts import classes_of, confusion_of, curves_of, groups_of
from anymetric.report.facts import coefficients_of, described, made_by, sample_of
from anymetric.report.importance import by_feature, importances_of
from anymetric.report.limits import limits_of
from anymetric.report.run import Run
from anymetric.report.sample import OURS, Sample, last_step, unpacked
from anymetric.report.surprising import surprises_of
from anymetric.report.table import methods_of
from anymetric.report.worth import labels, worth_of

NOTHING_ASKED: Mapping[str, Any] = {}
SLOPES = ("slopes", "errors")
RESAMPLES = 200
# Seconds that a diagnosis may take, and how often it evaluates the metric.
SECONDS, EVALUATIONS = 30.0, 130


def gather(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    baselines: Mapping[str, Any] = NOTHING_ASKED,
    groups: Any = None,
    side: Any = None,
    asked: Mapping[str, Any] = NOTHING_ASKED,
    rows: str = "held-out rows",
    held_out: bool = True,
    feature_names: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[int]] | None = None,
    names: Mapping[str, str] = NOTHING_ASKED,
    seconds: Mapping[str, float] = NOTHING_ASKED,
    random_state: int = 0,
) -> Run:
    """Evaluate a fitted model and its baselines on the same rows, for `page` to show.

    Parameters
    ----------
    estimator : fitted MetricClassifier, MetricRegressor or MetricRanker
        Or a pipeline that ends in one.
    X, y : array-like of shape (n, d) and (n,)
        Rows that no method saw; of two classes, of many, or with numbers.
    baselines : dict from name to fitted estimator
        Of `anymetric.baselines`, or any that scores rows; all must know the same classes.
    groups, side : optional
        As in `fit`.
    asked : dict
        What the user asked for, as plain values; ``command`` is shown as the way to run it again.
    rows : str
        What X and y are.
    held_out : bool
        Whether no method saw them. If one did, they are not compared with the validation rows.
    feature_names : sequence of str, optional
    columns : dict from name to column numbers, optional
        The features that come from each column of a table: they are shuffled together where
        importances are measured. By default each feature is a column.
    names : dict
        What the user calls ``model``, ``target``, ``groups`` and ``source``.
    seconds : dict from name to float
        How long each method took; ours is ``anymetric``, or what `names` calls the model.
    random_state : int
        For the bootstrap resamples behind the error bars.

    Returns
    -------
    Run

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("f1", random_state=0).fit(X[:200], y[:200])
    >>> run = gather(clf, X[200:], y[200:], asked={"metric": "f1"})
    >>> run.methods[0]["name"], run.methods[0]["value"] == clf.score(X[200:], y[200:])
    ('anymetric', True)
    """
    models = named(estimator, baselines, names)
    rng = np.random.default_rng(random_state)
    sample = Sample.of(models, X, y, groups, side)
    final, features = unpacked(estimator, X)
    decides = hasattr(final, "classes_") and QUERY not in sample.metric.needs
    resamples = sample.resamples(RESAMPLES, rng)
    lasts = {name: last_step(model) for name, model in models.items()}
    methods = methods_of(sample, lasts, resamples, seconds)
    limits = [one.limit for one in getattr(final, "constraints_", ())]
    if limits:
        found = method_limits(sample, limits, RESAMPLES, np.random.default_rng(random_state))
        methods = [{**row, "limits": own} for row, own in zip(methods, found, strict=True)]
    diagnosis, alone = diagnosis_of(final, sample, features, y, groups, side)
    greater = bool(sample.metric.greater_is_better)
    compared = alone if not baselines else advice(methods, greater=greater, held_out=held_out)
    calls = called(names, asked)

    def label(known: Sequence[str]) -> list[str]:
        return labels(known, sample, calls)

    return Run(
        metric=described(sample.metric),
        sample=sample_of(sample, rows, held_out) | {"link": getattr(final, "link_", "identity")},
        methods=methods,
        recommendation={} if compared is None else compared.plain(),
        asked=dict(asked),
        course=course_of(final, list(diagnosis.get("slopes", {})), label),
        worth=worth_of(final, sample, calls),
        confusion=confusion_of(sample) if decides else [],
        classes=classes_of(sample),
        groups=groups_of(sample, decides, calls.get("groups", "groups"), rng) | group_shifts(final),
        curves=curves_of(sample, decides),
        diagnosis=relabelled(diagnosis, label),
        surprises=surprises_of(final),
        coefficients=coefficients_of(estimator, sample, feature_names),
        limits=limits_of(final, sample, rng),
        importances=importances_of(
            estimator,
            sample,
            X,
            columns or by_feature(X, feature_names),
            group=calls.get("groups", ""),
            held_out=held_out,
            random_state=random_state,
        ),
        made=made_by(final, int(np.isfinite(resamples[:, 0]).sum()), random_state),
        explanation=explanation_of(final, sample),
    )


def group_shifts(final: Any) -> dict[str, Any]:
    """Return what each group adds to its rows' scores, if groups have their own thresholds."""
    shifts = getattr(final, "shifts_", None)
    return {} if shifts is None else {"shifts": {str(name): v for name, v in shifts.items()}}


def named(estimator: Any, baselines: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return all models by name, ours first."""
    own = names.get("model", OURS)
    if own in baselines:
        raise ValueError(
            f"A baseline is called {own!r}, as the model itself is: rename it, or call the model "
            "otherwise with names={'model': ...}."
        )
    return {own: estimator, **baselines}


def called(names: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, str]:
    """Return what the user calls the columns: as said, or as asked for."""
    known = {"target": asked.get("target"), "groups": asked.get("group")}
    known["source"] = asked.get("source")
    return {**{key: v for key, v in known.items() if isinstance(v, str)}, **names}


def diagnosis_of(
    model: Any, sample: Sample, X: Any, y: Any, groups: Any, side: Any
) -> tuple[dict[str, Any], Recommendation | None]:
    """Return the diagnosis, or why there is none, and what it recommends without baselines."""
    if not hasattr(model, "diagnose"):
        return {}, None
    families = {"families": model.summary_.family_table}
    if not sample.affords(EVALUATIONS):
        spent = f"The budget has no calls left for a diagnosis, which makes {EVALUATIONS}."
        return {"absent": spent, **families}, None
    if sample.called and EVALUATIONS * sample.price() > SECONDS:
        slow = f"The metric is slow to call, and a diagnosis calls it {EVALUATIONS} times."
        return {"absent": slow, **families}, None
    try:
        found = model.diagnose(X, y, groups=groups, side=side)
    except (ValueError, MetricError) as error:
        return {"absent": str(error), **families}, None
    plain = {**asdict(found), "hint": None if found.hint is None else found.hint.value}
    del plain["recommendation"]
    return plain, found.recommendation


def relabelled(
    diagnosis: dict[str, Any], label: Callable[[Sequence[str]], list[str]]
) -> dict[str, Any]:
    """Return the diagnosis with its surrogates called as the user would."""
    return {
        key: dict(zip(label(list(value)), value.values(), strict=True)) if key in SLOPES else value
        for key, value in diagnosis.items()
    }
