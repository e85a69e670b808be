"""Functions and scorers of the user's: what they are given, how often, and what a failure costs."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score, log_loss, mean_absolute_error
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from anymetric import MetricClassifier, MetricError, MetricRegressor, metric, scorer
from anymetric.auto import Auto
from anymetric.auto.jury import bind_replicate, replicate_weights
from anymetric.auto.learned import AutoLearned
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.metrics import as_metric
from anymetric.models import Reweighted
from anymetric.report.sample import Sample


@metric(greater_is_better=False)
def mae(y_true, y_pred):
    return float(np.mean(np.abs(y_true - y_pred)))


@metric(greater_is_better=True)
def weighted_accuracy(y_true, y_pred, sample_weight=None):
    return float(np.average(y_true == y_pred, weights=sample_weight))


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
    reg = MetricRegressor(asked, standardize=standardize, random_state=0).fit(X, y)
    assert mean_absolute_error(y, reg.predict(X)) < 0.9


def test_a_function_of_numbers_has_replicates_of_its_own(numbers):
    X, y = numbers
    named, own = (
        MetricRegressor(m, random_state=0).fit(X, y) for m in ("mean_absolute_error", mae)
    )
    assert own.settings_["error"] == pytest.approx(named.settings_["error"], rel=0.5)


@pytest.mark.parametrize("asked", [weighted_accuracy, "accuracy", "matthews_corrcoef"])
def test_replicates_are_about_the_metric_itself(asked, rng):
    y = np.where(rng.random(2000) < 0.4, 1.0, -1.0)
    scores = np.where(rng.random(2000) < 0.7, y, -y)
    right = scores == y
    data = Data(np.zeros((2000, 1)), y, np.where(right, 0.1, 5.0))
    found = as_metric(asked)
    bound = found.bind(y, weights=data.weights, labels=(0, 1))
    told = []
    for weights in replicate_weights(2000, 40, rng).T:
        rows, one = bind_replicate(found, data, weights, (0, 1))
        told.append(float(one.values(scores if rows is None else scores[rows])))
    assert np.mean(told) == pytest.approx(float(bound.values(scores)), abs=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_scorer_that_looks_at_the_features_gets_them_everywhere(classes):
    X, y = make_classification(400, n_informative=4, n_classes=classes, random_state=0)
    seen = []

    def watching(estimator, X, y):
        seen.append(np.ptp(X[:, 1]) > 0.0)
        return by_second_column(estimator, X, y)

    clf = MetricClassifier(watching, random_state=0).fit(
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
    ours = MetricClassifier("neg_log_loss", random_state=0).fit(X, y)
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
    MetricClassifier(metric(failing, greater_is_better=True), random_state=0).fit(X, y)
    last, calls[:] = len(calls), []
    clf = MetricClassifier(metric(failing, greater_is_better=True), random_state=0)
    with pytest.raises(MetricError) as caught:
        clf.fit(X, y)
    assert caught.value.best is clf
    assert len(clf.history_) > 5
    assert clf.cost_ == min(turn["cost"] for turn in clf.history_)


@pytest.mark.parametrize("calls", [6, 60])
def test_processes_change_neither_the_answer_nor_how_it_ended(calls):
    X, y = make_classification(300, weights=[0.8], random_state=0)
    learners = Reweighted(DecisionTreeClassifier(max_depth=2)), Reweighted(GaussianNB())
    found = [
        MetricClassifier(
            "f1",
            method=AutoLearned(learners=learners),
            max_metric_calls=calls,
            n_jobs=jobs,
            random_state=0,
        ).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
        for jobs in (None, 2)
    ]
    assert found[0].status_ == found[1].status_
    assert len(found[0].history_) == len(found[1].history_)
    np.testing.assert_array_equal(*(clf.decision_function(X) for clf in found))


def test_few_calls_about_many_classes_are_kept_for_replicates():
    X, y = make_classification(300, n_informative=4, n_classes=3, random_state=0)
    clf = MetricClassifier("roc_auc_ovr", max_metric_calls=30, random_state=0)
    clf.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert clf.settings_["error"] > 0.0


@pytest.mark.parametrize("classes", [2, 3])
def test_a_group_that_weighs_nothing_is_not_there(classes):
    y = np.arange(30) % classes
    side = {"groups": np.repeat(["a", "b", "none"], 10)}
    weights = np.repeat([1.0, 2.0, 0.0], 10)
    X = np.eye(classes)[y] + 0.01 * np.arange(30)[:, np.newaxis]
    clf = MetricClassifier("worst_group_accuracy", random_state=0).fit(X, y, groups=side["groups"])
    assert clf.score(X, y, weights, groups=side["groups"]) == 1.0


def test_a_warning_points_at_the_users_line():
    X, y = make_classification(100, random_state=0)
    always = metric(lambda y_true, y_pred: 0.5, greater_is_better=True, on="decisions", needs=())
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        MetricClassifier(always, random_state=0).fit(X, y)
    assert [w.filename for w in seen if w.category is MetricWarning] == [__file__]


@pytest.mark.parametrize("wrong", [{"replicates": 0}, {"strengths": ()}, {"strengths": (-1.0,)}])
def test_settings_of_the_default_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Auto(**wrong)
