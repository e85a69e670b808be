"""Thresholds of two or three groups at once: the grid's costs are those of its decisions."""

import numpy as np
import pytest

from anymetric.auto.decisions import GroupThresholds
from anymetric.auto.judges.counts import CountsJudge
from anymetric.data import Data
from anymetric.metrics import as_metric, at_most, gap, limited


def judged(groups, metric, rng):
    n = 240
    member = np.arange(n) % groups
    y = np.where(rng.random(n) < 0.3 + 0.15 * member, 1.0, -1.0)
    data = Data(np.zeros((n, 1)), y, side={"groups": member})
    judge = CountsJudge.of(metric, data, rng.exponential(size=(n, 9)))
    return judge, rng.normal(y + 0.5 * member)[:, np.newaxis], member


@pytest.mark.parametrize("groups", [2, 3])
def test_costs_of_a_grid_are_those_of_its_decisions(groups):
    rng = np.random.default_rng(groups)
    metric = limited(as_metric("accuracy"), (at_most(gap("selection_rate"), 0.05),))
    judge, scores, member = judged(groups, metric, rng)
    shifts, costs = judge.sweep_groups(scores, member, groups)
    for k in rng.integers(len(shifts), size=20):
        own = judge.evaluate(scores + shifts[k][member][:, np.newaxis])
        assert np.allclose(own, costs[k])


def test_a_gap_is_closed_without_flagging_nobody():
    rng = np.random.default_rng(5)
    metric = limited(as_metric("accuracy"), (at_most(gap("selection_rate"), 0.02),))
    judge, scores, member = judged(2, metric, rng)
    found = GroupThresholds([0, 1], member).assess(scores, judge)
    flagged = found.scores[:, 0] > 0
    assert abs(flagged[member == 0].mean() - flagged[member == 1].mean()) <= 0.02
    assert 0.1 < flagged.mean() < 0.9
    assert found.cost < 0.45


def test_one_group_or_many_are_swept_one_by_one():
    judge, scores, member = judged(2, as_metric("accuracy"), np.random.default_rng(0))
    assert judge.sweep_groups(scores, np.zeros_like(member), 1) is None
    assert judge.sweep_groups(scores, member, 7) is None
