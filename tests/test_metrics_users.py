"""Metrics that users bring: functions and scikit-learn's scorers."""

import inspect
import pickle
import sys
import warnings
from fractions import Fraction
from functools import partial
from types import ModuleType

import cloudpickle
import joblib
import numpy as np
import pytest
from scipy.special import expit
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression, LogisticRegression

from anymetric import MetricClassifier, scorer
from anymetric.errors import MetricWarning
from anymetric.metrics import FunctionMetric, MetricError, ScorerMetric, as_metric, metric
from conftest import blobs

Y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
SCORES = np.array([2.0, -1.0, -0.5, 0.0, 1.0])
LABELS = ("no", "yes")


def gain(y_true, y_pred, amount):
    return amount[(y_true == "yes") & (y_pred == "yes")].sum()


@metric(greater_is_better=True)
def decorated(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def seen(labels=LABELS, weights=None, side=None, X=None, **wrap):
    """Bind a metric that remembers what it was called with, and call it once."""
    calls = []

    def wrapped(function):
        def call(*args, **kwargs):
            calls.append((args, kwargs))
            return 0.5

        call.__signature__ = inspect.signature(function)
        bound = metric(call, greater_is_better=True, **wrap).bind(
            Y, labels=labels, weights=weights, side=side or {}, X=X
        )
        assert bound.values(SCORES) == 0.5
        return calls[0]

    return wrapped


def test_decisions_come_in_the_users_labels():
    (truth, predicted), _ = seen()(lambda y_true, y_pred: 0)
    assert truth.tolist() == ["yes", "no", "yes", "no", "yes"]
    assert predicted.tolist() == ["yes", "no", "no", "no", "yes"]
    (truth, predicted), _ = seen(labels=np.array([3, 7]))(lambda y_true, predictions: 0)
    assert truth.tolist() == [7, 3, 7, 3, 7]
    assert truth.dtype == np.int64
    assert predicted.tolist() == [7, 3, 3, 3, 7]


def test_the_second_parameters_name_says_what_it_receives():
    for function in (lambda y_true, y_score: 0, lambda y, scores: 0, lambda y, y_scores: 0):
        (_, second), _ = seen()(function)
        np.testing.assert_array_equal(second, SCORES)
    for function in (lambda y_true, y_prob: 0, lambda y, y_proba: 0, lambda y, probabilities: 0):
        (_, second), _ = seen()(function)
        np.testing.assert_allclose(second, expit(SCORES))


def test_on_says_it_where_the_name_does_not():
    with pytest.raises(ValueError, match=r"y_pred, y_score or y_prob.*on="):
        seen()(lambda a, b: 0)
    for on, expected in (("scores", SCORES), ("probabilities", expit(SCORES))):
        (_, second), _ = seen(on=on)(lambda a, b: 0)
        np.testing.assert_allclose(second, expected)
    with pytest.raises(ValueError, match="got 'margins'"):
        seen(on="margins")(lambda a, b: 0)


def test_without_labels_the_second_argument_is_the_prediction():
    for function in (lambda y_true, y_pred: 0, lambda a, b: 0, lambda y, y_prob: 0):
        (truth, predicted), _ = seen(labels=None)(function)
        np.testing.assert_array_equal(truth, Y)
        np.testing.assert_array_equal(predicted, SCORES)


def test_further_parameters_are_columns_by_name():
    side = {"groups": np.arange(5), "amount": np.ones(5), "query": np.zeros(5)}
    weights, X = np.arange(5.0), np.eye(5)

    def asks(y_true, y_pred, amount, *, groups=None, sample_weight=None, X=None, other=3):
        return 0

    _, given = seen(weights=weights, side=side, X=X)(asks)
    assert set(given) == {"amount", "groups", "sample_weight", "X"}
    np.testing.assert_array_equal(given["groups"], side["groups"])
    np.testing.assert_array_equal(given["sample_weight"], weights)
    np.testing.assert_array_equal(given["X"], X)
    _, given = seen(side=side, needs=("query",), on="scores")(lambda *args, **kwargs: 0)
    assert set(given) == {"query"}


def test_weights_and_features_need_no_side_column():
    def asks(y_true, y_pred, sample_weight, X, pos_label):
        return 0

    _, given = seen(X=np.eye(5))(asks)
    assert set(given) == {"sample_weight", "X", "pos_label"}
    assert given["pos_label"] == "yes"
    assert metric(asks, greater_is_better=True).needs == ()
    with pytest.raises(ValueError, match="needs 'X'"):
        seen()(asks)


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    side = {"groups": np.arange(5), "price": np.ones(5)}
    with pytest.raises(ValueError, match=r"'amount'; columns given: \['groups', 'price'\]"):
        as_metric(gain, greater_is_better=True).bind(Y, side=side, labels=LABELS)


def test_a_function_metric_is_the_loop_over_probes():
    rng = np.random.default_rng(0)
    amount, batch = rng.random(5), rng.standard_normal((5, 7))
    bound = as_metric(gain, greater_is_better=True).bind(Y, side={"amount": amount}, labels=LABELS)
    expected = [amount[(Y > 0) & (column > 0)].sum() for column in batch.T]
    np.testing.assert_allclose(bound.values(batch), expected)
    np.testing.assert_allclose(bound.costs(batch), -np.array(expected))
    assert bound.values(batch[:, 0]).shape == ()


def test_a_metric_that_writes_on_its_arguments_is_harmless():
    def vandal(y_true, y_score, amount, sample_weight, X):
        result = float(y_true.sum() + y_score.sum() + amount.sum() + X.sum())
        for array in (y_true, y_score, amount, sample_weight, X):
            array[:] = 99
        return result

    scores, amount, X, weights = SCORES[:, None] * np.ones(3), np.ones(5), np.eye(5), np.ones(5)
    bound = as_metric(vandal, greater_is_better=True).bind(
        Y, weights=weights, side={"amount": amount}, labels=(0, 1), X=X
    )
    values = bound.values(scores)
    np.testing.assert_array_equal(values, np.full(3, 3 + SCORES.sum() + 5 + 5))
    np.testing.assert_array_equal(scores, SCORES[:, None] * np.ones(3))
    np.testing.assert_array_equal(bound.values(scores), values)
    assert amount.tolist() == weights.tolist() == [1.0] * 5
    np.testing.assert_array_equal(X, np.eye(5))


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 11])
def test_few_thresholds_leave_the_scores_as_they_are_or_cut_between(limit):
    asked = []

    def flagged_score(y_true, y_pred):
        asked.append(np.mean(y_pred == "yes"))
        return 0.0

    scores = np.random.default_rng(0).normal(size=100) + 0.5
    bound = as_metric(flagged_score).bind(np.where(scores > 0.0, 1.0, -1.0), labels=LABELS)
    sweep = bound.sweep(scores, limit)
    assert len(asked) == len(sweep.shifts) == limit
    assert 0.0 in sweep.shifts
    assert 0.0 < min(asked) <= max(asked) < 1.0
    assert np.all(np.diff(sweep.shifts) > 0.0)


