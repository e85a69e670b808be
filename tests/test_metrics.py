"""Ready-made metrics against scikit-learn and against plain loops."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetric.metrics import BreakEven, ErrorRate, GMean, PrecisionAtK
from metric_oracles import COUNTED, EVERY, RANKED, REGRESSED, SCALE, TOPS, part, rows, value

every = pytest.mark.parametrize("metric", EVERY, ids=repr)


@pytest.mark.parametrize("metric", [*COUNTED, *RANKED], ids=repr)
@settings(max_examples=20, deadline=None)
@given(case=rows())
def test_a_class_metric_is_what_scikit_learn_or_a_plain_loop_says(metric, case):
    expected = {**COUNTED, **RANKED}[metric](case)
    np.testing.assert_allclose(value(metric, case), expected, atol=1e-12)


@pytest.mark.parametrize("metric", REGRESSED, ids=repr)
@settings(max_examples=30, deadline=None)
@given(case=rows(), data=st.data())
def test_a_regression_metric_is_what_scikit_learn_says(metric, case, data):
    n = len(case["y"])
    y = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=float)
    y[:2] = [-1.0, 1.0]
    expected = REGRESSED[metric](y, case["scores"], sample_weight=case["weights"])
    np.testing.assert_allclose(value(metric, case | {"y": y}), expected, atol=1e-12)


@pytest.mark.parametrize("metric", TOPS, ids=repr)
@settings(max_examples=25, deadline=None)
@given(case=rows(weighted=[False], most=6))
def test_the_top_of_tied_rows_is_the_mean_over_their_orders(metric, case):
    y, scores = case["y"], case["scores"]
    k = {1: 1, 3: 3}.get(getattr(metric, "k", 0), len(y) // 2)
    k = int((y > 0).sum()) if isinstance(metric, BreakEven) else k
    orders = [sorted(order, key=lambda i: -scores[i]) for order in permutations(range(len(y)))]
    expected = np.mean([np.mean(y[order[:k]] > 0) for order in orders])
    np.testing.assert_allclose(value(metric, case), expected, atol=1e-12)


@pytest.mark.parametrize("metric", TOPS, ids=repr)
@settings(max_examples=20, deadline=None)
@given(case=rows(weighted=[True]))
def test_weights_fill_the_top_as_repeated_rows_do(metric, case):
    halves = (2 * case["weights"]).astype(int)
    again = part(case, np.repeat(np.arange(len(halves)), halves)) | {"weights": None}
    n, many = len(halves), halves.sum()
    deep = BreakEven() if isinstance(metric, BreakEven) else PrecisionAtK(int(many))
    if not isinstance(metric, BreakEven):
        # The same share of all rows, in a sample blown up until it is a whole number of rows.
        again = part(again, np.repeat(np.arange(many), n))
        k = getattr(metric, "k", n // 2)
        deep = PrecisionAtK(int(k * many))
    expected = deep.bind(again["y"]).values(again["scores"])
    np.testing.assert_allclose(value(metric, case), expected, atol=1e-12)


def test_a_constant_score_earns_the_base_rate_at_the_top():
    y = np.where(np.arange(20) < 3, 1.0, -1.0)
    for metric in TOPS:
        assert metric.bind(y).values(np.zeros(20)) == pytest.approx(0.15)


@every
@settings(max_examples=8, deadline=None)
@given(case=rows(), data=st.data())
def test_a_batch_is_a_loop_over_its_columns(metric, case, data):
    n, m = len(case["y"]), data.draw(st.integers(0, 4))
    cells = data.draw(st.lists(st.integers(-3, 3), min_size=n * m, max_size=n * m))
    batch = SCALE * np.array(cells, dtype=float).reshape(n, m)
    values = value(metric, case, batch)
    assert values.shape == (m,)
    singles = [value(metric, case, column) for column in batch.T]
    np.testing.assert_allclose(values, singles, atol=1e-12)
    assert all(single.shape == () for single in singles)
    np.testing.assert_allclose(value(metric, case, np.asfortranarray(batch)), values, atol=1e-12)


@pytest.mark.parametrize("weights", [None, "random"])
@pytest.mark.parametrize("metric", [*COUNTED, *RANKED, *TOPS], ids=repr)
def test_a_batch_over_many_blocks_is_a_loop_over_its_columns(metric, weights):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(3000) < 0.3, 1.0, -1.0)
    side = {"groups": rng.integers(0, 3, 3000), "amount": rng.random(3000)}
    bound = metric.bind(y, weights=weights and rng.random(3000), side=side)
    batch = rng.standard_normal((3000, 90), dtype=np.float32)
    singles = [bound.values(column) for column in batch.T]
    np.testing.assert_allclose(bound.values(batch), singles, rtol=1e-10)
    np.testing.assert_allclose(bound.values(batch.astype(float)), singles, rtol=1e-10)


@pytest.mark.parametrize("metric", COUNTED, ids=repr)
@settings(max_examples=15, deadline=None)
@given(case=rows())
def test_a_sweep_is_the_metric_at_every_midpoint_and_beyond_both_ends(metric, case):
    scores = case["scores"]
    bound = metric.bind(case["y"], weights=case["weights"], side=case["side"])
    sweep = bound.sweep(scores)
    distinct = np.unique(scores)[::-1]
    middles = (distinct[1:] + distinct[:-1]) / 2
    np.testing.assert_allclose(sweep.shifts[1:-1], -middles)
    brute = [bound.values(scores + shift) for shift in sweep.shifts]
    np.testing.assert_allclose(sweep.values, brute, atol=1e-12)
    np.testing.assert_allclose(sweep.costs, metric.cost(sweep.values))
    flagged = [(scores + shift > 0).sum() for shift in sweep.shifts]
    assert flagged[0] == 0
    assert flagged[-1] == len(scores)
    assert sweep.costs[sweep.best] == sweep.costs.min()


def test_a_sweep_separates_neighbouring_floats():
    high = 1.0
    for _ in range(4):
        scores = np.array([high, np.nextafter(high, 0.0), np.nextafter(high, 2.0)])
        sweep = ErrorRate().bind(np.array([1.0, -1.0, 1.0])).sweep(scores)
        decided = {tuple(scores + shift > 0) for shift in sweep.shifts}
        assert len(decided) == 4
        assert sweep.values.min() == 0.0
        high = np.nextafter(high, 2.0)


def test_a_sweep_may_be_thinned():
    rng = np.random.default_rng(0)
    bound = ErrorRate().bind(np.where(rng.random(100) < 0.5, 1.0, -1.0))
    scores = rng.standard_normal(100)
    full, thin = bound.sweep(scores), bound.sweep(scores, limit=7)
    assert len(full.shifts) == 101
    assert len(thin.shifts) == 7
    assert set(thin.shifts) <= set(full.shifts)
    np.testing.assert_array_equal(thin.values, [bound.values(scores + s) for s in thin.shifts])


@pytest.mark.parametrize("metric", [*RANKED, *TOPS], ids=repr)
def test_a_metric_of_scores_has_no_sweep(metric):
    assert not metric.decides
    with pytest.raises(ValueError, match="no threshold"):
        metric.bind(np.array([1.0, -1.0, 1.0, -1.0])).sweep(np.arange(4.0))


@every
def test_the_scale_of_the_weights_does_not_matter(metric):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    side = {"groups": np.arange(40) % 2, "amount": rng.random(40)}
    weights, scores = rng.random(40), rng.integers(-3, 3, 40).astype(float)
    values = [metric.bind(y, weights=w, side=side).values(scores) for w in (weights, weights / 7)]
    np.testing.assert_allclose(*values)
    even = [metric.bind(y, weights=w, side=side).values(scores) for w in (None, np.full(40, 0.3))]
    np.testing.assert_allclose(*even)


@every
def test_cost_turns_the_value_and_back(metric):
    value = np.array([0.25, 0.5])
    cost = metric.cost(value)
    np.testing.assert_array_equal(metric.value(cost), value)
    assert (cost[0] > cost[1]) == metric.greater_is_better


def test_the_papers_gmean_is_the_cost_of_ours():
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    scores = np.array([1.0, -1.0, -1.0, -1.0, -1.0, 1.0])
    assert GMean().bind(y).costs(scores) == pytest.approx(1 - np.sqrt(0.5 * 0.75))
