"""Constraints: how they are written and read, and gaps beside the plainest code for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    recall_score,
)

from anymetric import Constraint, as_metric, at_least, at_most, gap
from anymetric.metrics import Classes, as_constraints, meant


@pytest.mark.parametrize(
    ("written", "built"),
    [
        ("recall>=0.8", at_least("recall", 0.8)),
        (" recall >= 0.8 ", at_least("recall", 0.8)),
        ("gap(recall)<=0.05", at_most(gap("recall"), 0.05)),
        ("gap(equalized_odds) <= 0.02", at_most(gap("equalized_odds"), 0.02)),
        ("precision >= .8 @ 90%", at_least("precision", 0.8, confidence=0.9)),
        ("selection_rate<=1e-1", at_most("selection_rate", 0.1)),
        ("precision@10>=0.5", at_least("precision@10", 0.5)),
        ("precision@5%>=0.5 @ 95%", at_least("precision@5%", 0.5, confidence=0.95)),
    ],
)
def test_a_limit_is_read_as_it_is_written(written, built):
    assert Constraint.parse(written) == built
    assert Constraint.parse(str(built)) == built


@pytest.mark.parametrize("text", ["recall", "recall>0.8", ">=0.8", "recall>=much", ""])
def test_what_is_no_limit_is_explained(text):
    with pytest.raises(ValueError, match="written as"):
        Constraint.parse(text)


def test_values_that_cannot_be_limits_are_refused():
    with pytest.raises(ValueError, match="finite"):
        at_least("recall", np.nan)
    with pytest.raises(ValueError, match="between 0 and 1"):
        at_least("recall", 0.8, confidence=90)
    with pytest.raises(ValueError, match="Did you mean"):
        at_least("recal", 0.8)
    with pytest.raises(TypeError, match="at_least"):
        as_constraints(0.8)
    with pytest.raises(ValueError, match="reads groups itself"):
        gap("group_mean_f1")


def test_several_limits_may_be_given_in_any_form():
    every = as_constraints(["recall>=0.8", at_most("error", 0.1), [at_least("f1", 0.2)]])
    assert [str(one) for one in every] == ["recall >= 0.8", "error <= 0.1", "f1 >= 0.2"]


def test_the_limit_tells_which_way_a_function_is_better():
    def oddity(y_true, y_pred):
        return float(np.mean(y_pred))

    assert at_least(oddity, 0.1).metric.greater_is_better
    assert not at_most(oddity, 0.1).metric.greater_is_better


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_a_violation_is_zero_where_and_only_where_the_limit_is_kept(bound, value):
    for limit in (at_least("r2", bound), at_most("r2", bound)):
        assert limit.violation(value) >= 0.0
        kept = value >= bound if limit.direction == ">=" else value <= bound
        assert (limit.violation(value) == 0.0) == kept


def drawn(seed, classes=2):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["n", "s", "w"], size=200)
    return rng, rng.integers(classes, size=200), groups


def spread(metric, y, decided, groups):
    return np.ptp([metric(y[groups == g], decided[groups == g]) for g in np.unique(groups)])


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("recall", recall_score),
        ("accuracy", accuracy_score),
        ("selection_rate", lambda y, decided: decided.mean()),
        ("balanced_accuracy", balanced_accuracy_score),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_gap_is_the_spread_of_the_metric_over_groups(name, oracle, seed):
    rng, y, groups = drawn(seed)
    scores = rng.normal(size=200)
    expected = spread(oracle, y, (scores > 0).astype(int), groups)
    for metric in (gap(name), gap(as_metric(name)), as_metric(f"gap({name})")):
        bound = metric.bind(2.0 * y - 1.0, side={"groups": groups}, labels=(0, 1))
        assert float(bound.values(scores)) == pytest.approx(expected)


def test_the_gap_of_equalised_odds_is_the_wider_of_two():
    rng, y, groups = drawn(2)
    scores = rng.normal(size=200)
    decided = (scores > 0).astype(int)
    rates = [
        spread(lambda a, b, label=label: b[a == label].mean(), y, decided, groups)
        for label in (0, 1)
    ]
    bound = gap("equalized_odds").bind(2.0 * y - 1.0, side={"groups": groups})
    assert float(bound.values(scores)) == pytest.approx(max(rates))


def test_a_gap_of_a_function_or_of_numbers_asks_each_group():
    rng, y, groups = drawn(3)
    scores = rng.normal(size=(200, 2))
    side = {"groups": groups}
    numbers = gap("mean_absolute_error").bind(y.astype(float), side=side)
    expected = [spread(mean_absolute_error, y, column, groups) for column in scores.T]
    assert numbers.values(scores) == pytest.approx(expected)
    own = gap(recall_score).bind(2.0 * y - 1.0, side=side, labels=(0, 1))
    expected = [spread(recall_score, y, (c > 0).astype(int), groups) for c in scores.T]
    assert own.values(scores) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["balanced_accuracy", balanced_accuracy_score])
def test_a_gap_serves_many_classes(metric):
    rng, y, groups = drawn(4, classes=3)
    classes = Classes((0, 1, 2))
    scores = rng.normal(size=(200, 3))
    found = meant(gap(metric), classes)
    bound = found.bind(y.astype(float), side={"groups": groups}, labels=classes)
    expected = spread(balanced_accuracy_score, y, scores.argmax(axis=1), groups)
    assert float(bound.values(scores)) == pytest.approx(expected)
