"""The paper's method as its authors ran it."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.datasets import make_classification

from anymetric import Adagrad, MetricClassifier, MetricRanker, NotebookDescent
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.ledger import Ledger
from anymetric.losses import Sigmoid
from anymetric.metrics import as_metric
from anymetric.paper.tables import latex
from anymetric.problem import Problem
from anymetric.surrogates import per_class_and_group


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 4)) < 0.5).astype(float)
    y = np.where(X @ [2.0, 1.0, 0.0, -1.0] + rng.normal(size=400) > 2.0, 1.0, -1.0)
    return Data(X, y, side={"groups": rng.integers(2, size=400)})


@pytest.fixture
def problem(rows):
    return Problem(rows, per_class_and_group(Sigmoid(1.5)), as_metric("gmean"))


@pytest.mark.parametrize("accumulator", [0.0, 0.1, 3.0])
def test_adagrad_takes_the_steps_of_torchs(problem, accumulator):
    target, theta = np.full(4, 0.2), np.full(5, 0.01)
    found = Adagrad(0.7, 6, accumulator=accumulator).project(problem, target, theta).theta
    own = torch.tensor(theta.copy(), requires_grad=True)
    steps = torch.optim.Adagrad([own], lr=0.7, initial_accumulator_value=accumulator, eps=0.0)
    for _ in range(6):
        own.grad = torch.tensor(problem.excess(own.detach().numpy(), target)[1])
        steps.step()
    np.testing.assert_allclose(found, own.detach().numpy(), rtol=1e-10)


@pytest.mark.parametrize("accumulator", [-0.1, np.nan, np.inf])
def test_an_accumulator_that_is_none_is_refused(accumulator):
    with pytest.raises(ValueError, match="accumulator must be zero or more"):
        Adagrad(accumulator=accumulator)


def plain_notebook(problem, rng, iterations, m, inner):
    """The authors' loop in plain lines: costs after every iteration, and the weights there."""
    data, d = problem.train, problem.train.X.shape[1]
    masks = [
        (data.y == y) & (data.side["groups"] == group) for y in (-1.0, 1.0) for group in (0, 1)
    ]

    def profile(theta):
        margin = data.y * (data.X @ theta[:d] + theta[d])
        return np.array([np.mean(1.0 / (1.0 + np.exp(1.5 * margin[mask]))) for mask in masks])

    def cost(theta):
        flagged = data.X @ theta[:d] + theta[d] > 0.0
        positive = data.y > 0
        return 1.0 - np.sqrt(np.mean(flagged[positive]) * np.mean(~flagged[~positive]))

    def slope(theta, target):
        margin = data.y * (data.X @ theta[:d] + theta[d])
        p = 1.0 / (1.0 + np.exp(1.5 * margin))
        values = np.array([p[mask].mean() for mask in masks])
        total = np.zeros(d + 1)
        for k, mask in enumerate(masks):
            pull = -1.5 * p[mask] * (1.0 - p[mask]) * data.y[mask] / mask.sum()
            own = np.append(pull @ data.X[mask], pull.sum())
            total += 2.0 * max(values[k] - target[k], 0.0) * own
        return total

    theta, squares, path = np.zeros(d + 1), np.full(d + 1, 0.1), []
    for _ in range(iterations):
        moved = np.tile(theta, (m, 1))
        moved[:, :d] += rng.standard_normal((m, d))
        H = np.stack([profile(one) - profile(theta) for one in moved])
        M = np.array([cost(one) - cost(theta) for one in moved])
        gradient = np.linalg.lstsq(np.column_stack([H, np.ones(m)]), M, rcond=None)[0][:4]
        here = profile(theta)
        target = np.array([here[1], here[1], here[3], here[3]]) - gradient
        for _ in range(inner):
            own = slope(theta, target)
            squares += own * own
            theta = theta - own / np.sqrt(squares)
        path.append((cost(theta), theta))
    return path


