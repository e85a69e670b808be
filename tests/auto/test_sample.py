"""Samples: what a weighting weighs, folds, resamples, and how alike rows are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.utils.class_weight import compute_sample_weight

from anymetric.auto.covariate_shift import density_ratio, label_ratio
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.records import Proposal, Weighting
from anymetric.auto.sample import Sample, dealt, effective, inverse_sizes, nearer
from anymetric.auto.task import Task
from anymetric.auto.threshold_transfer import worse
from anymetric.data import Data
from anymetric.models import Linear
from anymetric.problem import Problem

from .samples import SETS, THREE, sample

QUICK = settings(max_examples=30, deadline=None)


@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
@QUICK
def test_balance_gives_every_class_its_share_to_a_power(seed, part):
    rng = np.random.default_rng(seed)
    for task, classes in ((Task((0, 1)), [-1.0, 1.0]), (Task(THREE), [0.0, 1.0, 2.0])):
        y = np.append(classes, rng.choice(classes, 40))
        weights = rng.exponential(size=len(y))
        found = task.balanced(y, weights, part)
        sums = np.array([weights[y == c].sum() for c in classes])
        own = np.array([found[y == c].sum() for c in classes])
        np.testing.assert_allclose(own / own.sum(), sums ** (1 - part) / np.sum(sums ** (1 - part)))


def test_full_balance_is_scikit_learns():
    y = np.array([-1.0] * 7 + [1.0] * 3)
    found = Task((0, 1)).balanced(y, np.ones(10), 1.0)
    theirs = compute_sample_weight("balanced", y)
    np.testing.assert_allclose(found / found.sum(), theirs / theirs.sum())


def test_labels_are_balanced_one_by_one(rng):
    task, y = Task(SETS), rng.integers(6, size=50).astype(float)
    weights = rng.exponential(size=50)
    table, members = task.balanced(y, weights, 1.0), task.members(y)
    np.testing.assert_allclose(np.sum(table * members, axis=0), np.sum(table * ~members, axis=0))


def test_numbers_are_not_balanced(rng):
    weights = rng.exponential(size=9)
    np.testing.assert_array_equal(Task(None).balanced(rng.normal(size=9), weights, 1.0), weights)


def weighed(weighting, train, valid=None):
    valid = train if valid is None else valid
    found = Sample(Task((0, 1)), train, valid, np.arange(len(valid)) % 5, np.ones(len(train)))
    return found.weights(weighting)


def beside(rng, n=40):
    side = {
        "groups": np.where(np.arange(n) % 2, "a", "b"),
        "source": np.arange(n) % 3,
        "amount": rng.exponential(size=n),
    }
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return Data(rng.normal(size=(n, 2)), y, rng.uniform(0.5, 2.0, n), side)


def test_a_weighting_is_what_its_words_say(rng):
    data = beside(rng)
    y, w, side = data.y, data.weights, data.side
    amount = side["amount"] / np.average(side["amount"], weights=w)
    cell = (y == 1.0) & (side["groups"] == "a")
    table = {
        Weighting(): w,
        Weighting(only=("source", 1, True)): w * (side["source"] == 1),
        Weighting(only=("source", 1, False)): w * (side["source"] != 1),
        Weighting(amounts=("amount", 0)): w * amount,
        Weighting(amounts=("amount", 1)): w * np.where(y == 1.0, amount, 1.0),
        Weighting(amounts=("amount", -1)): w * np.where(y == -1.0, amount, 1.0),
        Weighting(cells=((1.0, "a", 3.0),)): w * np.where(cell, 3.0, 1.0),
    }
    for weighting, expected in table.items():
        np.testing.assert_allclose(weighed(weighting, data).train, expected)
    assert len({weighting.name for weighting in table}) == len(table)


@given(st.floats(0.01, 0.99), st.sampled_from([0.0, 1.0]), st.integers(0, 10**6))
@QUICK
def test_validation_rows_have_their_share_with_and_without_a_fold(share, balance, seed):
    found = sample("two", np.random.default_rng(seed), train=30, valid=20)
    weighting = Weighting("both", share, balance=balance)
    for out in (None, np.arange(5)):
        weights = found.weights(weighting, out)
        assert weights.joined.sum() == pytest.approx(1.0)
        assert weights.joined[30:].sum() == pytest.approx(share)
        assert np.any(weights.valid[:5]) == (out is None)
        if balance:
            own = [weights.valid[found.valid.y == sign].sum() for sign in (-1.0, 1.0)]
            assert own[0] == pytest.approx(own[1])


def test_one_sample_is_the_validation_rows_and_a_handful_trains_and_validates(rng):
    for n, few in ((200, False), (30, True)):
        X, y = rng.normal(size=(n, 2)), rng.choice([-1.0, 1.0], n)
        problem = Problem(Data(X, y), "logistic", None, labels=(0, 1))
        found = Sample.of(problem, Task((0, 1)), dealt(y, rng))
        assert (found.single, found.few) == (True, few)
        assert found.source == ("train" if few else "all")
        assert len(found.both) == (2 * n if few else n)
    apart = sample("two", rng, train=60, valid=20)
    assert not apart.single
    assert apart.natural == pytest.approx(0.25)


@given(st.integers(0, 10**6), st.integers(10, 80))
@QUICK
def test_every_class_is_dealt_evenly(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    fold = dealt(y, rng)
    for sign in (-1.0, 1.0):
        sizes = np.bincount(fold[y == sign], minlength=5)
        assert np.ptp(sizes) <= 1
    assert np.ptp(np.bincount(fold, minlength=5)) <= 1


@given(st.lists(st.floats(0.01, 10.0), min_size=1, max_size=20), st.floats(1e-6, 1e6))
@QUICK
def test_effective_rows_are_between_one_and_all_in_any_unit(rows, unit):
    rows = np.array(rows)
    assert 1.0 - 1e-9 <= effective(rows) <= len(rows) + 1e-9
    assert effective(unit * rows) == pytest.approx(effective(rows))
    assert effective(np.full(len(rows), unit)) == pytest.approx(len(rows))


def test_bootstrap_weights_are_exponential(rng):
    weights = bootstrap_weights(2000, 3, rng)
    assert stats.kstest(weights.ravel(), "expon").pvalue > 1e-3
    assert bootstrap_weights(10**7 // 100, 100, rng).shape[1] < 100


def test_a_density_ratio_is_the_known_one(rng):
    """Between N(0, 1) and N(1, 1) it is exp(x - 1/2), here capped at two."""
    train = Data(rng.normal(0.0, 1.0, (4000, 1)), np.ones(4000))
    valid = Data(rng.normal(1.0, 1.0, (4000, 1)), np.ones(4000))
    ratio = density_ratio(Linear(), train, valid)
    truth = np.minimum(np.exp(train.X[:, 0] - 0.5), 2.0)
    assert np.corrcoef(ratio, truth)[0, 1] > 0.99
    assert abs(ratio.mean() - truth.mean()) < 0.1


def test_labels_that_are_flipped_at_random_are_found(rng):
    scores = rng.normal(size=3000)
    y = np.where(scores + 0.5 * rng.normal(size=3000) > 0, 1.0, -1.0)
    flipped = rng.random(3000) < 0.3
    X = np.zeros((3000, 1))
    ratio = label_ratio(Data(X, np.where(flipped, -y, y)), Data(X, y), (scores, scores))
    assert ratio[flipped].mean() < 0.5 * ratio[~flipped].mean()
    honest = label_ratio(Data(X, y), Data(X, y), (scores, scores))
    np.testing.assert_allclose(honest, 1.0, atol=0.1)


@given(st.lists(st.floats(0.1, 1e3), min_size=2, max_size=20), st.sampled_from([-1.0, 1.0]))
@QUICK
def test_errors_count_by_their_share_of_targets_of_one_sign(sizes, sign):
    y = sign * np.array(sizes)
    found = inverse_sizes(y, np.ones(len(y)))
    assert np.all(found <= 1.0 / np.abs(y) * (1.0 + 1e-9))
    assert found[np.argmax(np.abs(y))] == pytest.approx(1.0 / np.abs(y).max())
    both = np.append(y, -y)
    np.testing.assert_array_equal(inverse_sizes(both, np.ones(len(both))), 1.0)


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_rows_are_distinguished_by_the_nearer_cluster(unit, rng):
    centres = np.array([[-3.0, 0.0], [3.0, 0.0]])
    own = np.concatenate([c + rng.normal(size=(50, 2)) for c in centres]) * [1.0, unit]
    which = nearer(own, own)
    assert np.mean(which[:50] == which[0]) > 0.95
    assert np.mean(which[50:] != which[0]) > 0.95


def test_names_of_different_weightings_differ():
    every = [
        Weighting(rows, share, importance, balance)
        for rows, share in (("train", 0.0), ("valid", 0.0), ("all", 0.0), ("both", 0.2))
        for importance in (0.0, 1.0)
        for balance in (0.0, 0.5, 1.0)
        if not (importance and rows in ("valid", "all"))
    ]
    names = {Proposal(one, strength).name for one in every for strength in (1.0, 10.0)}
    assert len(names) == 2 * len(every)


def test_where_three_rows_are_all_right_an_error_is_not_zero():
    right, other = np.zeros(50), np.full(50, 0.05)
    assert worse(other, right, 1.25)
    assert not worse(other, right, 1.25, resolution=1 / 3)
