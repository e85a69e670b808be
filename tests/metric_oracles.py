"""Metrics and what they should be: scikit-learn's own numbers, or plain loops."""

import numpy as np
from hypothesis import strategies as st
from sklearn import metrics as sk

from anymetric.metrics import (
    R2,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    BalancedError,
    BreakEven,
    DemographicParity,
    EqualisedOdds,
    ErrorRate,
    FBeta,
    GMean,
    MacroByGroup,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MedianAbsoluteError,
    Pinball,
    Precision,
    PrecisionAtFraction,
    PrecisionAtK,
    Profit,
    Recall,
    RecallAtPrecision,
    RocAuc,
    RootMeanSquaredError,
    Within,
    WorstGroup,
)

SCALE = 0.5  # scores are small multiples of it, so that ties and zeros are common


@st.composite
def rows(draw, weighted=(False, True), most=12):
    """Rows with both classes in both groups, ties, and sometimes weights (zeros among them)."""
    n = draw(st.integers(4, most))
    column = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)))  # noqa: E731
    y = column(st.sampled_from([-1.0, 1.0]))
    groups = column(st.sampled_from(["a", "b"]))
    y[:4], groups[:4] = [1, -1, 1, -1], ["a", "a", "b", "b"]
    weights = None
    if draw(st.sampled_from(weighted)):
        weights = column(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]))
        weights[:4] = np.maximum(weights[:4], 0.5)
    return {
        "y": y,
        "scores": SCALE * column(st.integers(-3, 3)),
        "weights": weights,
        "side": {"groups": groups, "amount": column(st.integers(-5, 50)).astype(float)},
    }


def value(metric, case, scores=None):
    bound = metric.bind(case["y"], weights=case["weights"], side=case["side"])
    return bound.values(case["scores"] if scores is None else scores)


def part(case, rows):
    weights = None if case["weights"] is None else case["weights"][rows]
    return {"y": case["y"][rows], "scores": case["scores"][rows], "weights": weights}


def by_sklearn(function, **settings):
    def oracle(case):
        predicted = np.where(case["scores"] > 0, 1.0, -1.0)
        return function(case["y"], predicted, sample_weight=case["weights"], **settings)

    return oracle


def by_group(oracle):
    def values(case):
        groups = case["side"]["groups"]
        return np.array([oracle(part(case, groups == name)) for name in np.unique(groups)])

    return values


def ranked(function):
    return lambda case: function(case["y"], case["scores"], sample_weight=case["weights"])


error = by_sklearn(sk.zero_one_loss)
recall = by_sklearn(sk.recall_score)
specificity = by_sklearn(sk.recall_score, pos_label=-1.0)
f1 = by_sklearn(sk.f1_score, zero_division=0)


def selection(case):
    return np.average(case["scores"] > 0, weights=case["weights"])


def odds_gap(case):
    return max(np.ptp(by_group(recall)(case)), np.ptp(by_group(specificity)(case)))


def recall_at_precision(level):
    def oracle(case):
        precision, recall, _ = ranked(sk.precision_recall_curve)(case)
        return recall[precision >= level].max()

    return oracle


def table_profit(case):
    gain = {(True, True): 5.0, (False, True): -2.0, (True, False): -1.0, (False, False): 0.5}
    rows = zip(case["y"] > 0, case["scores"] > 0, strict=True)
    return np.average([gain[truth, flag] for truth, flag in rows], weights=case["weights"])


def amount_profit(case):
    total = []
    for truth, score, amount in zip(case["y"], case["scores"], case["side"]["amount"], strict=True):
        caught = amount if truth > 0 and score > 0 else 0.0
        missed = -amount if truth > 0 and score <= 0 else 0.0
        total.append(caught + missed - 3.0 * (score > 0))
    return np.average(total, weights=case["weights"])


COUNTED = {
    ErrorRate(): error,
    Accuracy(): by_sklearn(sk.accuracy_score),
    BalancedAccuracy(): by_sklearn(sk.balanced_accuracy_score),
    BalancedError(): lambda case: 1 - by_sklearn(sk.balanced_accuracy_score)(case),
    GMean(): lambda case: np.sqrt(recall(case) * specificity(case)),
    Precision(): by_sklearn(sk.precision_score, zero_division=0),
    Recall(): recall,
    FBeta(): f1,
    FBeta(2.0): by_sklearn(sk.fbeta_score, beta=2.0, zero_division=0),
    FBeta(0.5): by_sklearn(sk.fbeta_score, beta=0.5, zero_division=0),
    MacroByGroup(): lambda case: by_group(f1)(case).mean(),
    MacroByGroup(Recall()): lambda case: by_group(recall)(case).mean(),
    WorstGroup(): lambda case: by_group(error)(case).max(),
    WorstGroup(Recall()): lambda case: by_group(recall)(case).min(),
    DemographicParity(weight=0.7): lambda case: (
        error(case) + 0.7 * np.ptp(by_group(selection)(case))
    ),
    DemographicParity(FBeta(), 2.0): lambda case: (
        1 - f1(case) + 2.0 * np.ptp(by_group(selection)(case))
    ),
    EqualisedOdds(weight=0.3): lambda case: error(case) + 0.3 * odds_gap(case),
    Profit(tp=5.0, fp=-2.0, fn=-1.0, tn=0.5): table_profit,
    Profit(tp="amount", fn="-amount", flag_cost=3.0): amount_profit,
}
RANKED = {
    RocAuc(): ranked(sk.roc_auc_score),
    AveragePrecision(): ranked(sk.average_precision_score),
    RecallAtPrecision(0.5): recall_at_precision(0.5),
    RecallAtPrecision(0.6): recall_at_precision(0.6),
    RecallAtPrecision(1.0): recall_at_precision(1.0),
}
TOPS = (PrecisionAtK(1), PrecisionAtK(3), PrecisionAtFraction(0.5), BreakEven())
REGRESSED = {
    R2(): sk.r2_score,
    MeanSquaredError(): sk.mean_squared_error,
    RootMeanSquaredError(): sk.root_mean_squared_error,
    MeanAbsoluteError(): sk.mean_absolute_error,
    MeanAbsolutePercentageError(): sk.mean_absolute_percentage_error,
    MedianAbsoluteError(): sk.median_absolute_error,
    Pinball(0.5): lambda y, f, **kw: sk.mean_pinball_loss(y, f, alpha=0.5, **kw),
    Pinball(0.9): lambda y, f, **kw: sk.mean_pinball_loss(y, f, alpha=0.9, **kw),
    Within(0.5): lambda y, f, sample_weight: np.average(abs(y - f) <= 0.5, weights=sample_weight),
    Within(0.5, relative=True): lambda y, f, sample_weight: np.average(
        [abs(b - a) <= 0.5 * abs(a) for a, b in zip(y, f, strict=True)], weights=sample_weight
    ),
}
EVERY = (*COUNTED, *RANKED, *TOPS, *REGRESSED)
