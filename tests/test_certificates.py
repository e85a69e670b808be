"""Certificates: exact where the statistics allow, and never more sure than they say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from anymetric.certificates import Claim, Scored, certify, certify_as_it_is, evidence
from anymetric.certificates.readings import Outcomes, bound
from anymetric.certificates.sequence import fixed_sequence
from anymetric.certificates.tails import betting_p_value, binomial_tail
from anymetric.metrics import Precision, Recall, Rows, as_metric, gap
from anymetric.metrics.classes import Classes
from anymetric.metrics.profit import Profit


def rows_of(y, **side):
    return Rows(np.asarray(y, float), np.ones(len(y)), side, (0, 1))


def drawn(rng, n, precision=0.8, share=0.4):
    """Rows whose flagged ones are positive with a chance of `precision`, others with 0.2."""
    flagged = rng.random(n) < share
    y = np.where(rng.random(n) < np.where(flagged, precision, 0.2), 1.0, -1.0)
    return y, np.where(flagged, 1.0, -1.0)


def p_value(metric, y, scores, level, at_least=True, **side):
    rows = rows_of(y, **side)
    reading = evidence(metric, rows).read(rows, np.asarray(scores, float))
    return reading.p_value(level, at_least)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 200), st.integers(0, 200), st.floats(0.01, 0.99))
def test_the_tail_is_the_binomial_of_scipy(successes, failures, rate):
    trials = successes + failures
    assert binomial_tail(successes, trials, rate) == pytest.approx(
        binom.sf(successes - 1, trials, rate), rel=1e-9, abs=1e-300
    )


def test_whole_counts_add_no_phantom_error():
    """n times an observed rate is often a hair above a whole number, and its ceiling one more."""
    cases = [(n, k) for n in range(1, 120) for k in range(n + 1)]
    phantom = [(n, k) for n, k in cases if math.ceil(n * (1 - (n - k) / n)) > k]
    assert len(phantom) > len(cases) // 20
    for n, errors in phantom[::50]:
        y = np.repeat([1.0, -1.0], [n - errors, errors])
        oracle = binomtest(n - errors, n, 0.8, alternative="greater").pvalue
        assert p_value(Precision(), y, np.ones(n), 0.8) == pytest.approx(oracle, rel=1e-9)


RATES = {
    "precision": lambda tp, fp, fn, tn: (tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: (tp, tp + fn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn, tp + fp + fn + tn),
    "selection_rate": lambda tp, fp, fn, tn: (tp + fp, tp + fp + fn + tn),
    "error": lambda tp, fp, fn, tn: (fp + fn, tp + fp + fn + tn),
}


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("at_least", [True, False])
def test_a_rate_is_an_exact_binomial(name, at_least):
    y, scores = drawn(np.random.default_rng(1), 80)
    up, yes = scores > 0, y > 0
    counts = [np.sum(up & yes), np.sum(up & ~yes), np.sum(~up & yes), np.sum(~up & ~yes)]
    hits, trials = RATES[name](*counts)
    side = "greater" if at_least else "less"
    oracle = binomtest(int(hits), int(trials), 0.6, alternative=side).pvalue
    assert p_value(as_metric(name), y, scores, 0.6, at_least) == pytest.approx(oracle)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 40), st.integers(0, 40), st.floats(0.05, 0.95))
def test_f1_is_a_binomial_of_jaccard(tp, fp, fn, level):
    y = np.repeat([1.0, -1.0, 1.0, -1.0], [tp, fp, fn, 7])
    scores = np.repeat([1.0, 1.0, -1.0, -1.0], [tp, fp, fn, 7])
    jaccard = level / (2.0 - level)
    oracle = binom.sf(tp - 1, tp + fp + fn, jaccard)
    assert p_value(as_metric("f1"), y, scores, level) == pytest.approx(oracle, rel=1e-6, abs=1e-12)
    assert (2 * tp / (2 * tp + fp + fn) >= level) == (tp / (tp + fp + fn) >= jaccard)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 80), st.integers(1, 80), st.sampled_from(["f2", "f0.5", "f1", "precision"]))
def test_more_successes_never_make_a_claim_less_sure(hits, errors, name):
    def p(tp):
        y = np.repeat([1.0, -1.0, 1.0], [tp, errors, errors])
        return p_value(as_metric(name), y, np.repeat([1.0, 1.0, -1.0], [tp, errors, errors]), 0.7)

    assert p(hits + 1) <= p(hits) + 1e-12


@pytest.mark.parametrize("values", [(1.0, -1.0), (0.2, -0.8), (2.0, -0.5)])
def test_a_bettor_against_a_fair_coin_rarely_wins(values):
    """At a mean of zero, all outcomes of twelve rows: the exact chance of a p-value below 0.1."""
    good, bad = values
    chance = -bad / (good - bad)
    wins = np.arange(13)
    p = [betting_p_value(np.array(values), np.array([k, 12.0 - k]), bad) for k in wins]
    assert binom.pmf(wins, 12, chance)[np.array(p) <= 0.1].sum() <= 0.1


def test_three_valued_margins_are_not_taken_for_a_binomial():
    """F2 on rows without a false positive: what could have happened counts, not what did."""
    y, scores = np.repeat([1.0, 1.0], [60, 8]), np.repeat([1.0, -1.0], [60, 8])
    margins = {"tp": 5 * 0.2, "fn": -4 * 0.8}
    binomial = binom.sf(59, 68, -margins["fn"] / (margins["tp"] - margins["fn"]))
    assert p_value(as_metric("f2"), y, scores, 0.8) > binomial


def test_the_fixed_sequence_errs_at_most_at_its_risk_over_all_outcomes():
    """Three nested thresholds, five rows between each, all outcomes: exact type-I error."""
    for truth in [(0.5, 0.5, 0.5), (0.95, 0.5, 0.2), (0.95, 0.8, 0.3)]:
        error = 0.0
        for hits in itertools.product(range(6), repeat=3):
            chance = np.prod([binom.pmf(k, 5, p) for k, p in zip(hits, truth, strict=True)])
            total = np.cumsum(hits)
            p = [binomial_tail(k, 5 * (i + 1), 0.6) for i, k in enumerate(total)]
            passed = fixed_sequence([0, 1, 2], lambda k, p=p: p[k] <= 0.2)
            means = np.cumsum(truth) / np.arange(1, 4)
            error += chance * any(means[k] < 0.6 for k in passed)
        assert error <= 0.2


def test_bounds_are_those_of_clopper_and_pearson():
    rate = Outcomes(np.array([37.0, 13.0]), np.array([1.0, 0.0]), np.ones(2))
    exact = binomtest(37, 50).proportion_ci(0.9, "exact")
    lower = bound(lambda x, up: rate.p_value(x, up) <= 0.05, True)
    upper = bound(lambda x, up: rate.p_value(x, up) <= 0.05, False)
    assert (lower, upper) == pytest.approx((exact.low, exact.high), abs=1e-6)


def test_the_box_of_a_gmean_has_its_corner_at_clopper_and_pearson():
    y = np.repeat([1.0, 1.0, -1.0, -1.0], [45, 5, 80, 20])
    scores = np.repeat([1.0, -1.0, -1.0, 1.0], [45, 5, 80, 20])
    lows = [binomtest(k, n).proportion_ci(0.9, "exact").low for k, n in ((45, 50), (80, 100))]
    level = float(np.sqrt(np.prod(lows)))
    assert p_value(as_metric("gmean"), y, scores, level) == pytest.approx(0.1, rel=0.01)


def test_the_worst_group_is_as_sure_as_its_least_sure_group():
    rng = np.random.default_rng(0)
    y, scores = drawn(rng, 300, 0.9)
    groups = rng.integers(3, size=300)
    metric = as_metric("worst_group_precision")
    each = [p_value(Precision(), y[groups == g], scores[groups == g], 0.8) for g in range(3)]
    assert p_value(metric, y, scores, 0.8, groups=groups) == pytest.approx(max(each))


CASES = {
    "precision": (as_metric("precision"), lambda v: v, True),
    "f2": (as_metric("f2"), lambda v: v, True),
    "gap": (gap("recall"), lambda v: v, False),
    "macro": (as_metric("group_mean_accuracy"), lambda v: v, True),
    "profit": (Profit(tp=3.0, fp=-2.0, fn=-1.0), lambda v: v, True),
    "mcc": (as_metric("mcc"), lambda v: v, True),
}


@pytest.mark.parametrize("name", CASES)
def test_a_claim_at_the_true_value_is_certified_rarely(name):
    metric, _, at_least = CASES[name]
    rng = np.random.default_rng(3)

    def sample(n):
        y, scores = drawn(rng, n, 0.75)
        return y, scores, {"groups": rng.integers(2, size=n)}

    y, scores, side = sample(200_000)
    truth = float(metric.bind(y, side=side).values(scores))
    found = 0
    for _ in range(200):
        y, scores, side = sample(150)
        found += p_value(metric, y, scores, truth, at_least, **side) <= 0.1
    assert found <= 200 * 0.1 + 3 * np.sqrt(200 * 0.09)


def test_exact_and_approximate_are_distinguished():
    rows = rows_of([1.0, -1.0], groups=np.array([0, 1]))
    names = ("precision", "f1", "gmean", "group_mean_f1", "worst_group_recall", "mcc", "roc_auc")
    found = {name: evidence(as_metric(name), rows).approximate for name in names}
    assert [name for name, rough in found.items() if rough] == ["mcc", "roc_auc"]


def gaussians(rng, n, apart=1.5, flipped=0.0):
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    scores = rng.normal(apart * y)
    seen = np.where(rng.random(n) < flipped, -y, y)
    return Scored(Rows(seen, np.ones(n), {}, ("no", "yes")), scores)


@pytest.mark.parametrize("flipped", [0.0, 0.3])
def test_a_threshold_is_certified_also_where_training_labels_are_wrong(flipped):
    rng = np.random.default_rng(0)
    train, valid = gaussians(rng, 2000, flipped=flipped), gaussians(rng, 1000)
    found = certify((Claim(Precision(), 0.8, True, 0.9),), train, valid, Recall())
    assert found.holds
    assert "of 1,000 held-out rows" in str(found.certificates[0])
    new = gaussians(rng, 100_000)
    flagged = new.above(found.threshold)
    assert new.rows.positive[flagged].mean() >= 0.8
    assert flagged[new.rows.positive].mean() > 0.6


def test_what_cannot_be_certified_says_what_can_and_how_many_rows_it_needs():
    rng = np.random.default_rng(1)
    train, valid = gaussians(rng, 2000, 1.0), gaussians(rng, 40, 1.0)
    (said,) = certify((Claim(Precision(), 0.85),), train, valid, Recall()).certificates
    assert not said.certified
    assert said.bound < 0.85
    assert "is not certifiable with 40 rows; the best that is: 0." in str(said)


def test_many_classes_are_certified_as_they_are():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200).astype(float)
    scores = np.eye(3)[y.astype(int)] + 0.3 * rng.normal(size=(200, 3))
    rows = Rows(y, np.ones(200), {}, Classes(("a", "b", "c")))
    claims = (Claim(as_metric("worst_class_recall"), 0.8),)
    assert certify_as_it_is(claims, Scored(rows, scores)).holds


def watched(rng, precision, days=20):
    claim = Claim(Precision(), 0.8)
    train, valid = gaussians(rng, 2000), gaussians(rng, 1000)
    certificate = certify((claim,), train, valid, Recall()).certificates[0]
    watch, alarms = None, []
    for _ in range(days):
        y, scores = drawn(rng, 50, precision)
        truth, told = (np.where(x > 0, "yes", "no") for x in (y, scores))
        watch = certificate.monitor(truth, told, after=watch)
        alarms.append(watch.alarm)
    return alarms, watch


def test_the_watch_alarms_where_the_promise_is_broken_and_stays_on():
    alarms, watch = watched(np.random.default_rng(0), 0.6)
    assert watch.alarm
    assert str(watch).startswith("ALARM: precision is 0.")
    assert alarms == sorted(alarms)


def test_the_watch_seldom_alarms_though_it_is_looked_at_every_day():
    rng = np.random.default_rng(0)
    claim = Claim(Precision(), 0.8)
    certificate = certify(
        (claim,), gaussians(rng, 500), gaussians(rng, 500), Recall()
    ).certificates[0]
    alarms = 0
    for _ in range(100):
        watch = None
        for _ in range(10):
            y, scores = drawn(rng, 40, 0.8)
            told = np.where(scores > 0, "yes", "no")
            watch = certificate.monitor(np.where(y > 0, "yes", "no"), told, after=watch)
        alarms += watch.alarm
    assert alarms <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)
