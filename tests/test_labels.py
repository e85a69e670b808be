"""Sets of labels: metrics, thresholds of each label for one joint metric, the estimator's door."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics as oracle
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_classifiers_multilabel_output_format_decision_function,
    check_classifiers_multilabel_output_format_predict,
    check_classifiers_multilabel_representation_invariance,
)

from anymetric import MetricClassifier, as_metric, scorer
from anymetric.auto.decisions.offsets import tuned_offsets
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.judges.sweeps import Tally, along_label
from anymetric.data import Data
from anymetric.metrics import Classes, meant
from anymetric.metrics.labelled import LabelCountMetric
from anymetric.models import Reweighted
from anymetric.surrogates import bind, class_losses
from class_oracles import BY_LABEL

L = 4
SETS = Classes(("a", "b", "c"), sets=np.eye(3, dtype=bool))
COUNTED = ("micro_f1", "macro_f1", "weighted_f1", "hamming_loss", "worst_class_recall")
COUNTED += ("balanced_accuracy",)


def drawn(seed, n=50):
    rng = np.random.default_rng(seed)
    y = rng.random((n, L)) < [0.6, 0.4, 0.2, 0.3]
    scores = rng.normal(size=(n, L)) + y - 0.5
    return y, scores, rng.integers(1, 4, n).astype(float)


def bound(spec, y, **given):
    sets, codes = np.unique(y, axis=0, return_inverse=True)
    classes = Classes(tuple(range(L)), sets)
    metric = meant(as_metric(spec), classes)
    return metric.bind(codes.ravel().astype(float), labels=classes, **given)


@pytest.mark.parametrize("spec", BY_LABEL)
@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_labels_are_scikit_learns(spec, seed):
    y, scores, weights = drawn(seed)
    expected = BY_LABEL[spec](y.astype(int), (scores > 0).astype(int), weights)
    found = float(bound(spec, y, weights=weights).values(scores))
    assert_allclose(found, expected, atol=1e-12)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    assert_allclose(float(bound(spec, y[repeated]).values(scores[repeated])), found)


@pytest.mark.parametrize("labels", [1, 2, 9])
@pytest.mark.parametrize("spec", COUNTED)
def test_one_label_is_moved_without_counting_the_others_again(spec, labels, rng):
    metric = meant(as_metric(spec), SETS)
    assert isinstance(metric, LabelCountMetric)
    true = rng.integers(0, 4, labels).astype(float)
    given, right = true + 1.0, 0.5 * true
    ours = np.array([0.0, 0.5, 1.0]) * true[0], np.array([1.0, 2.0, 9.0])
    total = np.array([12.0])
    each = [
        metric.of_counts(
            np.concatenate([[mine], right[1:]]), true, np.concatenate([[got], given[1:]]), total
        )
        for mine, got in zip(*ours, strict=True)
    ]
    assert_allclose(metric.along(right, true, given, total, 0, *ours), each, rtol=1e-12)


@pytest.mark.parametrize("spec", COUNTED)
def test_counts_by_threshold_tell_the_cost_of_every_threshold_also_after_offsets(spec, rng):
    true, weights = rng.random((40, 3)) < 0.4, rng.uniform(0.5, 2.0, 40)
    metric = meant(as_metric(spec), SETS)
    scores = rng.normal(size=(40, 3))
    tally = Tally.of(true, weights, scores)
    for offset in (0.0, 0.7, -1.1):
        moved = scores + np.array([0.0, offset, 0.0])
        tally = tally.moved(true, weights, moved, 1)
        shifts, costs = along_label(metric, true, weights, moved, 1, tally)
        for shift, cost in zip(shifts, costs, strict=True):
            given = moved + np.array([0.0, shift, 0.0]) > 0.0
            value = metric.of_labels(given, true, weights)
            assert_allclose(cost, metric.cost(np.array(value)), atol=1e-12)


def test_thresholds_are_tuned_for_the_joint_metric():
    y, scores, weights = drawn(3, n=200)
    sets, codes = np.unique(y, axis=0, return_inverse=True)
    classes = Classes(tuple(range(L)), sets)
    data = Data(np.zeros((len(y), 1)), codes.ravel().astype(float), weights)
    metric = meant(as_metric("micro_f1"), classes)
    judge = ClassesJudge.of(metric, data, classes, np.ones((200, 0)))

    def cost(offsets):
        return float(judge.evaluate(scores + offsets)[0])

    levels, alone = np.linspace(-3, 3, 61), np.zeros(L)
    for c in range(L):  # each label's own F-measure, which is another question
        single = [
            oracle.f1_score(y[:, c], scores[:, c] + s > 0, sample_weight=weights) for s in levels
        ]
        alone[c] = levels[int(np.argmax(single))]
    joint = cost(tuned_offsets(judge, scores))
    assert joint <= cost(alone) + 1e-12
    assert joint < cost(np.zeros(L))


def test_a_function_gets_tables_of_zeros_and_ones():
    seen = []

    def hits(y_true, y_pred):
        seen.append((y_true.shape, set(np.unique(y_pred).tolist()), y_true.dtype.kind))
        return float(np.mean(y_true == y_pred))

    y, scores, _ = drawn(0)
    metric = as_metric(hits, greater_is_better=True)
    assert_allclose(float(bound(metric, y).values(scores)), np.mean((scores > 0) == y))
    assert seen == [((50, L), {0, 1}, "i")]


def test_surrogates_are_of_each_label_with_and_without():
    y, scores, _ = drawn(0)
    sets, codes = np.unique(y, axis=0, return_inverse=True)
    classes = Classes(("p", "q", "r", "s"), sets)
    data = Data(np.zeros((50, 1)), codes.ravel().astype(float))
    losses = class_losses("auto", classes, data)
    assert [s.name for s in losses[:2]] == ["logistic[label=-p]", "logistic[label=+p]"]
    values = bind(losses, data).values(scores.reshape(-1))
    expected = [np.log1p(np.exp(scores[~y[:, 0], 0])).mean()]
    expected += [np.log1p(np.exp(-scores[y[:, 0], 0])).mean()]
    assert_allclose(values[:2], expected)


@pytest.fixture(scope="module")
def rows():
    return make_multilabel_classification(700, 15, n_classes=5, n_labels=2, random_state=2)


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return MetricClassifier("macro_f1", model="linear", random_state=0).fit(X[:400], y[:400])


def test_labels_just_work(fitted, rows):
    X, y = rows
    assert fitted.coef_.shape == (5, 15)
    scores = fitted.decision_function(X)
    assert (fitted.predict(X) == (scores > 0)).all()
    expected = oracle.f1_score(y[400:], fitted.predict(X[400:]), average="macro")
    assert_allclose(fitted.score(X[400:], y[400:]), expected)
    assert_allclose(sum(fitted.weights_.values()), 1.0)
    assert_allclose(sum(fitted.row_shares_.values()), 1.0)
    assert fitted.sample_weight_.shape == (400,)
    assert set(fitted.summary_.offsets) == set(range(5))


def test_the_joint_metric_pays_against_one_model_a_label(fitted, rows):
    X, y = rows
    plain = OneVsRestClassifier(LogisticRegression(max_iter=500)).fit(X[:400], y[:400])
    theirs = oracle.f1_score(y[400:], plain.predict(X[400:]), average="macro")
    assert fitted.score(X[400:], y[400:]) > theirs


@pytest.mark.parametrize(
    "check",
    [
        check_classifiers_multilabel_output_format_decision_function,
        check_classifiers_multilabel_output_format_predict,
        check_classifiers_multilabel_representation_invariance,
    ],
)
def test_scikit_learns_checks_of_labels_pass(check):
    model = MetricClassifier(model="linear", random_state=0)
    assert check("MetricClassifier", model) is None


def test_a_sparse_table_of_labels_is_the_same(fitted, rows):
    X, y = rows
    same = clone(fitted).fit(X[:400], sparse.csr_array(y[:400]))
    assert_allclose(same.coef_, fitted.coef_)
    whole = fitted.score(X[400:], y[400:])
    assert_allclose(fitted.score(X[400:], sparse.csr_array(y[400:])), whole)


def test_validation_rows_may_have_sets_that_training_never_saw(rows):
    X, y = rows
    chosen = np.flatnonzero(y.sum(axis=1) < 3)[:200]
    clf = MetricClassifier("instance_f1", model="linear", random_state=0)
    clf.fit(X[chosen], y[chosen], X_val=X[400:550], y_val=y[400:550])
    expected = oracle.f1_score(y[550:], clf.predict(X[550:]), average="samples", zero_division=0)
    assert_allclose(clf.score(X[550:], y[550:]), expected)


def test_a_label_that_no_row_has_is_never_a_problem(rows):
    X, y = rows
    y = np.column_stack([y[:, :3], np.zeros(len(y), dtype=int)])
    clf = MetricClassifier("micro_f1", model="linear", random_state=0)
    assert clf.fit(X[:200], y[:200]).predict(X).shape == (700, 4)


@pytest.mark.parametrize("method", ["descent", "auto"])
def test_a_users_function_trains_labels_within_its_budget(rows, method):
    X, y = rows
    calls = []

    def jaccard(y_true, y_pred):
        calls.append(1)
        return oracle.jaccard_score(y_true, y_pred, average="micro", zero_division=0)

    clf = MetricClassifier(
        jaccard,
        greater_is_better=True,
        method=method,
        max_metric_calls=150,
        model="linear",
        random_state=0,
    ).fit(X[:150], y[:150])
    assert len(calls) == clf.n_metric_calls_ <= 150
    assert clf.score(X[400:], y[400:]) > 0.3


def test_our_scorer_reads_other_peoples_labels(rows):
    X, y = rows
    plain = OneVsRestClassifier(LogisticRegression(max_iter=500)).fit(X, y)
    expected = oracle.f1_score(y, plain.predict(X), average="samples", zero_division=0)
    assert_allclose(scorer("instance_f1")(plain, X, y), expected)


def test_another_family_learns_one_model_a_label(rows):
    X, y = rows
    tree = Reweighted(DecisionTreeClassifier(max_depth=3))
    clf = MetricClassifier("micro_f1", model=tree, random_state=0).fit(X[:200], y[:200])
    assert_allclose(clf.decision_function(X), clf.model_.scores(X))
    assert pickle.loads(pickle.dumps(clf)).predict(X).shape == y.shape


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "cohen_kappa"])
def test_a_metric_of_single_classes_is_refused(metric, rows):
    with pytest.raises(ValueError, match="label"):
        MetricClassifier(metric).fit(*rows)


def test_a_metric_of_labels_is_refused_for_classes(rows):
    X, y = rows
    with pytest.raises(ValueError, match="sets of labels"):
        MetricClassifier("instance_f1").fit(X, y.sum(axis=1))
    with pytest.raises(ValueError, match="sets of labels"):
        MetricClassifier("instance_f1").fit(X, y[:, 0])


def test_a_table_that_is_not_of_zeros_and_ones_is_refused(fitted, rows):
    X, y = rows
    with pytest.raises(ValueError, match="multioutput"):
        MetricClassifier("micro_f1").fit(X, y + y[:, ::-1])
    with pytest.raises(ValueError, match="5 labels"):
        fitted.score(X, y[:, :3])
