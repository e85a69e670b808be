"""Registry: from whatever a user calls a metric to the metric itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from anymetric.metrics.base import Metric
from anymetric.metrics.counts import CountMetric
from anymetric.metrics.functions import metric
from anymetric.metrics.gaps import ODDS, OddsGap, RateGap, SelectionRate, gap_of
from anymetric.metrics.groups import (
    DemographicParity,
    EqualisedOdds,
    MacroByGroup,
    WorstGroup,
)
from anymetric.metrics.labelled import Hamming, InstanceF, SubsetAccuracy
from anymetric.metrics.macro import (
    ClassF,
    ClassPrecision,
    CohenKappa,
    MeanRecall,
    WorstClassRecall,
)
from anymetric.metrics.median import MedianAbsoluteError
from anymetric.metrics.queries import (
    NDCG,
    QueryAveragePrecision,
    QueryPrecisionAtK,
    ReciprocalRank,
)
from anymetric.metrics.ranking import AveragePrecision, RecallAtPrecision, RocAuc
from anymetric.metrics.rates import (
    Accuracy,
    BalancedAccuracy,
    BalancedError,
    ErrorRate,
    FBeta,
    GMean,
    Matthews,
    Precision,
    Recall,
)
from anymetric.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    Pinball,
    RootMeanSquaredError,
    Within,
)
from anymetric.metrics.scorers import ScorerMetric, is_scorer
from anymetric.metrics.top import BreakEven, PrecisionAtFraction, PrecisionAtK

_RATES: tuple[CountMetric, ...] = (
    ErrorRate(),
    Accuracy(),
    BalancedError(),
    BalancedAccuracy(),
    GMean(),
    Matthews(),
    Precision(),
    Recall(),
    FBeta(0.5),
    FBeta(1.0),
    FBeta(2.0),
)
_OTHERS: tuple[Metric, ...] = (
    MacroByGroup(),
    WorstGroup(),
    DemographicParity(),
    EqualisedOdds(),
    PrecisionAtK(),
    PrecisionAtFraction(),
    BreakEven(),
    RecallAtPrecision(),
    AveragePrecision(),
    RocAuc(),
    NDCG(),
    QueryPrecisionAtK(),
    ReciprocalRank(),
    QueryAveragePrecision(),
    R2(),
    MeanAbsoluteError(),
    MedianAbsoluteError(),
    MeanSquaredError(),
    RootMeanSquaredError(),
    MeanAbsolutePercentageError(),
    Pinball(),
    Within(),
    ClassF("macro"),
    ClassF("micro"),
    ClassF("weighted"),
    WorstClassRecall(),
    CohenKappa(),
    InstanceF(),
    Hamming(),
    SubsetAccuracy(),
)
_READY: dict[str, Metric] = {ready.name: ready for ready in (*_RATES, *_OTHERS)}
# Other names for the same metric, which are taken in its place.
_ALIASES = {
    "acc": "accuracy",
    "ap": "average_precision",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "kappa": "cohen_kappa",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "matthews_corrcoef": "mcc",
    "mse": "mean_squared_error",
    "ppv": "precision",
    "rmse": "root_mean_squared_error",
    "sensitivity": "recall",
    "tpr": "recall",
}
# Names of a near relation, which is only suggested.
_CALLED = {
    "auprc": "average_precision",
    "aucpr": "average_precision",
    "brier": "neg_brier_score",
    "f_score": "f1",
    "logloss": "neg_log_loss",
    "log_loss": "neg_log_loss",
    "matthews": "mcc",
    "pr_auc": "average_precision",
    "roc": "roc_auc",
}

_NUMBER = r"(\d+\.?\d*|\.\d+)"
_PATTERNS: dict[str, Callable[[str], Metric]] = {
    rf"f{_NUMBER}": lambda beta: FBeta(float(beta)),
    r"precision@(\d+)": lambda k: PrecisionAtK(int(k)),
    rf"precision@{_NUMBER}%": lambda percent: PrecisionAtFraction(float(percent) / 100.0),
    rf"recall_at_precision_{_NUMBER}": lambda level: RecallAtPrecision(float(level)),
    r"ndcg@(\d+)": lambda k: NDCG(int(k)),
    r"(ndcg)": lambda _: NDCG(None),
    r"query_precision@(\d+)": lambda k: QueryPrecisionAtK(int(k)),
    r"mrr@(\d+)": lambda k: ReciprocalRank(int(k)),
    rf"pinball_{_NUMBER}": lambda quantile: Pinball(float(quantile)),
    rf"within_{_NUMBER}": lambda tolerance: Within(float(tolerance)),
    rf"within_{_NUMBER}%": lambda percent: Within(float(percent) / 100.0, relative=True),
    rf"micro_f{_NUMBER}": lambda beta: ClassF("micro", float(beta)),
    rf"weighted_f{_NUMBER}": lambda beta: ClassF("weighted", float(beta)),
    rf"instance_f{_NUMBER}": lambda beta: InstanceF(float(beta)),
    rf"macro_f{_NUMBER}": lambda beta: ClassF("macro", float(beta)),
    r"(macro_recall)": lambda _: MeanRecall(),
    r"(macro_precision)": lambda _: ClassPrecision(),
    r"group_mean_(.+)": lambda name: MacroByGroup(_rate(name)),
    r"worst_group_(.+)": lambda name: WorstGroup(_rate(name)),
    r"(selection_rate)": lambda _: SelectionRate(),
    rf"gap\(({'|'.join(ODDS)})\)": lambda _: OddsGap(),
    # Without a prefix, the fairness names are the gaps themselves, as in fairlearn.
    rf"({'|'.join(ODDS)})": lambda _: OddsGap(),
    r"(demographic_parity)": lambda _: RateGap(SelectionRate()),
    r"gap\((demographic_parity)\)": lambda _: RateGap(SelectionRate()),
    r"gap\((.+)\)": lambda name: gap_of(_named(name)),
}


def metric_names() -> list[str]:
    """Return the names of the ready-made metrics.

    Numbers in a name may be any others: ``f3``, ``precision@100``, ``precision@2.5%``,
    ``recall_at_precision_0.8``, ``ndcg@5``, ``mrr@10``, ``pinball_0.9``, ``within_2``,
    ``within_5%``; ``group_mean_``
    and ``worst_group_`` go before any rate. ``selection_rate`` is the share of flagged rows, and
    ``gap(recall)`` the largest difference between groups, of any metric or of
    ``equalized_odds``. scikit-learn's scorers are known by their names too, and some metrics by
    their abbreviations: ``auc``, ``mae``, ``rmse``.

    Examples
    --------
    >>> "gmean" in metric_names()
    True
    """
    return sorted(_READY)


def as_metric(spec: Any, *, greater_is_better: bool | None = None) -> Metric:
    """Return the metric that `spec` means.

    Parameters
    ----------
    spec : Metric, str, scikit-learn scorer or callable
        A metric is returned as it is; a name is searched among the built-in metrics, then
        among scikit-learn's scorers; a function is wrapped as by `metric`.
    greater_is_better : bool, optional
        For functions whose name does not show it.

    Examples
    --------
    >>> as_metric("group_mean_f1")
    MacroByGroup(of=FBeta(beta=1.0), groups='groups')
    >>> as_metric("neg_log_loss").greater_is_better
    True
    >>> as_metric("f1_scroe")
    Traceback (most recent call last):
    ...
    ValueError: No metric is called 'f1_scroe'. Did you mean ...?
    """
    if isinstance(spec, str):
        found = _named(spec)
    elif isinstance(spec, Metric):
        found = spec
    elif is_scorer(spec):
        found = ScorerMetric(spec)
    elif callable(spec) and not isinstance(spec, type):
        return metric(spec, greater_is_better=greater_is_better)  # type: ignore[no-any-return]
    else:
        raise ValueError(
            f"A metric is a name, a Metric, a scikit-learn scorer or a function; got {spec!r}."
        )
    if greater_is_better not in (None, found.greater_is_better):
        raise ValueError(
            f"greater_is_better={greater_is_better} was given for metric {found.name!r}, which "
            f"has its own direction: greater_is_better={found.greater_is_better}."
        )
    return found


def _named(name: str) -> Metric:
    name = _ALIASES.get(name, name)
    if name in _READY:
        return _READY[name]
    if name in get_scorer_names():
        return ScorerMetric(get_scorer(name), name)
    for pattern, build in _PATTERNS.items():
        if match := re.fullmatch(pattern, name):
            return build(match[1])
    near = _near(name.lower())
    hint = f"Did you mean {', '.join(near)}?" if near else "metric_names() lists them."
    raise ValueError(f"No metric is called {name!r}. {hint}")


def _near(name: str) -> list[str]:
    """Return suggestions: an alias of the name, or similar names."""
    bare = re.sub(r"^neg_|_score$", "", name.replace("-", "_").replace(" ", "_"))
    known = sorted({*metric_names(), *get_scorer_names()})
    meant = {**_CALLED, **_ALIASES}.get(bare, bare)
    if meant in known:
        return [meant, *(scorer for scorer in (f"neg_{meant}",) if scorer in known)]
    return get_close_matches(name, known, n=4)


def _rate(name: str) -> CountMetric:
    found = _named(name)
    if not isinstance(found, CountMetric) or found.groups is not None:
        raise ValueError(
            f"Metric {name!r} cannot be taken group by group; these can: "
            f"{', '.join(rate.name for rate in _RATES)}."
        )
    return found