def test_a_sweep_of_no_threshold_is_refused():
    with pytest.raises(ValueError, match="at least one threshold"):
        as_metric(sk.f1_score).bind(Y, labels=LABELS).sweep(SCORES, limit=0)


def test_a_function_sweeps_its_thresholds():
    bound = as_metric(sk.f1_score).bind(Y, labels=LABELS)
    ready = as_metric("f1").bind(Y)
    ours, theirs = bound.sweep(SCORES), ready.sweep(SCORES)
    np.testing.assert_array_equal(ours.shifts, theirs.shifts)
    np.testing.assert_allclose(ours.values, theirs.values)
    assert len(bound.sweep(SCORES, limit=3).values) == 3
    with pytest.raises(ValueError, match="no threshold"):
        as_metric(sk.roc_auc_score).bind(Y, labels=LABELS).sweep(SCORES)
    with pytest.raises(ValueError, match="regression has no threshold"):
        as_metric(sk.max_error).bind(Y).sweep(SCORES)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (float("nan"), r"nan \(float\)"),
        (np.inf, "inf"),
        (None, r"None \(NoneType\)"),
        (np.ones(3), r"a ndarray of shape \(3,\)"),
        (np.ones(1), r"a ndarray of shape \(1,\)"),
        ([1.0, 2.0], r"a list of shape \(2,\)"),
        ([[1.0], [2.0, 3.0]], r"a list of shape \(2,\)"),
        (1j, "complex"),
        ("0.5", "'0.5'"),
        ({"f1": 1.0}, "dict"),
        (10**400, "int"),
    ],
    ids=repr,
)
def test_an_answer_that_is_not_one_finite_number_is_shown(answer, shown):
    def odd(y_true, y_pred):
        return answer if y_pred[0] == "yes" else 0.0

    bound = as_metric(odd, greater_is_better=True).bind(Y, labels=LABELS)
    batch = np.column_stack([-SCORES, -SCORES, SCORES])
    with pytest.raises(MetricError, match=f"'odd' failed at probe 2: .*{shown}") as caught:
        bound.values(batch)
    assert caught.value.probe == 2
    assert caught.value.call is None
    assert caught.value.best is None
    assert "5 rows, 3 of them positive" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.probe, str(again)) == (2, str(caught.value))


