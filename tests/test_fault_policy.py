"""A black box that fails, hangs or varies: what a fit makes of it, and what it costs."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import f1_score

from anymetric import FaultPolicy, MetricClassifier, MetricError, MetricRegressor, Run, ToldMetric
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.gradients import FiniteDifferences, LinearInterpolation, Subspace, TwoStep
from anymetric.ledger import Ledger
from anymetric.metrics import as_metric
from anymetric.metrics.evaluations import Direct, answered_by
from anymetric.metrics.faults import RAISE, SKIP, Conduct
from anymetric.problem import Problem
from anymetric.solution import Status
from anymetric.store import open_store
from anymetric.surrogates import per_class

pytestmark = pytest.mark.filterwarnings("ignore:.*evaluations failed and were left out")
X, Y = make_classification(500, 6, weights=[0.8], flip_y=0.1, random_state=100)
THREE = make_classification(240, 6, n_informative=4, n_classes=3, random_state=100)
NUMBERS = make_regression(200, 4, noise=20.0, random_state=100)


class Box:
    """A function whose calls are counted, and may be disturbed: by number and value."""

    __name__ = "box"

    def __init__(self, function, disturb=lambda call, value: value):
        self.function, self.disturb, self.calls = function, disturb, 0

    def __call__(self, y_true, y_pred):
        self.calls += 1
        return self.disturb(self.calls, self.function(y_true, y_pred))

    def __repr__(self):
        return "Box()"


def f1(y_true, y_pred):
    return float(f1_score(y_true, y_pred, zero_division=0.0))


def hits(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def by_place(y_true, y_pred):
    return float(np.average(y_true == y_pred, weights=1.0 + np.arange(len(y_true)) % 3))


def closeness(y_true, y_pred):
    return -float(np.mean(np.abs(y_true - y_pred)))


def raised(error):
    raise error


KINDS = {
    "counts": (MetricClassifier, f1, X, Y),
    "rows": (MetricClassifier, by_place, X[:200], Y[:200]),
    "classes": (MetricClassifier, hits, *THREE),
    "numbers": (MetricRegressor, closeness, *NUMBERS),
}
FAULTS = {
    "raises": lambda call: raised(OSError("no licence")),
    "exits": lambda call: raised(SystemExit(3)),
    "nan": lambda call: float("nan"),
    "text": lambda call: "high",
}


def fitted(kind, disturb=lambda call, value: value, **settings):
    estimator, function, X, y = KINDS[kind]
    box = Box(function, disturb)
    settings = {"model": "linear", "random_state": 0, **settings}
    return estimator(box, greater_is_better=True, **settings).fit(X, y), box


@pytest.mark.parametrize(
    ("fault", "at"), [("raises", 1), ("exits", 2), ("nan", 9), ("text", 15), ("raises", 25)]
)
def test_one_failure_costs_one_call_and_changes_nothing(fault, at):
    plain, box = fitted("counts")
    found, again = fitted(
        "counts", lambda call, value: FAULTS[fault](call) if call == at else value
    )
    assert again.calls == found.n_metric_calls_ == box.calls + 1
    np.testing.assert_array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_that_stays_is_a_missing_value(kind):
    settings = {"max_metric_calls": 400}
    plain, _ = fitted(kind, **settings)
    lost = range(7, 10)
    found, again = fitted(
        kind, lambda call, value: float("nan") if call in lost else value, **settings
    )
    assert again.calls == found.n_metric_calls_ <= 400
    assert found.status_ is plain.status_
    assert abs(found.cost_ - plain.cost_) < 0.1 * abs(plain.cost_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [8, 30])
def test_a_fifth_failing_ends_with_a_model_within_the_budget(kind, budget):
    rng = np.random.default_rng(0)
    found, box = fitted(
        kind,
        lambda call, value: float("nan") if rng.random() < 0.2 else value,
        max_metric_calls=budget,
    )
    assert box.calls == found.n_metric_calls_ <= budget
    assert np.isfinite(found.cost_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("last", [1, 5, 17])
def test_a_metric_that_dies_leaves_the_best_model_and_a_named_status(kind, last):
    with pytest.warns(MetricWarning, match="evaluations failed, and one that had been answered"):
        found, box = fitted(
            kind, lambda call, value: raised(OSError("down")) if call > last else value, n_jobs=1
        )
    assert found.status_ is Status.FAULTS
    assert box.calls == found.n_metric_calls_ < last + 60
    assert found.predict(KINDS[kind][2]).shape == KINDS[kind][3].shape


@pytest.mark.parametrize(
    ("error", "most"), [(TypeError("+"), 3), (NameError("x"), 3), (OSError("down"), 12)]
)
def test_a_metric_that_never_answers_is_an_error_that_shows_its_own(error, most):
    boxes = []

    def fit():
        boxes.append(Box(f1, lambda call, value: raised(error)))
        MetricClassifier(boxes[0], greater_is_better=True, random_state=0).fit(X, Y)

    with pytest.raises(MetricError, match=type(error).__name__):
        fit()
    assert boxes[0].calls == most


def test_a_failure_ends_the_fit_where_that_is_asked():
    with pytest.raises(MetricError, match="It was call 20 of the run") as caught:
        fitted(
            "counts", lambda call, value: float("nan") if call == 20 else value, on_error="raise"
        )
    assert caught.value.best.status_ is Status.FAILED


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_who_stops_after_the_first_answer_has_a_model(kind):
    estimator, function, X, y = KINDS[kind]
    box = Box(function, lambda call, value: raised(KeyboardInterrupt()) if call > 1 else value)
    model = estimator(box, greater_is_better=True, model="linear", random_state=0)
    with pytest.raises(KeyboardInterrupt) as stopped:
        model.fit(X, y)
    assert box.calls == 2
    assert stopped.value.best is model
    assert model.status_ is Status.STOPPED
    assert model.predict(X).shape == y.shape


def test_a_function_that_hangs_is_left_behind():
    def disturb(call, value):
        if call in (3, 11):
            time.sleep(3.0)
        return value

    began = time.perf_counter()
    found, box = fitted("counts", disturb, on_error=FaultPolicy(timeout=0.2))
    assert time.perf_counter() - began < 3.0 + fitted("counts")[0].history_[0]["seconds"]
    assert found.status_ is Status.SELECTED
    assert box.calls == found.n_metric_calls_


def test_a_metric_that_fails_in_a_region_is_no_outage():
    def disturb_by(y_true, y_pred):
        if np.mean(y_pred) > 0.3:
            raise ValueError("no more than three tenths can be called")
        return by_place(y_true, y_pred)

    model = MetricClassifier(disturb_by, greater_is_better=True, model="linear", random_state=0)
    model.fit(X[:200], Y[:200])
    assert model.status_ is Status.SELECTED
    assert np.mean(model.predict(X)) < 0.3


def test_failures_and_attempts_replay_from_a_ledger(tmp_path):
    rng = np.random.default_rng(1)
    ledger = tmp_path / "run.db"
    first, box = fitted(
        "counts",
        lambda call, value: float("nan") if rng.random() < 0.5 else value,
        ledger=ledger,
    )
    known = open_store(ledger).known().values()
    assert any(one.failed for one in known)
    assert sum(one.attempt for one in known) == box.calls
    second, again = fitted("counts", ledger=ledger)
    assert again.calls == 0
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.n_metric_calls_ == second.n_metric_calls_


def test_a_question_that_somebody_cannot_answer_is_skipped():
    rating = ToldMetric("rating", greater_is_better=True)
    run = Run(MetricClassifier(rating, max_metric_calls=20, random_state=0), X, Y)
    asked = 0
    while questions := run.ask(4):
        for question in questions:
            asked += 1
            table = question.predictions
            if asked % 6 == 3:
                run.fail(question.key, "the rater is ill")
            else:
                run.tell(question.key, f1(table["y_true"], table["prediction"]))
    assert run.done
    assert asked <= 20
    assert f1(Y, run.best().predict(X)) > 0.4


@pytest.mark.parametrize(
    "estimator",
    [
        Subspace(m=40),
        LinearInterpolation(m=60, sigma=0.5),
        LinearInterpolation(m=60, sigma=0.5, sides="one"),
        FiniteDifferences(m=80),
        TwoStep(m=80),
    ],
    ids=lambda one: type(one).__name__,
)
def test_probes_without_an_answer_are_left_out_of_the_gradient(estimator):
    data = Data(X, np.where(Y, 1.0, -1.0))
    theta = np.append(np.linspace(-0.5, 0.5, X.shape[1]), 0.0)

    def gradient(disturb):
        metric = as_metric(Box(by_place, disturb), greater_is_better=True)
        ledger = Ledger(Problem(data, per_class("hinge"), metric, labels=(0, 1)))
        with answered_by(Direct(Conduct(SKIP))):
            found = estimator.estimate(ledger, ledger.evaluate(theta), np.random.default_rng(0))
        return found.gradient

    whole = gradient(lambda call, value: value)
    rng = np.random.default_rng(1)
    lost = gradient(lambda call, value: float("nan") if rng.random() < 0.6 else value)
    assert np.isfinite(lost).all()
    assert lost @ whole > 0.7 * np.linalg.norm(lost) * np.linalg.norm(whole)


@pytest.mark.parametrize("repeats", [1, 3])
def test_repeats_are_averaged_and_counted(repeats):
    rng = np.random.default_rng(0)
    data = Data(X, np.where(Y, 1.0, -1.0))
    box = Box(hits, lambda call, value: value + rng.normal())
    ledger = Ledger(
        Problem(data, "hinge", as_metric(box, greater_is_better=True), labels=(0, 1)), 3000
    )
    with answered_by(Direct(Conduct(RAISE, repeats))):
        assert ledger.left == 3000 // repeats
        costs = ledger.ask(ledger.problem.judge, np.ones((len(Y), 400)))
    assert box.calls == ledger.calls == 400 * repeats
    assert np.std(costs) == pytest.approx(repeats**-0.5, rel=0.15)


@pytest.mark.parametrize("varied", [1e-6, 0.02])
def test_noise_costs_some_more_calls_not_another_strategy(varied):
    rng = np.random.default_rng(0)
    plain, box = fitted("counts")
    found, again = fitted("counts", lambda call, value: value + varied * rng.normal())
    assert found.summary_.metric_noise == pytest.approx(varied, rel=0.8)
    assert again.calls <= min(box.calls + (5 if varied < 1e-3 else 200), 200)
    assert f1(Y, found.predict(X)) > f1(Y, plain.predict(X)) - 0.03


@pytest.mark.parametrize(
    "wrong", [{"retries": -1}, {"max_share": 1.5}, {"timeout": 0.0}, {"backoff": -1.0}]
)
def test_settings_of_a_policy_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FaultPolicy(**wrong)
