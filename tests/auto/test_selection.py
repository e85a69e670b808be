"""Selection: shares of candidates, and the average that they make."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetric.auto.records import Assessment, Candidate, Predictions, Proposal, Weighting
from anymetric.auto.selection import (
    Average,
    BootstrapSelection,
    GreedySelection,
    SingleBest,
    agreeing,
)
from anymetric.auto.task import Task
from anymetric.models import LinearScorer

from .samples import THREE

RULES = [BootstrapSelection(), GreedySelection(5), SingleBest()]


def distance(target):
    return lambda scores: np.array([np.abs(scores - target).sum()])


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9), st.sampled_from(RULES))
@settings(max_examples=60, deadline=None)
def test_shares_sum_to_one_and_never_go_to_who_is_never_best(seed, candidates, resamples, rule):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 4, (resamples, candidates)).astype(float)
    scores = rng.normal(size=(candidates, 5, 1))
    shares = rule.shares(costs, scores, distance(np.zeros((5, 1))))
    assert shares.shape == (candidates,)
    assert np.all(shares >= 0.0)
    assert shares.sum() == pytest.approx(1.0)
    if rule == BootstrapSelection():
        best = costs == costs.min(axis=1, keepdims=True)
        assert not shares[~best.any(axis=0)].any()


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_bootstrap_counts_wins_and_ties_share(seed):
    costs = np.random.default_rng(seed).integers(0, 3, (12, 4)).astype(float)
    wins = np.zeros(4)
    for row in costs:
        winners = [k for k in range(4) if row[k] == min(row)]
        for k in winners:
            wins[k] += 1 / len(winners)
    np.testing.assert_allclose(BootstrapSelection().shares(costs), wins / 12)


@pytest.mark.parametrize("unit", [1e-12, 1.0, -1e12])
def test_rounding_breaks_no_tie(unit, rng):
    costs = unit * np.repeat(rng.integers(1, 4, (20, 2)), 2, axis=1).astype(float)
    noise = 1.0 + 1e-15 * rng.choice([-1.0, 0.0, 1.0], costs.shape)
    plain, rounded = (BootstrapSelection().shares(one) for one in (costs, noise * costs))
    np.testing.assert_allclose(plain, rounded)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_greedy_steps_are_those_of_brute_force(unit, rng):
    """Each candidate joins that makes the average of all so far cheapest; the best size is kept."""
    for _ in range(20):
        scores, target = rng.normal(size=(4, 3, 1)), rng.normal(size=(3, 1))
        cost = distance(target)
        found = GreedySelection(3).shares(
            np.zeros((1, 4)), scores, lambda s, cost=cost: unit * cost(s)
        )
        path, options = [], []
        for _ in range(3):
            path.append(min(range(4), key=lambda k: cost(scores[[*path, k]].mean(axis=0))[0]))
            options.append((cost(scores[path].mean(axis=0))[0], list(path)))
        best = min(options, key=lambda option: option[0])[1]
        np.testing.assert_allclose(found, np.bincount(best, minlength=4) / len(best))
        # The best of all averages of one, two or three is no better than the best single one.
        every = [
            cost(scores[list(some)].mean(axis=0))[0]
            for size in (1, 2, 3)
            for some in itertools.combinations_with_replacement(range(4), size)
        ]
        reached = cost(np.tensordot(found, scores, 1))[0]
        assert min(every) - 1e-12 <= reached <= min(every[:4]) + 1e-12


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_who_points_the_other_way_than_the_leader_is_left_out(seed, candidates):
    rng = np.random.default_rng(seed)
    leader = rng.normal(size=60)
    signs = rng.choice([-1.0, 1.0], candidates)
    scores = signs[:, np.newaxis] * leader + 0.2 * rng.normal(size=(candidates, 60))
    shares = rng.dirichlet(np.ones(candidates))
    kept = agreeing(shares, scores)
    first = int(np.argmax(shares))
    np.testing.assert_array_equal(kept > 0.0, signs == signs[first])
    assert kept.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(kept, np.where(kept > 0.0, shares, 0.0) / shares[kept > 0.0].sum())
    np.testing.assert_allclose(agreeing(shares, 7.0 * scores + 3.0), kept)


def test_a_leader_without_spread_stands_alone():
    kept = agreeing(np.array([0.6, 0.4]), np.stack([np.zeros(5), np.arange(5.0)]))
    assert kept.tolist() == [1.0, 0.0]


def table(rng, scales, offsets, outputs=1, n=50):
    """Return candidates of linear models, each with a rule that scales and moves its scores."""
    X = rng.normal(size=(n, 3))
    candidates, assessments = [], []
    for scale, offset in zip(scales, offsets, strict=True):
        weights = rng.normal(size=(outputs, 3)) if outputs > 1 else rng.normal(size=3)
        scorer = LinearScorer(weights, np.zeros(outputs) if outputs > 1 else 0.0)
        valid = scorer.scores(X).reshape(n, -1)
        candidates.append(Candidate(Proposal(Weighting()), scorer, valid))
        moved = scale * valid + offset
        at = np.full(outputs, offset)
        assessments.append(Assessment(at, 0.0, np.zeros(2), moved, scale=scale))
    return X, Predictions(candidates, assessments)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_model_of_an_average_scores_as_the_average(outputs, rng):
    task = Task((0, 1)) if outputs == 1 else Task(THREE)
    X, found = table(rng, [1.0, 2.0, 1.0, 5.0], [0.3, -1.0, 0.0, 2.0], outputs)
    shares = np.array([0.5, 0.3, 0.0, 0.2])
    average = Average.of(found, shares, task, np.ones(50))
    np.testing.assert_allclose(average.scorer.scores(X).reshape(50, -1), average.valid)
    assert average.factors[2] == 0.0


@pytest.mark.parametrize("size", [0.01, 1.0, 300.0])
def test_a_candidate_counts_by_its_share_whatever_the_size_of_its_scores(size, rng):
    """Otherwise those with little ridge, whose scores are large, would decide alone."""
    _, found = table(rng, [1.0, 1.0], [0.0, 0.0])
    loud = found.candidates[0]
    scorer = LinearScorer(size * loud.scorer.weights, 0.0)
    again = Candidate(loud.proposal, scorer, size * loud.valid)
    scaled = Predictions([again, found.candidates[1]], found.assessments)
    shares, task = np.array([0.4, 0.6]), Task((0, 1))
    plain, other = (Average.of(one, shares, task, np.ones(50)).valid for one in (found, scaled))
    np.testing.assert_allclose(other / other.std(), plain / plain.std())
    parts = [one.valid / task.spread(one.valid, np.ones(50)) for one in found.candidates]
    expected = 0.4 * parts[0] + 0.6 * parts[1]
    np.testing.assert_allclose(plain / plain.std(), expected / expected.std())


def test_calibrated_scores_are_averaged_as_they_are_calibrated(rng):
    """Of two candidates with the same log-odds, one held by a ridge: their average is the same."""
    _, found = table(rng, [2.0], [0.5])
    one = found.candidates[0]
    small = Candidate(one.proposal, LinearScorer(0.1 * one.scorer.weights, 0.0), 0.1 * one.valid)
    sized = Assessment(np.array([0.5]), 0.0, np.zeros(2), found.assessments[0].scores, scale=20.0)
    both = Predictions([one, small], [found.assessments[0], sized])
    average = Average.of(both, np.array([0.5, 0.5]), Task((0, 1)), np.ones(50))
    np.testing.assert_allclose(average.valid, found.assessments[0].scores)


@pytest.mark.parametrize("far", [1e3, 1e9])
def test_one_row_far_out_does_not_set_the_spread(far, rng):
    scores = rng.normal(size=(200, 1))
    corrupted = scores.copy()
    corrupted[0] = far * 1e3
    task = Task((0, 1))
    found = [task.spread(one, np.ones(200)) for one in (scores, corrupted)]
    assert found[1] == pytest.approx(found[0], rel=0.1)


def test_numbers_are_averaged_as_they_are(rng):
    _, found = table(rng, [1.0, 1.0], [0.0, 0.0])
    average = Average.of(found, np.array([0.25, 0.75]), Task(None), np.ones(50))
    expected = 0.25 * found.candidates[0].valid + 0.75 * found.candidates[1].valid
    np.testing.assert_allclose(average.valid, expected)