@pytest.mark.parametrize(
    "answer", [1, True, 0.25, np.float32(0.25), np.array(0.25), np.int8(3), Fraction(1, 4)]
)
def test_any_one_real_number_is_taken(answer):
    bound = metric(lambda y, y_pred: answer, greater_is_better=False).bind(Y, labels=LABELS)
    assert bound.values(SCORES) == float(answer)


def test_an_exception_of_the_function_is_the_cause():
    def broken(y_true, y_pred):
        raise KeyError("amount")

    bound = as_metric(broken, greater_is_better=True).bind(Y)
    with pytest.raises(
        MetricError,
        match=r"KeyError: 'amount' \(\S*test_metrics_users.py, line \d+, in broken: raise KeyError"
        r"\(\"amount\"\)\)\. It was called on 5 rows",
    ) as caught:
        bound.values(SCORES)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("function", "better"),
    [
        (sk.f1_score, True),
        (sk.mean_squared_error, False),
        (sk.log_loss, False),
        (sk.mean_poisson_deviance, False),
        (partial(sk.fbeta_score, beta=2), True),
    ],
)
def test_the_direction_is_read_off_the_name(function, better):
    assert as_metric(function).greater_is_better is better
    assert as_metric(function, greater_is_better=not better).greater_is_better is not better


def test_a_direction_that_nobody_said_is_asked_for():
    with pytest.raises(ValueError, match="greater_is_better=True or False"):
        as_metric(gain)


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (1, 2)], ids=str)
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0])], ids=["even", "w"])
@pytest.mark.parametrize(
    "function",
    [
        sk.f1_score,
        partial(sk.fbeta_score, beta=2.0),
        sk.accuracy_score,
        sk.roc_auc_score,
        sk.average_precision_score,
        sk.log_loss,
        sk.brier_score_loss,
        sk.matthews_corrcoef,
        sk.cohen_kappa_score,
    ],
    ids=lambda f: getattr(f, "__name__", "fbeta_score"),
)
def test_scikit_learns_functions_work_as_they_are(function, weights, labels):
    wrapped = metric(function, greater_is_better=True)
    second = {"scores": SCORES, "probabilities": expit(SCORES)}.get(wrapped.on, SCORES > 0)
    second = second.astype(int) if second.dtype == bool else second
    expected = function((Y > 0).astype(int), second, sample_weight=weights)
    bound = wrapped.bind(Y, weights=weights, labels=labels)
    assert bound.values(SCORES) == pytest.approx(expected)


