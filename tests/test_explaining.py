"""Explaining a metric: formulas, prices, limits and what is not understood."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from anymetric import MetricClassifier, MetricRegressor
from anymetric.explaining import Record, explain_metric
from anymetric.metrics import as_metric

N = 500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(100)
    y = np.where(rng.random(N) < 0.3, 1.0, -1.0)
    groups = np.where(rng.random(N) < 0.4, "women", "men")
    amount = rng.lognormal(2.0, 1.0, N)
    return Record(y, {"groups": groups, "amount": amount}, (0, 1), y + rng.normal(0.0, 1.2, N))


def explained(function, rows, **settings):
    return explain_metric(as_metric(function, greater_is_better=True), rows, **settings)


def unseen(rows, count=60, seed=7):
    """Return decisions of random classifiers, weak and strong, strict and lenient."""
    rng = np.random.default_rng(seed)
    truth = rows.y[:, None] > 0
    odds = rng.uniform(-3.0, 2.0, count) + rng.uniform(0.0, 3.0, count) * truth
    return (rng.random((len(truth), count)) < 1.0 / (1.0 + np.exp(-odds))).astype(int)


def by_group(groups, rate):
    return [rate(groups == name) for name in ("men", "women")]


def costs(y_true, y_pred):
    return -5.0 * np.sum((y_true == 1) & (y_pred == 0)) - np.sum((y_true == 0) & (y_pred == 1))


def costs_of_women(y_true, y_pred, groups):
    missed = (y_true == 1) & (y_pred == 0)
    return (
        -3.1 * sum(missed[groups == "women"]) - sum(missed[groups == "men"]) - sum(y_pred > y_true)
    )


def worst_recall(y_true, y_pred, groups):
    return min(by_group(groups, lambda own: recall_score(y_true[own], y_pred[own])))


def floor(y_true, y_pred):
    return precision_score(y_true, y_pred) if recall_score(y_true, y_pred) >= 0.8 else 0.0


def cap(y_true, y_pred):
    return min(300.0, 10.0 * sum(y_true * y_pred) - 2.0 * sum(y_pred))


def cents(y_true, y_pred):
    return round(4.2 * np.mean(y_true * y_pred) - 1.1 * np.mean((1 - y_true) * y_pred), 2)


def parity(y_true, y_pred, groups):
    shares = by_group(groups, lambda own: y_pred[own].mean())
    return np.mean(y_true == y_pred) - 0.5 * abs(shares[0] - shares[1])


def capacity(y_true, y_pred):
    return np.mean(y_true * y_pred) - 4.0 * max(0.0, y_pred.mean() - 0.25)


def smoothed(y_true, y_pred):
    return sum(y_true * y_pred) / (sum(y_pred) + 20.0)


def rescued(y_true, y_pred, amount):
    return sum(amount * y_true * y_pred) - 3.0 * sum(y_pred)


FORMULAS = [
    (lambda y_true, y_pred: fbeta_score(y_true, y_pred, beta=2), "F-beta with beta 2"),
    (lambda y_true, y_pred: 1.0 - f1_score(y_true, y_pred), "1 - F1"),
    (lambda y_true, y_pred: matthews_corrcoef(y_true, y_pred), "MCC"),
    (lambda y_true, y_pred: balanced_accuracy_score(y_true, y_pred), "balanced accuracy"),
    (costs, "-false alarms - 5 x (missed 1)"),
    (costs_of_women, "-false alarms - missed 1 in men - 3.1 x (missed 1 in women)"),
    (worst_recall, "recall of the worst group"),
    (floor, "precision where recall >= 0.8, otherwise 0"),
    (cap, "-2 x (false alarms) + 8 x (found 1), at most 300"),
    (cents, "(-1.1 x (false alarms) + 4.2 x (found 1)) per row, rounded to 0.01"),
    (parity, "accuracy - 0.5 x (gap in share flagged between groups)"),
    (capacity, "(found 1) per row - 4 x (what share flagged is above 0.25)"),
    (smoothed, "(true positives) / (20 + true positives + false alarms)"),
    (rescued, "-3 x (false alarms) - 3 x (found 1) + amount of found 1"),
]


@pytest.mark.parametrize(("function", "formula"), FORMULAS, ids=[one[1] for one in FORMULAS])
def test_a_known_formula_is_named_and_predicts_unseen_decisions(function, formula, rows):
    found = explained(function, rows)
    assert found.formula == formula
    assert found.calls <= 60
    decisions = unseen(rows)
    extra = {name: rows.side[name] for name in as_metric(function, greater_is_better=True).needs}
    truth = (rows.y > 0).astype(int)
    values = [function(truth, one, **extra) for one in decisions.T]
    np.testing.assert_allclose(found.predict(decisions), values, rtol=1e-5, atol=0.011)


def test_prices_are_those_of_the_cost_matrix(rows):
    found = explained(costs_of_women, rows)
    prices = {one.mistake: one.price for one in found.prices}
    assert prices["missed 1 in women"] == pytest.approx(3.1)
    assert prices["missed 1 in men"] == pytest.approx(1.0)
    assert prices["false alarms in men"] == pytest.approx(1.0)
    assert "one missed 1 in women costs as much as 3.1 false alarms" in found.sentences[0]


def test_prices_of_f1_are_its_derivatives(rows):
    found = explained(lambda y_true, y_pred: f1_score(y_true, y_pred), rows)
    truth, flagged = rows.y > 0, rows.scores > 0
    p, tp, k = truth.sum(), (truth & flagged).sum(), flagged.sum()
    alarm, missed = 2.0 * tp / (p + k) ** 2, 2.0 * (p + k - tp) / (p + k) ** 2
    prices = {one.mistake: one.price for one in found.prices}
    assert prices["false alarms"] == pytest.approx(alarm, rel=0.02)
    assert prices["missed 1"] == pytest.approx(missed, rel=0.02)


def test_limits_and_flats_are_said(rows):
    assert any("recall is below 0.8, it is 0" in line for line in explained(floor, rows).limits)
    assert any("flat above 300" in line for line in explained(cap, rows).limits)
    assert any("above 25 % takes off 0.04" in line for line in explained(capacity, rows).limits)
    assert any("steps of 0.01" in line for line in explained(cents, rows).limits)


def test_what_is_not_read_is_said(rows):
    def caught(y_true, y_pred, groups):
        return recall_score(y_true, y_pred)

    unread = " ".join(explained(caught, rows).unread)
    assert "groups" in unread
    assert "class 0" in unread
    assert "class 1" not in unread
    assert "groups" not in " ".join(explained(worst_recall, rows).unread)


def test_what_reads_the_order_of_rows_is_not_understood(rows):
    def later(y_true, y_pred):
        return float(np.average(y_true == y_pred, weights=1.0 + np.arange(len(y_true))))

    found = explained(later, rows)
    assert not found.understood
    assert found.formula is None
    assert "reads the order of the rows" in found.headline
    assert np.all(np.isnan(found.predict(unseen(rows))))


def test_what_reads_other_rows_than_it_says_is_not_understood(rows):
    secret = np.random.default_rng(3).lognormal(0.0, 2.0, N) ** 2

    def hidden(y_true, y_pred, amount):
        key = np.argsort(np.argsort(amount, kind="stable"), kind="stable")
        return float(np.sqrt((secret[key] * y_true * y_pred).sum()))

    found = explained(hidden, rows)
    assert not found.understood
    assert "permuted within a class and group" in found.headline


def test_noise_is_called_noise(rows):
    rng = np.random.default_rng(0)
    found = explained(lambda y_true, y_pred: rng.random(), rows)
    assert not found.understood
    assert "noise" in found.headline
    assert found.noise > 0.1


def test_a_noisy_formula_is_named_within_its_noise(rows):
    rng = np.random.default_rng(0)
    found = explained(lambda y_true, y_pred: f1_score(y_true, y_pred) + rng.normal(0, 0.01), rows)
    assert found.formula == "F1"
    assert 0.003 < found.noise < 0.03


def test_an_unknown_function_of_counts_is_learned(rows):
    def odd(y_true, y_pred):
        return np.log1p(sum(y_true * y_pred)) - 0.01 * sum((1 - y_true) * y_pred)

    found = explained(odd, rows)
    assert found.understood
    assert found.formula is None
    decisions, truth = unseen(rows), (rows.y > 0).astype(int)
    values = np.array([odd(truth, one) for one in decisions.T])
    close = np.abs(found.predict(decisions) - values) <= 0.02 * np.abs(values).mean()
    assert close.mean() > 0.9


def test_a_metric_of_scores_reads_their_order_or_their_sizes(rows):
    assert "reads their order" in explain_metric(as_metric("average_precision"), rows).headline

    def brier(y_true, y_prob):
        return -np.mean((y_true - y_prob) ** 2)

    assert "reads their sizes" in explained(brier, rows).headline

    def at_zero(y_true, y_score):
        return f1_score(y_true, y_score > 0)

    assert explained(at_zero, rows).formula == "F1"


def test_three_classes_have_a_cost_matrix_and_macro_f1():
    from anymetric.metrics import Classes
    from anymetric.metrics.multiclass import MulticlassMetric

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400).astype(float)
    scores = np.eye(3)[y.astype(int)] + rng.normal(0.0, 0.7, (400, 3))
    record = Record(y, {}, Classes(("a", "b", "c")), scores)
    price = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])

    def bill(y_true, y_pred):
        place = {"a": 0, "b": 1, "c": 2}
        return sum(price[place[t], place[p]] for t, p in zip(y_true, y_pred, strict=True))

    found = explain_metric(MulticlassMetric(as_metric(bill, greater_is_better=False)), record)
    assert found.understood
    prices = {(one.true, one.predicted): one.price for one in found.prices}
    assert prices["a", "c"] == pytest.approx(4.0)
    assert prices["b", "c"] == pytest.approx(1.0)

    def macro(y_true, y_pred):
        return f1_score(y_true, y_pred, average="macro")

    found = explain_metric(MulticlassMetric(as_metric(macro, greater_is_better=True)), record)
    assert found.formula == "macro F1"


@pytest.fixture(scope="module")
def table():
    return make_classification(300, weights=[0.7], flip_y=0.1, random_state=1)


def test_a_fitted_estimator_explains_its_metric_within_the_budget(table):
    calls = []

    def counted(y_true, y_pred):
        calls.append(1)
        return fbeta_score(y_true, y_pred, beta=0.5)

    settings = {"model": "linear", "greater_is_better": True, "random_state": 0}
    clf = MetricClassifier(counted, max_metric_calls=60, **settings).fit(*table)
    fitted, room = len(calls), 60 - clf.n_metric_calls_
    found = clf.metric_.explain()
    assert len(calls) - fitted == found.calls <= room
    assert found.answers > found.calls  # the fit's own answers count
    assert len(calls) <= 60
    assert clf.metric_ == as_metric(counted, greater_is_better=True)


def test_an_explanation_survives_pickling_and_costs_nothing_twice_with_a_ledger(table, tmp_path):
    clf = MetricClassifier(
        make_scorer(f1_score), model="linear", random_state=0, ledger=tmp_path / "run.db"
    ).fit(*table)
    first = clf.metric_.explain(max_calls=40)
    again = pickle.loads(pickle.dumps(clf)).metric_.explain(max_calls=40)
    assert first.formula == again.formula == "F1"
    assert str(first).splitlines()[0].endswith("is F1.")


def test_numbers_are_refused_with_a_sentence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    reg = MetricRegressor("mean_absolute_error", model="linear", random_state=0)
    found = reg.fit(X, X[:, 0] + rng.normal(0, 0.1, 200)).metric_.explain()
    assert not found.understood
    assert found.headline.startswith("mean_absolute_error puts no price on kinds of mistakes")


def test_the_answers_of_a_fit_may_do(table):
    clf = MetricClassifier(
        lambda y_true, y_pred: fbeta_score(y_true, y_pred, beta=2),
        greater_is_better=True,
        model="linear",
        random_state=0,
    ).fit(*table)
    found = clf.metric_.explain(max_calls=0)
    assert found.calls == 0
    assert found.formula == "F-beta with beta 2"


def test_without_any_answer_nothing_is_claimed(rows):
    found = explained(costs, rows, max_calls=0)
    assert not found.understood
    assert "no answers" in found.headline


def test_the_report_has_a_section_on_the_metric(table):
    from anymetric.report import gather, page

    X, y = table
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(X[:200], y[:200])
    run = gather(clf, X[200:], y[200:])
    assert run.explanation["formula"] == "F1"
    html = page(run)
    assert "What the metric values" in html
    assert "f1 is F1." in html


def test_a_run_on_the_command_line_explains_its_metric(table, tmp_path, monkeypatch):
    pandas, testing = pytest.importorskip("pandas"), pytest.importorskip("typer.testing")
    pytest.importorskip("skops")
    from anymetric.cli import commands  # noqa: F401 - it fills the app
    from anymetric.cli.app import app

    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame(table[0], columns=[f"x{k}" for k in range(table[0].shape[1])])
    frame.assign(y=np.where(table[1] > 0, "spam", "ham")).to_csv("rows.csv", index=False)
    runner = testing.CliRunner()
    asked = "fit rows.csv --target y --positive spam --metric f1 --model linear --run run --quiet"
    assert runner.invoke(app, asked.split()).exit_code == 0
    shown = runner.invoke(app, ["explain", "run", "--top", "1"]).output
    assert "f1 is F1." in shown
    assert "missed spam" in shown
