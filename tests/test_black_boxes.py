"""Functions and scorers of the user's: what they are given, how often, and what a failure costs."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss, mean_absolute_error, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from anymetric import MetricClassifier, MetricError, MetricRanker, MetricRegressor, metric, scorer
from anymetric.auto import Auto
from anymetric.errors import MetricWarning
from anymetric.models import Reweighted
from anymetric.report.sample import Sample
from anymetric.solution import Status


@metric(greater_is_better=False)
def mae(y_true, y_pred):
    return float(np.mean(np.abs(y_true - y_pred)))


@metric(greater_is_better=True)
def weighted_accuracy(y_true, y_pred, sample_weight=None):
    return float(np.average(y_true == y_pred, weights=sample_weight))


def hits(y_true, y_pred):
    return np.mean(y_true == y_pred)


def by_second_column(estimator, X, y):
    """A scorer that looks at the features."""
    return float(np.average(estimator.predict(X) == y, weights=1.0 + (X[:, 1] > 0.0)))


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(300, 3))
    return X, 100.0 + X @ [3.0, 1.0, 0.0] + rng.normal(size=300)


@pytest.mark.parametrize("asked", [mae, "neg_mean_absolute_error", "mean_absolute_error"])
@pytest.mark.parametrize("standardize", [True, False])
def test_numbers_have_no_threshold_whatever_is_asked(numbers, asked, standardize):
    X, y = numbers
    reg = MetricRegressor(asked, standardize=standardize, model="linear", random_state=0).fit(X, y)
    assert mean_absolute_error(y, reg.predict(X)) < 0.9


def test_a_function_of_numbers_has_resamples_of_its_own(numbers):
    X, y = numbers
    named, own = (
        MetricRegressor(m, model="linear", random_state=0).fit(X, y)
        for m in ("mean_absolute_error", mae)
    )
    assert own.summary_.error == pytest.approx(named.summary_.error, rel=0.5)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_scorer_that_looks_at_the_features_gets_them_everywhere(classes):
    X, y = make_classification(400, n_informative=4, n_classes=classes, random_state=0)
    seen = []

    def watching(estimator, X, y):
        seen.append(np.ptp(X[:, 1]) > 0.0)
        return by_second_column(estimator, X, y)

    clf = MetricClassifier(watching, model="linear", random_state=0).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert all(seen)
    assert clf.score(X[300:], y[300:]) == pytest.approx(
        by_second_column(clf, X[300:], y[300:]), abs=1e-12
    )
    assert scorer(by_second_column)(clf, X, y) == pytest.approx(by_second_column(clf, X, y))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_page_reads_the_probabilities_that_a_model_states(classes):
    X, y = make_classification(400, n_informative=4, n_classes=classes, random_state=0)
    ours = MetricClassifier("neg_log_loss", model="linear", random_state=0).fit(X, y)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:200], y[:200])
    sample = Sample.of({"anymetric": ours, "forest": forest}, X, y)
    stated = -log_loss(y, forest.predict_proba(X))
    np.testing.assert_allclose(sample.values()[1], stated, rtol=1e-6)
    assert scorer("neg_log_loss")(forest, X, y) == pytest.approx(stated, rel=1e-6)


@pytest.mark.parametrize("model", [RandomForestClassifier, KNeighborsClassifier])
def test_models_that_state_a_table_a_label_are_scored(model):
    X, y = make_multilabel_classification(200, n_classes=4, random_state=0)
    fitted = model().fit(X[:100], y[:100])
    expected = f1_score(
        y, np.column_stack([p[:, 1] > 0.5 for p in fitted.predict_proba(X)]), average="micro"
    )
    assert scorer("f1_micro")(fitted, X, y) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_failure_at_the_very_end_leaves_the_best_so_far(classes):
    X, y = make_classification(300, n_informative=4, n_classes=classes, random_state=0)
    calls = []

    def failing(y_true, y_pred):
        calls.append(1)
        if len(calls) == last:
            raise RuntimeError("down")
        return float(np.mean(y_true == y_pred))

    last = 0
    MetricClassifier(metric(failing, greater_is_better=True), model="linear", random_state=0).fit(
        X, y
    )
    last, calls[:] = len(calls), []
    clf = MetricClassifier(
        metric(failing, greater_is_better=True), model="linear", on_error="raise", random_state=0
    )
    with pytest.raises(MetricError) as caught:
        clf.fit(X, y)
    assert caught.value.best is clf
    assert len(clf.history_) > 5
    assert clf.cost_ == min(iteration["cost"] for iteration in clf.history_)


@pytest.mark.parametrize("calls", [6, 60])
def test_processes_change_neither_the_answer_nor_how_it_ended(calls):
    X, y = make_classification(300, weights=[0.8], random_state=0)
    learners = Reweighted(DecisionTreeClassifier(max_depth=2)), Reweighted(GaussianNB())
    found = [
        MetricClassifier(
            "f1",
            method=Auto(learners=learners, linear=False),
            max_metric_calls=calls,
            n_jobs=jobs,
            model="linear",
            random_state=0,
        ).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
        for jobs in (None, 2)
    ]
    assert found[0].status_ == found[1].status_
    assert len(found[0].history_) == len(found[1].history_)
    np.testing.assert_array_equal(*(clf.decision_function(X) for clf in found))


def test_few_calls_about_many_classes_are_kept_for_resamples():
    X, y = make_classification(300, n_informative=4, n_classes=3, random_state=0)
    clf = MetricClassifier("roc_auc_ovr", max_metric_calls=200, model="linear", random_state=0)
    clf.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert clf.summary_.error > 0.0


@pytest.mark.parametrize("classes", [2, 3])
def test_a_group_that_weighs_nothing_is_not_there(classes):
    y = np.arange(30) % classes
    side = {"groups": np.repeat(["a", "b", "none"], 10)}
    weights = np.repeat([1.0, 2.0, 0.0], 10)
    X = np.eye(classes)[y] + 0.01 * np.arange(30)[:, np.newaxis]
    clf = MetricClassifier("worst_group_accuracy", model="linear", random_state=0).fit(
        X, y, groups=side["groups"]
    )
    assert clf.score(X, y, weights, groups=side["groups"]) == 1.0


def test_a_warning_points_at_the_users_line():
    X, y = make_classification(100, random_state=0)
    always = metric(lambda y_true, y_pred: 0.5, greater_is_better=True, on="decisions", needs=())
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        MetricClassifier(always, model="linear", random_state=0).fit(X, y)
    assert [w.filename for w in seen if w.category is MetricWarning] == [__file__]


def test_nobody_is_flagged_where_that_pays_most(rng):
    X, y = rng.normal(size=(400, 4)), (rng.random(400) < 0.2).astype(int)

    @metric(greater_is_better=True)
    def profit(y_true, y_pred):
        return float(10 * np.sum((y_true == 1) & (y_pred == 1)) - 20 * np.sum(y_pred == 1))

    assert MetricClassifier(profit, model="linear", random_state=0).fit(X, y).score(X, y) == 0.0


def test_the_average_is_never_far_behind_the_best_candidate():
    """Each candidate is precise about other rows; together they would flag nobody."""
    X, y = make_classification(
        600, 8, n_informative=3, n_redundant=1, weights=[0.7], flip_y=0.05, random_state=11
    )
    clf = MetricClassifier("precision", model="linear", random_state=0)
    clf.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert clf.validation_score_ > 0.8
    assert clf.predict(X[300:]).any()


@pytest.mark.parametrize("model", ["regressor", "two", "three"])
def test_weights_that_sum_to_one_are_no_single_row(model, rng):
    X = rng.normal(size=(400, 5))
    z = X @ np.arange(5.0) + rng.normal(size=400)
    target = {"regressor": z, "two": z > 1.0, "three": np.digitize(z, [-3.0, 3.0])}[model]
    kind = MetricRegressor("r2") if model == "regressor" else MetricClassifier("accuracy")
    kind.set_params(random_state=0)
    one, small = (
        clone(kind).fit(X, target, sample_weight=np.full(400, w)).predict(X) for w in (1.0, 1 / 400)
    )
    if model == "regressor":
        np.testing.assert_allclose(one, small, rtol=1e-6)
    else:
        assert np.mean(one == small) > 0.99


def test_a_scorer_reads_an_estimators_own_decisions_and_labels():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring="recall").fit(X, y)
    assert scorer("recall")(tuned, X, y) == recall_score(y, tuned.predict(X))
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    pairs = SVC(decision_function_shape="ovo").fit(X, three)
    assert scorer("accuracy")(pairs, X, three) == pairs.score(X, three)
    with pytest.raises(ValueError, match="never seen"):
        scorer("accuracy")(pairs, X, three + 1)


def test_a_gap_that_training_never_had_is_filled_for_many_classes():
    X, y = make_classification(300, n_informative=4, n_classes=3, random_state=0)
    clf = MetricClassifier("macro_f1", model="auto", random_state=0).fit(X, y)
    X = X.copy()
    X[:, 3] = np.nan
    assert np.isfinite(clf.decision_function(X)).all()


def test_a_metric_of_numbers_is_refused_for_classes():
    X, y = make_classification(100, random_state=0)
    with pytest.raises(ValueError, match="take MetricRegressor"):
        MetricClassifier("mean_absolute_error").fit(X, y)


@pytest.mark.parametrize("calls", [1, 2, 3, 5])
def test_a_few_calls_end_with_the_budget_and_a_sound_model(calls):
    X, y = make_classification(900, 10, weights=[0.7], flip_y=0.02, random_state=3)
    plain = LogisticRegression().fit(X[:600], y[:600]).score(X[600:], y[600:])
    own = metric(hits, greater_is_better=True)
    clf = MetricClassifier(own, max_metric_calls=calls, model="linear", random_state=0).fit(
        X[:600], y[:600]
    )
    assert clf.status_ is Status.BUDGET
    assert clf.score(X[600:], y[600:]) > plain - 0.03


def test_indices_of_sparse_rows_may_be_long():
    X, y = make_classification(200, random_state=0)
    long = sparse.csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    found = [
        MetricClassifier("f1", model="linear", random_state=0).fit(Z, y).coef_ for Z in (X, long)
    ]
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_resamples_keep_every_class_of_every_group(rng):
    groups = np.where(np.arange(400) < 40, "b", "a")
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + rng.normal(size=400) > 0.8).astype(int)
    y[:40] = np.arange(40) < 2

    @metric(greater_is_better=True)
    def worst_recall(y_true, y_pred, groups):
        found = [np.mean(y_pred[(groups == g) & (y_true == 1)]) for g in "ab"]
        return float(min(found) - np.mean(y_pred))

    clf = MetricClassifier(worst_recall, model="linear", random_state=0).fit(X, y, groups=groups)
    assert clf.validation_score_ > 0.0


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("estimator", [MetricClassifier("f1"), MetricRegressor("r2")])
def test_y_may_be_one_column(estimator):
    X, y = make_classification(120, random_state=0)
    table = pd.DataFrame({"y": y})
    assert np.isfinite(cross_val_score(estimator, X, table, cv=3)).all()
    scoring = scorer("accuracy" if is_classifier(estimator) else "r2")
    assert np.isfinite(cross_val_score(estimator, X, table, cv=3, scoring=scoring)).all()


def test_a_perfect_model_is_no_reason_to_warn():
    X, y = load_iris(return_X_y=True)
    own = metric(hits, greater_is_better=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetricWarning)
        assert (
            MetricClassifier(own, model="linear", random_state=0).fit(X, y == 0).score(X, y == 0)
            == 1.0
        )


@pytest.mark.parametrize("kind", ["pandas", "numbered", "polars"])
def test_categories_are_read_from_any_frame(kind):
    X, y = make_classification(200, 3, n_redundant=0, random_state=0)
    word = np.where(X[:, 0] > 0.0, "u", "v")
    frame = pd.DataFrame({"a": X[:, 1], "k": pd.Categorical(word)})
    if kind == "numbered":
        frame.columns = [0, 1]
    if kind == "polars":
        frame = pl.DataFrame({"a": X[:, 1], "k": pl.Series(word, dtype=pl.Categorical)})
    clf = MetricClassifier("accuracy", model="boosted", random_state=0).fit(frame, y)
    known = MetricClassifier("accuracy", model="boosted", random_state=0)
    known.fit(pd.DataFrame({"a": X[:, 1], "k": pd.Categorical(word)}), y)
    np.testing.assert_allclose(
        clf.decision_function(frame),
        known.decision_function(pd.DataFrame({"a": X[:, 1], "k": pd.Categorical(word)})),
    )


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"linear": False}])
def test_settings_of_the_default_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Auto(**wrong)


class Stops:
    """A metric at which the user loses patience."""

    def __init__(self, after):
        self.left = after

    def __call__(self, y_true, y_pred):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        # Later rows weigh a little more: what it would say cannot be told from counts.
        late = 1.0 + 0.01 * np.arange(len(y_true)) / len(y_true)
        return float(np.average(y_true == y_pred, weights=late))


@pytest.mark.parametrize(
    ("method", "classes"),
    [("auto", 2), ("descent", 2), ("paper", 2), ("auto", 3), ("descent", 3)],
)
def test_a_fit_that_is_interrupted_has_the_best_model_so_far(method, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    after = 50_000 if method == "paper" else 500
    clf = MetricClassifier(
        Stops(after), method=method, greater_is_better=True, model="linear", random_state=0
    )
    with pytest.raises(KeyboardInterrupt) as stopped:
        clf.fit(X, y)
    assert stopped.value.best is clf
    assert clf.status_ is Status.STOPPED
    assert clf.n_metric_calls_ <= after
    assert np.mean(clf.predict(X) == y) > 0.8


def test_a_fit_that_is_interrupted_at_once_has_no_model():
    X = np.random.default_rng(0).normal(size=(50, 2))
    clf = MetricClassifier(Stops(0), greater_is_better=True)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, X[:, 0] > 0)
    with pytest.raises(NotFittedError):
        clf.predict(X)


@pytest.mark.parametrize("budget", [1, 2, 5, 20])
def test_rankings_by_a_function_take_any_budget(budget):
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    y = (X[:, 0] + rng.normal(size=200) > 0.5).astype(int)
    calls = []

    def first_hits(y_true, y_score, query):
        calls.append(1)
        places = [np.flatnonzero(query == q) for q in np.unique(query)]
        return float(np.mean([y_true[p[np.argmax(y_score[p])]] > 0 for p in places]))

    ranker = MetricRanker(
        first_hits, greater_is_better=True, max_metric_calls=budget, model="linear", random_state=0
    )
    ranker.fit(X, y, query=query)
    assert len(calls) == ranker.n_metric_calls_ <= budget
    assert ranker.validation_score_ >= 0.6


@pytest.mark.parametrize("budget", [1, 3, 20])
def test_the_grid_of_the_paper_takes_any_budget(budget):
    X = np.random.default_rng(0).normal(size=(100, 2))
    asked = Stops(budget)
    clf = MetricClassifier(asked, method="paper", greater_is_better=True, max_metric_calls=budget)
    clf.fit(X, X[:, 0] > 0)
    assert clf.n_metric_calls_ == budget - asked.left <= budget