@pytest.mark.parametrize(
    "function", [gain, decorated.function, sk.f1_score, partial(sk.fbeta_score, beta=2)]
)
def test_a_picklable_function_makes_a_picklable_metric(function):
    wrapped = metric(function, greater_is_better=True)
    assert pickle.loads(pickle.dumps(wrapped)).needs == wrapped.needs


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_a_decorated_function_is_still_a_function_and_picklable(pickler):
    assert decorated(np.array([1, 2]), np.array([1, 1])) == 0.5
    again = pickle.loads(pickler.dumps(decorated))
    assert again == decorated
    assert pickle.loads(pickler.dumps(again)) == decorated


def test_a_decorated_function_of_a_script_can_be_saved(tmp_path, monkeypatch):
    script = ModuleType("a_script")
    monkeypatch.setitem(sys.modules, "a_script", script)
    source = (
        "from anymetric.metrics import metric\n"
        "@metric(greater_is_better=True)\n"
        "def share(y_true, y_pred):\n"
        "    return float((y_true == y_pred).mean())\n"
    )
    exec(source, script.__dict__)
    joblib.dump(script.share, tmp_path / "metric.joblib")
    assert joblib.load(tmp_path / "metric.joblib") == script.share


@pytest.fixture(scope="module")
def fitted():
    data = blobs(np.random.default_rng(7), n=400)
    labels = np.array(["bad", "good"])
    truth = labels[(data.y > 0).astype(int)]
    return data, labels, truth, LogisticRegression().fit(data.X, truth)


def by_share(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y)) + float(X[0, 0])


