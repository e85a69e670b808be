"""Section 6.1 with the paper's algorithm: two hinge surrogates, several starts, tuning on."""

import numpy as np

from anymetric.data import Data
from anymetric.datasets import load_simulated, split
from anymetric.descent import Descent
from anymetric.gradients import LinearInterpolation
from anymetric.ledger import Ledger
from anymetric.metrics import as_metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.projections import Adagrad
from anymetric.starts import plain, scattered
from anymetric.surrogates import per_class
from anymetric.tuning import Tuned

GMEAN = as_metric("gmean")


def parts(seed):
    dataset = load_simulated(random_state=seed)
    data = Data(dataset.X, np.where(dataset.y == 1, 1.0, -1.0))
    rows = split(dataset, random_state=seed)
    return [data.take(part) for part in (rows.train, rows.validation, rows.test)]


def cost_of(theta, test, shift):
    return float(GMEAN.bind(test.y).costs(Linear().scores(test.X, theta) + shift))


def by_descent(seed):
    train, valid, test = parts(seed)
    problem = Problem(train, per_class("hinge"), GMEAN, valid)
    rng = np.random.default_rng(seed)
    descent = Descent(20, gradient=LinearInterpolation(m=50), projection=Adagrad(iterations=50))
    tuned = Tuned(descent, steps=(0.5, 5.0), sigmas=(0.1, 0.5))
    solution = tuned.run(Ledger(problem), scattered(problem, 3, rng), rng)
    return cost_of(solution.theta, test, 0.0)


def by_tuned_threshold(seed):
    train, valid, test = parts(seed)
    problem = Problem(train, per_class("hinge"), GMEAN, valid)
    theta = plain(problem)
    sweep = problem.judge.sweep(problem.model.scores(valid.X, theta))
    return cost_of(theta, test, sweep.shifts[sweep.best])


def test_the_papers_algorithm_beats_a_tuned_threshold_on_simulated_data():
    """A coin has 0.5, the best hyperplane 0.3151, exact tuned threshold 0.45 to 0.51."""
    ours = np.mean([by_descent(seed) for seed in range(6)])
    shifted = np.mean([by_tuned_threshold(seed) for seed in range(6)])
    assert ours <= 0.43
    assert ours <= shifted - 0.05
