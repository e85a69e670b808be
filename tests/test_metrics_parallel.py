"""A slow metric in several processes answers as it does in one."""

import time

import numpy as np
import pytest

from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import MetricError, as_metric, direct
from anymetric.metrics.evaluations import Question, asked
from anymetric.problem import Problem


def flagged(y_true, y_pred):
    time.sleep(0.006)
    return float(np.mean(y_pred))


def failing(y_true, y_pred):
    time.sleep(0.006)
    if y_pred.sum() in (3, 5):
        raise ZeroDivisionError(f"{y_pred.sum()} flagged")
    return float(np.mean(y_pred))


def ledger_of(function, **settings):
    rng = np.random.default_rng(0)
    data = Data(rng.normal(size=(8, 2)), np.where(np.arange(8) % 2, 1.0, -1.0))
    metric = as_metric(function, greater_is_better=True)
    return Ledger(Problem(data, "logistic", metric, labels=(0, 1)), **settings)


def growing(n=8):
    """Score vectors that flag 0, 1, ..., n rows."""
    return np.where(np.arange(n)[:, np.newaxis] < np.arange(n + 1), 1.0, -1.0)


@pytest.fixture
def processes(monkeypatch):
    """How many calls were shared out."""
    shared = []
    whole = direct._shared_out
    monkeypatch.setattr(
        direct, "_shared_out", lambda rest, n: shared.append(len(rest)) or whole(rest, n)
    )
    return shared


def test_a_slow_metric_is_shared_out_and_answers_in_order(processes):
    one, two = ledger_of(flagged), ledger_of(flagged, n_jobs=2)
    alone, shared = (ledger.ask(ledger.problem.judge, growing()) for ledger in (one, two))
    np.testing.assert_array_equal(alone, shared)
    assert one.calls == two.calls == 9
    assert processes == [8]


def test_a_fast_metric_stays_in_this_process(processes):
    ledger = ledger_of(lambda y_true, y_pred: float(np.mean(y_pred)), n_jobs=2)
    ledger.ask(ledger.problem.judge, growing())
    assert processes == []


def test_the_first_failure_is_reported_with_its_call(processes):
    told = []
    for n_jobs in (None, 2):
        ledger = ledger_of(failing, n_jobs=n_jobs)
        with pytest.raises(MetricError, match="3 flagged") as error:
            ledger.ask(ledger.problem.judge, growing())
        told.append((str(error.value), error.value.probe, error.value.call))
    assert told[0] == told[1]
    assert told[1][1:] == (3, 4)
    assert processes == [8]


def test_calls_made_beside_one_that_fails_are_counted(tmp_path, processes):
    def noted(y_true, y_pred):
        (tmp_path / str(int(y_pred.sum()))).touch()
        return failing(y_true, y_pred)

    for n_jobs in (None, 2):
        ledger = ledger_of(noted, n_jobs=n_jobs)
        with pytest.raises(MetricError):
            ledger.ask(ledger.problem.judge, growing())
        assert ledger.calls == len(list(tmp_path.iterdir())) == (9 if n_jobs else 4)


def test_the_budget_is_honoured_before_any_call(processes):
    ledger = ledger_of(flagged, n_jobs=2, max_calls=8)
    with pytest.raises(BudgetSpent):
        ledger.ask(ledger.problem.judge, growing())
    assert ledger.calls == 0
    assert len(ledger.ask(ledger.problem.judge, growing()[:, :8])) == 8
    assert (ledger.calls, processes) == (8, [7])


def test_judges_of_their_own_are_asked_together(processes):
    ledger = ledger_of(flagged, n_jobs=2)
    judge = ledger.problem.judge
    costs = ledger.ask_each([(judge, column) for column in growing().T])
    np.testing.assert_array_equal(costs, judge.costs(growing()))
    assert (ledger.calls, processes) == (9, [8])
    counted = Problem(ledger.problem.train, "logistic", as_metric("error"))
    ready = Ledger(counted)
    np.testing.assert_array_equal(
        ready.ask_each([(counted.judge, column) for column in growing().T]),
        counted.judge.costs(growing()),
    )


class Unsendable:
    def __reduce__(self):
        raise TypeError("it stays here")


def test_a_metric_that_cannot_be_sent_is_called_here_with_a_warning():
    held = Unsendable()

    def private(y_true, y_pred):
        assert held is not None
        return flagged(y_true, y_pred)

    ledger = ledger_of(private)
    questions = [Question(ledger.problem.judge, column) for column in growing().T]
    with pytest.warns(UserWarning, match="cannot be sent"):
        values = asked(questions, n_jobs=2)
    np.testing.assert_allclose(values, np.arange(9) / 8)
