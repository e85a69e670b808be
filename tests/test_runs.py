"""Ask and tell: the answers of a person lead where a function's would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression

from anymetric import MetricClassifier, MetricRegressor, Run, ToldMetric
from anymetric.errors import LedgerError
from anymetric.metrics import MetricError
from anymetric.store import open_store


def accuracy(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def answer(question):
    table = question.predictions
    return accuracy(table["y_true"], table["prediction"])


@pytest.fixture(scope="module")
def rows():
    return make_classification(200, 4, weights=[0.7], flip_y=0.1, random_state=0)


def told(**more):
    metric = ToldMetric("rating", greater_is_better=True)
    return MetricClassifier(metric, **{"model": "linear", "random_state": 0, **more})


@pytest.mark.parametrize("budget", [12, 60])
def test_answers_lead_where_calls_do(rows, budget):
    called = MetricClassifier(
        accuracy, greater_is_better=True, model="linear", max_metric_calls=budget, random_state=0
    ).fit(*rows)
    run = Run(told(max_metric_calls=budget), *rows)
    rng, count = np.random.default_rng(0), 0
    while questions := run.ask(5):
        for k in rng.permutation(len(questions)):
            assert run.tell(questions[k].key, answer(questions[k]))
            count += 1
    model = run.best()
    np.testing.assert_array_equal(model.coef_, called.coef_)
    assert model.cost_ == called.cost_
    assert run.done
    assert count == len(run.answers()) <= budget


def test_there_is_a_model_from_the_first_answer_on(rows):
    X, y = rows
    run = Run(told(max_metric_calls=15), X, y)
    with pytest.raises(LedgerError, match="before the first answer"):
        run.best()
    for _ in range(6):
        for question in run.ask(1):
            run.tell(question.key, answer(question))
        assert run.best().predict(X).shape == y.shape


def test_numbers_and_classes_are_asked_about_too():
    X, y = make_regression(80, 3, noise=5.0, random_state=0)
    metric = ToldMetric("error", greater_is_better=False)
    cases = [
        (MetricRegressor(metric, model="linear", max_metric_calls=10, random_state=0), X, y),
        (
            told(max_metric_calls=10),
            *make_classification(
                90, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0
            ),
        ),
    ]
    for model, features, target in cases:
        run = Run(model, features, target)
        while questions := run.ask(3):
            for question in questions:
                assert len(question.predictions["row"]) == len(question.predictions["y_true"])
                run.tell(question.key, float(len(question.key)) + answer(question))
        assert run.best().predict(features).shape == target.shape


def test_several_askers_share_one_ledger_without_overlap(rows, tmp_path):
    runs = [Run(told(max_metric_calls=30), *rows, ledger=tmp_path / "run.db") for _ in range(3)]
    asked = [run.ask(2) for run in runs]
    keys = [question.key for questions in asked for question in questions]
    assert len(set(keys)) == len(keys) == 6
    runs[0].tell(keys[5], 0.5)
    assert not runs[2].tell(keys[5], 0.7)
    assert runs[1].store.known([keys[5]])[keys[5]].value == 0.5


def test_a_lease_runs_out_and_a_late_answer_counts(rows):
    run = Run(told(max_metric_calls=30), *rows, lease=-1.0)
    first, second = run.ask(1)[0], run.ask(1)[0]
    assert first.key == second.key
    assert run.tell(first.key, 0.4)
    assert not run.tell(second.key, 0.9)


def test_a_question_may_have_no_answer(rows):
    run = Run(told(max_metric_calls=40), *rows)
    (question,) = run.ask(1)
    assert run.fail(question.key, "the panel did not meet")
    (found,) = run.answers()
    assert found.failed
    assert "the panel did not meet" in found.error


def test_a_run_in_memory_asks_though_several_processes_were_wanted(rows):
    run = Run(told(method="paper", n_jobs=2, max_metric_calls=40), *rows)
    assert len(run.ask(2)) >= 1


def test_another_run_is_refused(rows, tmp_path):
    X, y = rows
    Run(told(), X, y, ledger=tmp_path / "run.db")
    with pytest.raises(LedgerError, match="y was"):
        Run(told(), X, 1 - y, ledger=tmp_path / "run.db")


def test_a_manual_metric_cannot_be_called(rows):
    with pytest.raises(MetricError, match="are given, not computed"):
        told().fit(*rows)


@pytest.fixture(scope="module")
def open_run(rows):
    run = Run(told(max_metric_calls=30), *rows)
    return run, run.ask(1)[0].key


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=50), st.one_of(st.text(max_size=20), st.floats(), st.none(), st.binary()))
def test_any_tell_is_taken_or_clearly_refused(open_run, key, value):
    run, known = open_run
    before = len(run.answers())
    with pytest.raises(LedgerError, match="No question has the key"):
        run.tell(key, 0.5)
    try:
        number = float(value) if isinstance(value, str | float) else np.nan
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        with pytest.raises(LedgerError, match="one finite number"):
            run.tell(known, value)
        assert len(run.answers()) == before


def test_a_store_can_be_given(rows):
    store = open_store()
    run = Run(told(max_metric_calls=12), *rows, ledger=store)
    run.ask(1)
    assert store.status == "begun"
    assert len(store.leases()) == 1
