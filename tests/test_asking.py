"""Offsets of many classes for functions: tuned on few rows, judged on others."""

import numpy as np
import pytest

from anymetric import metric
from anymetric.auto.jury import replicate_weights
from anymetric.auto.pool import FOLDS, dealt
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.many.asking import ENOUGH, AskingJury
from anymetric.metrics import Classes, meant
from anymetric.models import Linear, Outputs
from anymetric.problem import Problem

FOUR = Classes(("a", "b", "c", "d"))
JUDGES = 60


@metric(greater_is_better=True)
def recall(y_true, y_pred):
    return float(np.mean([np.mean(y_pred[y_true == name] == name) for name in np.unique(y_true)]))


@metric(greater_is_better=False)
def dear(y_true, y_pred):
    """Count errors, of the first class eight times."""
    return float(np.mean((y_true != y_pred) * np.where(y_true == "a", 8.0, 1.0)))


def ledger_of(spec, y, max_calls=None):
    data = Data(np.zeros((len(y), 1)), y.astype(float))
    model = Outputs(Linear(), 4)
    problem = Problem(data, [], meant(spec, FOUR), model=model, labels=FOUR)
    return Ledger(problem, max_calls)


def jury_of(ledger, rng):
    valid = ledger.problem.valid
    weights = replicate_weights(len(valid), 20, rng)
    return AskingJury.build(ledger, FOUR, weights, True, dealt(valid, rng))


def tuned(spec, apart, seed):
    """Return what a jury of few rows says of its offsets, and fresh rows with and without them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=JUDGES + 3000)
    scores = rng.normal(size=(len(y), 4)) + apart * np.eye(4)[y]
    told = jury_of(ledger_of(spec, y[:JUDGES]), rng).tune(scores[:JUDGES])
    fresh = ledger_of(spec, y[JUDGES:])
    tables = (scores[JUDGES:] + told.offsets, scores[JUDGES:])
    return told.cost, *(float(fresh.problem.judge.costs(one.reshape(-1))) for one in tables)


@pytest.mark.parametrize("apart", [0.0, 0.8])
def test_offsets_are_judged_on_rows_that_did_not_tune_them(apart):
    said, fresh, _ = np.mean([tuned(recall, apart, seed) for seed in range(20)], axis=0)
    assert said > fresh - 0.04


def test_offsets_that_pay_are_kept():
    _, moved, plain = np.mean([tuned(dear, 0.8, seed) for seed in range(20)], axis=0)
    assert moved < plain - 0.2


@pytest.mark.parametrize(("rows", "max_calls", "turns"), [(60, None, 5), (60, 5000, 0)])
def test_offsets_are_tuned_by_turns_where_calls_are_many(rows, max_calls, turns, rng):
    y = np.arange(rows) % 4
    assert len(jury_of(ledger_of(recall, y, max_calls), rng).others) == turns


def test_many_rows_tune_offsets_at_once(rng):
    assert not jury_of(ledger_of(recall, np.arange(ENOUGH + 1) % 4), rng).others


def test_no_fold_lacks_a_class(rng):
    y = np.append(np.zeros(JUDGES - 3, dtype=int), [1, 2, 3])
    jury = jury_of(ledger_of(recall, y), rng)
    assert len(jury.others) == FOLDS
    for rows, _ in jury.others:
        assert set(y[rows]) == {0, 1, 2, 3}