SCORERS = {
    "accuracy": sk.get_scorer("accuracy"),
    "f1_macro": "f1_macro",
    "f1_weighted": "f1_weighted",
    "matthews_corrcoef": "matthews_corrcoef",
    "neg_log_loss": "neg_log_loss",
    "roc_auc": sk.get_scorer("roc_auc"),
    "average_precision of bad": sk.make_scorer(
        sk.average_precision_score,
        response_method=("decision_function", "predict_proba"),
        pos_label="bad",
    ),
    "fbeta with settings": sk.make_scorer(sk.fbeta_score, beta=2.0, pos_label="good"),
    "hinge": sk.make_scorer(
        sk.hinge_loss, response_method="decision_function", greater_is_better=False
    ),
    "probabilities": sk.make_scorer(
        sk.brier_score_loss,
        response_method="predict_proba",
        greater_is_better=False,
        pos_label="good",
    ),
    "zero-one loss": sk.make_scorer(sk.zero_one_loss, greater_is_better=False, normalize=False),
    "a function of an estimator": by_share,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
def test_a_scorer_says_what_it_says_of_a_fitted_model(scorer, weighted, fitted):
    data, labels, truth, model = fitted
    weights = np.random.default_rng(1).random(len(data)) if weighted else None
    bound = as_metric(scorer).bind(data.y, weights=weights, labels=labels, X=data.X)
    asked = sk.get_scorer(scorer)
    extra = {"sample_weight": weights} if weighted and scorer is not by_share else {}
    expected = asked(model, data.X, truth, **extra)
    assert bound.values(model.decision_function(data.X)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["f1_micro", "jaccard", "neg_brier_score", "roc_auc", "precision"])
def test_a_scorer_by_name_works_on_zero_one_labels(name, fitted):
    data, _, truth, _ = fitted
    model = LogisticRegression().fit(data.X, truth == "good")
    bound = as_metric(sk.get_scorer(name)).bind(data.y, labels=(False, True), X=data.X)
    expected = sk.get_scorer(name)(model, data.X, truth == "good")
    assert bound.values(model.decision_function(data.X)) == pytest.approx(expected, rel=1e-12)


UNTOLD = {
    "jaccard": "jaccard",
    "neg_brier_score": "neg_brier_score",
    "d2_brier_score": "d2_brier_score",
    "f1": sk.make_scorer(sk.f1_score),
    "average_precision": sk.get_scorer("average_precision"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("scorer", UNTOLD.values(), ids=UNTOLD)
def test_a_scorer_knows_which_word_is_positive(scorer, turned, weighted, fitted):
    data, labels, truth, _ = fitted
    labels, sign = (labels[::-1], -1.0) if turned else (labels, 1.0)
    weights = np.random.default_rng(1).random(len(data)) if weighted else None
    model = LogisticRegression().fit(data.X, truth == labels[1])
    bound = as_metric(scorer).bind(sign * data.y, weights=weights, labels=labels, X=data.X)
    extra = {"sample_weight": weights} if weighted else {}
    expected = sk.get_scorer(scorer)(model, data.X, truth == labels[1], **extra)
    assert bound.values(model.decision_function(data.X)) == pytest.approx(expected, rel=1e-12)


def test_a_scorer_that_names_its_positive_label_keeps_it(fitted):
    data, labels, truth, model = fitted
    kept = sk.make_scorer(partial(sk.f1_score, pos_label=labels[0]))
    for named in (kept, sk.make_scorer(sk.f1_score, pos_label=labels[0])):
        bound = as_metric(named).bind(data.y, labels=labels)
        expected = sk.f1_score(truth, model.predict(data.X), pos_label=labels[0])
        assert bound.values(model.decision_function(data.X)) == pytest.approx(expected)


def test_a_positive_label_that_sorts_first_is_the_first_class(fitted):
    data, labels, truth, model = fitted
    scores = model.decision_function(data.X)
    for name in ("roc_auc", "neg_log_loss", "balanced_accuracy"):
        turned = as_metric(sk.get_scorer(name)).bind(-data.y, labels=labels[::-1])
        assert turned.values(-scores) == pytest.approx(
            sk.get_scorer(name)(model, data.X, truth), rel=1e-12
        )


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "explained_variance", "max_error"])
def test_a_regression_scorer_says_what_it_says_of_a_fitted_model(name, rng):
    X = rng.normal(size=(50, 3))
    y = X @ np.arange(3.0) + rng.normal(size=50)
    model = LinearRegression().fit(X, y)
    name = "neg_max_error" if name == "max_error" else name
    bound = as_metric(name).bind(y, X=X)
    expected = sk.get_scorer(name)(model, X, y)
    assert bound.values(model.predict(X)) == pytest.approx(expected, rel=1e-12)
    assert bound.metric.greater_is_better


def test_a_scorer_decides_when_it_asks_for_predictions_only():
    assert as_metric("f1_macro").decides
    assert not as_metric("neg_log_loss").decides
    bound = as_metric(sk.make_scorer(sk.f1_score, pos_label="yes")).bind(Y, labels=LABELS)
    np.testing.assert_allclose(
        bound.sweep(SCORES).values, as_metric("f1").bind(Y).sweep(SCORES).values
    )


def test_a_scorer_has_a_name_and_survives_pickling():
    scorer = as_metric(sk.make_scorer(sk.mean_squared_error, greater_is_better=False))
    assert scorer.name == "neg_mean_squared_error"
    assert pickle.loads(pickle.dumps(scorer)).name == scorer.name


def test_a_scorer_that_asks_about_other_rows_is_reported():
    def halves(estimator, X, y):
        return np.mean(estimator.predict(X[:2]) == y[:2])

    with pytest.raises(MetricError, match="needs the scores of 2 rows"):
        as_metric(halves).bind(Y, labels=LABELS, X=np.eye(5)).values(SCORES)


def test_a_metric_is_itself():
    ready = as_metric("gmean")
    assert as_metric(ready) is ready
    assert as_metric(decorated) is decorated
    assert isinstance(as_metric(gain, greater_is_better=True), FunctionMetric)
    assert isinstance(as_metric("jaccard"), ScorerMetric)


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        ("f1_scor", {}, "No metric is called 'f1_scor'. Did you mean"),
        ("acuracy", {}, "accuracy"),
        ("#", {}, "metric_names"),
        ("group_mean_roc_auc", {}, "cannot be taken group by group"),
        (3, {}, "a name, a Metric, a scikit-learn scorer or a function; got 3"),
        (dict, {}, "got <class 'dict'>"),
        ("f1", {"greater_is_better": False}, "has its own direction"),
        ("neg_log_loss", {"greater_is_better": False}, "has its own direction"),
        (lambda y_pred: 0, {"greater_is_better": True}, r"f\(y_true, y_pred\); got <lambda>"),
    ],
)
def test_what_is_not_a_metric_is_refused_in_words(spec, settings, message):
    with pytest.raises(ValueError, match=message):
        as_metric(spec, **settings)