def test_the_notebooks_loop_is_followed_step_by_step(problem):
    loop = NotebookDescent(
        iterations=12,
        gradient=NotebookDescent().gradient.__class__(m=20, sigma=1.0, sides="one"),
        projection=Adagrad(iterations=7, persistent=True),
    )
    walk = list(loop.iterate(Ledger(problem), np.zeros(5), np.random.default_rng(5)))[1:]
    plain = plain_notebook(problem, np.random.default_rng(5), 12, 20, 7)
    for iteration, (cost, theta) in zip(walk, plain, strict=True):
        np.testing.assert_allclose(iteration.theta, theta, rtol=1e-8, atol=1e-10)
        assert iteration.cost == pytest.approx(cost)


def test_only_every_tenth_iterate_may_become_the_model(problem):
    run = NotebookDescent(iterations=15).run(
        Ledger(problem), [np.zeros(5)], np.random.default_rng(0)
    )
    assert run.best.number in (1, 11)
    assert run.cost == min(
        iteration.cost for iteration in run.iterations if iteration.number in (1, 11)
    )


@pytest.mark.parametrize("method", ["paper", "notebook"])
def test_published_methods_start_at_zero_on_features_as_they_are(method):
    X, y = make_classification(150, 3, n_informative=2, n_redundant=0, random_state=0)
    groups = np.arange(150) % 2
    settings = {"max_metric_calls": 300, "random_state": 0}
    given = {"groups": groups, "X_val": X, "y_val": y, "groups_val": groups}
    clf = MetricClassifier("f1", method=method, **settings).fit(2.0 * X + 1.0, y, **given)
    assert len({row["start"] for row in clf.history_}) == 1
    zero = 1.0 if method == "paper" else 0.5  # the hinge and the sigmoid at zero
    np.testing.assert_allclose(clf.history_[0]["profile"], np.full(4, zero))
    raw = MetricClassifier("f1", method=method, standardize=False, **settings)
    assert np.array_equal(raw.fit(2.0 * X + 1.0, y, **given).coef_, clf.coef_)
    scaled = MetricClassifier("f1", method=method, standardize=True, **settings)
    assert not np.array_equal(scaled.fit(2.0 * X + 1.0, y, **given).coef_, clf.coef_)


def test_features_far_from_one_are_warned_of():
    X, y = make_classification(100, 3, n_informative=2, n_redundant=0, random_state=0)
    clf = MetricClassifier("f1", method="paper", max_metric_calls=60, random_state=0)
    with pytest.warns(MetricWarning, match="does not scale the features"):
        clf.fit(1000.0 * X, y)


def test_rankers_have_the_papers_three_surrogates():
    X, y = make_classification(100, 3, n_informative=2, n_redundant=0, random_state=0)
    ranker = MetricRanker("prbep", method="paper", max_metric_calls=30, random_state=0).fit(X, y)
    assert len(ranker.surrogates_) == 3


def test_a_history_is_a_data_frame_and_survives_pickling():
    X, y = make_classification(100, 3, n_informative=2, n_redundant=0, random_state=0)
    clf = MetricClassifier("f1", method="notebook", max_metric_calls=500, random_state=0).fit(X, y)
    frame = clf.history_.to_frame()
    assert len(frame) == len(clf.history_) > 2
    names = [f"{what} {name}" for what in ("profile", "weights") for name in clf.surrogates_]
    assert set(names) | {"iteration", "cost", "calls", "seconds"} <= set(frame.columns)
    assert frame["cost"].tolist() == [row["cost"] for row in clf.history_]
    assert np.isnan(frame[f"gradient {clf.surrogates_[0]}"][0])
    again = pickle.loads(pickle.dumps(clf.history_))
    assert again.to_frame().equals(frame)


def test_tables_are_written_for_latex():
    text = latex(["data", "method", "ours"], [["A & B", "50 %", "0.1 ± 0.2"], ["C_1", "–", "1"]])
    assert text.startswith("\\begin{tabular}{llr}\n\\toprule\n")
    assert "A \\& B & 50 \\% & 0.1 $\\pm$ 0.2 \\\\" in text
    assert "C\\_1 & -- & 1 \\\\" in text