def share_score(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def amount_score(y_true, y_pred, amount, X):
    assert len(amount) == X.shape[0] == len(y_true)
    return float(amount[y_true == y_pred].sum())


@pytest.fixture(scope="module")
def weighed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0.3).astype(int)
    return X, y, np.where(np.arange(120) < 60, 0.0, 2.0), {"amount": rng.random(120)}


def asked_with(function, X, y, **side):
    fitted = MetricClassifier(function, max_metric_calls=30, random_state=0).fit(X, y, **side)
    return fitted.score, partial(scorer(function), fitted)


@pytest.mark.parametrize("function", [share_score, amount_score])
def test_rows_of_weight_zero_do_not_count_for_a_function_without_weights(function, weighed):
    X, y, weights, side = weighed
    side = {"side": side} if function is amount_score else {}
    cut = {"side": {k: v[60:] for k, v in side["side"].items()}} if side else {}
    for score in asked_with(function, X, y, **side):
        with config_context(enable_metadata_routing=True):
            part = score(X[60:], y[60:], **cut)
            assert score(X, y, sample_weight=weights, **side) == part != score(X, y, **side)


def test_weights_that_a_function_does_not_take_are_warned_of(weighed):
    X, y, weights, _ = weighed
    for score in asked_with(share_score, X, y):
        with pytest.warns(MetricWarning, match="'share_score' takes no sample_weight"):
            told = score(X, y, sample_weight=weights * np.arange(120))
        assert told == score(X[60:], y[60:])


@pytest.mark.parametrize("judging", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_warns_once_of_weights_that_its_function_does_not_take(weighed, classes, judging):
    X, y, _, _ = weighed
    y = np.where(X[:, 1] > 0.8, classes - 1, y)
    estimator = MetricClassifier(share_score, max_metric_calls=30, random_state=0)
    weights = 1.0 + np.arange(120)
    given = {"sample_weight": weights}
    if judging:
        given = {"X_val": X, "y_val": y, "sample_weight_val": weights}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        estimator.fit(X, y, **given)
    found = [w for w in told if "'share_score' takes no sample_weight" in str(w.message)]
    assert [w.category for w in found] == [MetricWarning]
    assert found[0].filename == __file__


@pytest.mark.filterwarnings("error:.*takes no sample_weight")
def test_a_fit_with_equal_weights_for_all_validation_rows_warns_of_nothing(weighed):
    X, y, _, _ = weighed
    estimator = MetricClassifier(share_score, max_metric_calls=30, random_state=0)
    estimator.fit(X, y, sample_weight=np.repeat([0.0, 2.0], 60))
    estimator.fit(X, y, sample_weight=1.0 + np.arange(120), X_val=X, y_val=y)


def test_many_classes_without_weight_do_not_count_either(weighed):
    X, y, weights, _ = weighed
    three = np.where(X[:, 1] > 0.8, 2, y)
    for score in asked_with(share_score, X, three):
        assert score(X, three, sample_weight=weights) == score(X[60:], three[60:])
        with pytest.warns(MetricWarning, match="takes no sample_weight"):
            score(X, three, sample_weight=np.arange(120.0))


@pytest.mark.filterwarnings("error::anymetric.errors.MetricWarning")
@pytest.mark.parametrize("function", [sk.f1_score, "f1", "balanced_accuracy"])
def test_a_metric_that_takes_weights_gets_them(function, weighed):
    X, y, _, _ = weighed
    weights = np.arange(120)
    for score in asked_with(function, X, y):
        repeated = np.repeat(np.arange(120), weights)
        told = score(X, y, sample_weight=weights)
        assert told == pytest.approx(score(X[repeated], y[repeated]))
