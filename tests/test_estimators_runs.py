"""Runs of the estimators: hard data, failing metrics, budgets, grids and progress."""

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from anymetric.descent import Descent
from anymetric.diagnosis import Hint
from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.metrics import MetricError, Profit, metric_names
from anymetric.projections import Adagrad, GaussNewton
from anymetric.solution import Status
from anymetric.surrogates import per_class
from anymetric.tuning import Tuned

QUICK = Descent(iterations=4, gradient=Subspace(m=8), projection=GaussNewton(5), normalised=True)
GRID = Tuned(
    Descent(iterations=2, gradient=LinearInterpolation(m=8), projection=Adagrad(iterations=5)),
    steps=(0.1, 0.5),
    sigmas=(0.1, 0.5),
)
CLASSIFIER = MetricClassifier("f1", model="linear", method=QUICK, random_state=0)
RANKER = MetricRanker("average_precision", model="linear", method=QUICK, random_state=0)
REGRESSOR = MetricRegressor("mean_absolute_error", model="linear", method=QUICK, random_state=0)
EVERY = pytest.mark.parametrize(
    "estimator", [CLASSIFIER, RANKER, REGRESSOR], ids=lambda e: type(e).__name__
)

EITHER = pytest.mark.parametrize("method", [QUICK, "auto"], ids=["descent", "auto"])

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
NOISY = X @ np.arange(1.0, 5.0) / 4 + RNG.normal(size=160)
Y = (NOISY > 0.8).astype(int)
GROUPS = np.array(["a", "b"] * 80)


class Counted:
    """A user's metric that counts its calls, and may fail at one of them.

    Later rows weigh a little more: what it would say cannot be told from counts.
    """

    def __init__(self, fails_at=None, answer=None, scale=1.0):
        self.calls, self.fails_at, self.answer, self.scale = 0, fails_at, answer, scale

    def __call__(self, y_true, y_pred):
        self.calls += 1
        if self.calls != self.fails_at:
            late = 1.0 + 0.01 * np.arange(len(y_true)) / len(y_true)
            return self.scale * np.mean(late @ ((y_true > 0) == (y_pred > 0)) / late.sum())
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def with_metric(estimator, function):
    return clone(estimator).set_params(metric=function, greater_is_better=True)


# --- what the metric sees and does


@EVERY
@pytest.mark.parametrize("method", [QUICK, GRID], ids=["descent", "grid"])
@pytest.mark.parametrize("budget", [None, 12, 60])
def test_every_call_of_the_users_metric_is_counted(estimator, method, budget):
    fitted = with_metric(estimator, Counted())
    fitted.set_params(method=method, max_metric_calls=budget).fit(X, Y)
    assert fitted.n_metric_calls_ == fitted.metric.calls
    assert budget is None or fitted.n_metric_calls_ <= budget
    assert (fitted.status_ is Status.BUDGET) == (budget is not None)


@EVERY
@pytest.mark.parametrize("budget", [None, 1000])
def test_every_call_of_the_default_method_is_counted(estimator, budget):
    fitted = with_metric(estimator, Counted())
    fitted.set_params(method="auto", max_metric_calls=budget).fit(X, Y)
    assert fitted.n_metric_calls_ == fitted.metric.calls
    assert budget is None or fitted.n_metric_calls_ <= budget


THREE = (NOISY > 0.8).astype(int) + (NOISY > -0.5)
LABELS = np.column_stack([Y, X[:, 0] > 0.0, NOISY < 0.0]).astype(int)


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5, 9, 20, 50, 70])
@pytest.mark.parametrize(
    ("kind", "y"),
    [
        (MetricClassifier, Y),
        (MetricClassifier, THREE),
        (MetricClassifier, LABELS),
        (MetricRanker, Y),
        (MetricRegressor, NOISY),
    ],
    ids=["two", "three", "labels", "ranker", "regressor"],
)
def test_a_descent_uses_a_budget_below_one_gradient_and_no_more(kind, y, budget):
    fitted = kind(
        Counted(), method="descent", greater_is_better=True, max_metric_calls=budget, random_state=0
    ).fit(X, y)
    assert fitted.metric.calls == fitted.n_metric_calls_ <= budget
    assert fitted.n_metric_calls_ >= (budget - 1 if budget > 3 else 1)
    assert (len(fitted.history_) > 1) >= (budget > 3)


def test_a_budget_too_small_for_a_grid_is_spent_on_a_part_of_it():
    fitted = with_metric(CLASSIFIER, Counted())
    fitted.set_params(method=GRID, max_metric_calls=3).fit(X, Y)
    assert fitted.metric.calls == fitted.n_metric_calls_ <= 3
    assert fitted.status_ is Status.BUDGET


ANSWERS = {
    "exception": (KeyError("vendor is down"), "KeyError: 'vendor is down'"),
    "nan": (float("nan"), r"got nan \(float\)"),
    "shape": (np.zeros(2), r"a ndarray of shape \(2,\)"),
    "text": ("high", r"got 'high' \(str\)"),
    "nothing": (None, "got None"),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("call", [1, 60])
def test_a_failing_metric_says_where_and_leaves_the_best_model(answer, call):
    given, match = ANSWERS[answer]
    judged = "It was called on 32 rows, 10 of them positive. It was call"
    estimator = with_metric(CLASSIFIER, Counted(call, given)).set_params(on_error="raise")
    with pytest.raises(MetricError, match=f"{match}.*{judged} {call} of the run") as caught:
        estimator.fit(X, Y)
    assert caught.value.call == call
    assert caught.value.best is estimator
    assert estimator.status_ is Status.FAILED
    assert estimator.n_metric_calls_ == call
    assert set(estimator.predict(X)) == {0, 1}
    # Nothing was judged before the first call, and something before the sixtieth.
    assert np.isnan(estimator.cost_) == (call == 1)


@EVERY
@EITHER
def test_every_estimator_survives_a_failing_metric(estimator, method):
    estimator = with_metric(estimator, Counted(40, float("inf")))
    estimator.set_params(method=method, on_error="raise")
    with pytest.raises(MetricError) as caught:
        estimator.fit(X, Y)
    assert np.all(np.isfinite(caught.value.best.predict(X)))


def test_a_failure_in_a_grid_says_which_run():
    estimator = with_metric(CLASSIFIER, Counted(200, float("nan")))
    estimator.set_params(method=GRID, on_error="raise")
    with pytest.raises(MetricError, match=r"The run had step 0\.\d and sigma 0\.\d") as caught:
        estimator.fit(X, Y)
    assert caught.value.best.status_ is Status.FAILED
    assert caught.value.best.n_metric_calls_ == caught.value.call == 200
    assert np.isfinite(caught.value.best.cost_)


def test_a_failure_under_boosted_trees_is_counted_over_the_whole_run():
    trees = clone(CLASSIFIER).set_params(model="boosted", method="descent", on_error="raise")
    with pytest.raises(MetricError, match="It was call 60 of the run") as caught:
        with_metric(trees, Counted(60, float("nan"))).fit(X, Y)
    assert caught.value.call == caught.value.best.n_metric_calls_ == 60


def test_a_metric_that_fails_at_far_thresholds_only_is_trained_for():
    def precision(y_true, y_pred):
        if np.mean(y_pred) < 0.05:
            raise ZeroDivisionError("nobody is flagged")
        return np.mean(y_true[y_pred == 1])

    with pytest.warns(UserWarning, match="evaluations failed and were left out.*nobody is flagged"):
        fitted = with_metric(CLASSIFIER, precision).fit(X, Y)
    assert fitted.validation_score_ > np.mean(Y)


def test_a_metric_without_an_answer_for_constants_is_trained_for():
    def correlation(y_true, y_pred):
        with np.errstate(invalid="ignore"):
            return np.corrcoef(y_true, y_pred)[0, 1]

    fitted = with_metric(REGRESSOR, correlation).fit(X, NOISY)
    assert fitted.validation_score_ > 0.5


@EITHER
def test_a_metric_cannot_harm_its_arguments(method):
    def vandal(y_true, y_pred, groups, amount, X, sample_weight):
        value = np.mean(y_true == y_pred)
        for array in (y_true, y_pred, groups, amount, X, sample_weight):
            array[:] = array[:1]
        return value

    def gentle(y_true, y_pred, groups, amount, X, sample_weight):
        return np.mean(y_true == y_pred)

    arrays = {"X": X, "y": Y, "groups": GROUPS, "sample_weight": np.ones(160)}
    side = {"amount": np.arange(160.0)}
    kept = {name: array.copy() for name, array in arrays.items()}
    harmed = with_metric(CLASSIFIER, vandal).set_params(method=method).fit(**arrays, side=side)
    spared = with_metric(CLASSIFIER, gentle).set_params(method=method).fit(**arrays, side=side)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, kept[name])
    np.testing.assert_array_equal(side["amount"], np.arange(160.0))
    np.testing.assert_array_equal(harmed.coef_, spared.coef_)
    assert harmed.score(X, Y, np.ones(160), groups=GROUPS, side=side) > 0.5


@EVERY
def test_a_constant_metric_has_a_named_end_and_the_plain_model(estimator):
    flat = with_metric(estimator, lambda y_true, y_pred: 0.5).set_params(method="descent")
    with pytest.warns(UserWarning, match="was -?0.5 for every model"):
        flat.fit(X, Y)
    assert flat.status_ is Status.FLAT
    assert flat.cost_ == flat.history_[0]["cost"]
    lazy = with_metric(estimator, lambda y_true, y_pred: 0.5).set_params(max_metric_calls=2)
    np.testing.assert_allclose(flat.coef_, lazy.fit(X, Y).coef_)


@pytest.mark.parametrize("method", ["auto", "descent"])
def test_a_metric_that_reads_other_labels_knows_which_it_is_given(method):
    """The commonest slip with labels that are words: nothing equals 1."""
    words = np.where(Y.max() == Y, "yes", "no")
    clf = with_metric(CLASSIFIER, lambda y_true, y_pred: np.mean((y_true == 1) & (y_pred == 1)))
    with pytest.warns(UserWarning, match=r"reads the labels \['no', 'yes'\]"):
        clf.set_params(method=method).fit(X, words)
    assert clf.diagnose(X, words).hint is Hint.FLAT


def test_the_models_unit_is_not_the_metrics():
    small, large = (with_metric(CLASSIFIER, Counted(scale=scale)) for scale in (1.0, 1024.0))
    small.set_params(method="descent").fit(X, Y)
    large.set_params(method="descent").fit(X, Y)
    np.testing.assert_allclose(large.coef_, small.coef_, rtol=1e-9)


# --- what the data are


@EVERY
@EITHER
@pytest.mark.parametrize("factor", [1e-6, 1e4])
def test_the_unit_of_a_feature_does_not_matter(estimator, method, factor):
    units = np.array([1.0, factor, 1.0, 1.0 / factor])
    plain = clone(estimator).set_params(method=method).fit(X, Y)
    scaled = clone(plain).fit(X * units, Y)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("metric", ["r2", "mean_absolute_error", "mean_squared_error"])
@pytest.mark.parametrize("intercept", [True, False])
@EITHER
def test_the_unit_of_the_target_does_not_matter(metric, intercept, method):
    offset = 1e3 if intercept else 0.0
    plain = clone(REGRESSOR).set_params(metric=metric, fit_intercept=intercept, method=method)
    large = clone(plain).fit(X, 1e6 * NOISY + offset)
    plain.fit(X, NOISY)
    np.testing.assert_allclose(large.coef_, 1e6 * plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(large.predict(X), 1e6 * plain.predict(X) + offset, rtol=1e-5)
    assert large.weights_ == pytest.approx(plain.weights_, abs=1e-5)


def test_a_users_metric_sees_the_targets_exactly():
    values = np.round(100.0 * NOISY) / 3.0
    seen = set()

    def near_score(y_true, y_pred):
        seen.update(y_true.tolist())
        return -np.mean(np.abs(y_true - y_pred))

    fitted = clone(REGRESSOR).set_params(metric=near_score).fit(X, values)
    assert seen <= set(values.tolist())
    assert fitted.score(X, values) == near_score(values, fitted.predict(X))


def test_regression_without_standardising_has_the_units_given():
    raw = clone(REGRESSOR).set_params(standardize=False).fit(X, NOISY)
    assert raw.validation_score_ < np.mean(np.abs(NOISY))


def test_the_users_starts_are_in_the_users_units():
    weights = np.array([3e5, -2e5, 1e5, 0.0, 7e5])
    fitted = clone(REGRESSOR).set_params(starts=weights, max_metric_calls=1).fit(X, 1e6 * NOISY)
    np.testing.assert_allclose([*fitted.coef_, fitted.intercept_], weights, rtol=1e-9, atol=1e-6)
    chosen = clone(CLASSIFIER).set_params(starts=weights / 1e5, max_metric_calls=1).fit(X, Y)
    np.testing.assert_allclose(chosen.coef_[0], weights[:-1] / 1e5, rtol=1e-9, atol=1e-9)


def test_collinear_surrogates_are_warned_of_and_harmless():
    single = clone(CLASSIFIER).set_params(surrogates=per_class("logistic")).fit(X, Y)
    double = clone(CLASSIFIER).set_params(surrogates=[per_class("logistic"), "logistic"])
    with pytest.warns(UserWarning, match=r"nearly collinear: the condition number.*is \S+\."):
        double.fit(X, Y)
    assert double.cost_ <= single.history_[0]["cost"]
    twice = clone(CLASSIFIER).set_params(surrogates=["logistic", "logistic"])
    with pytest.warns(UserWarning, match="nearly collinear"):
        twice.fit(X, Y)
    assert list(twice.weights_) == ["logistic[all]", "logistic[all] #2"]


@EVERY
def test_the_default_surrogates_are_not_collinear(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(estimator).fit(X, Y, groups=GROUPS)
    assert len(fitted.weights_) >= 4


SHAPES = {
    "two rows": (X[:2], [0, 1]),
    "fewer rows than surrogates": (X[:3], [0, 1, 1]),
    "more columns than rows": (RNG.normal(size=(60, 200)), Y[:60]),
    "one column": (X[:, :1], Y),
    "a column twice": (np.c_[X, X, 2 * X[:, :1]], Y),
    "a constant column": (np.c_[X, np.ones(160)], Y),
    "nothing but constants": (np.ones((160, 2)), Y),
    "separable": (X, (X[:, 0] > 0).astype(int)),
    "large offsets": (X + 1e8, Y),
    "whole numbers": (np.round(3 * X).astype(int), Y),
}


@EVERY
@EITHER
@pytest.mark.filterwarnings("ignore:The surrogates are nearly collinear")
@pytest.mark.parametrize("shape", SHAPES)
def test_odd_shapes_give_bounded_models(estimator, method, shape):
    rows, y = SHAPES[shape]
    fitted = clone(estimator).set_params(method=method).fit(rows, y)
    scale = np.maximum(rows.std(axis=0), 1e-12 * np.abs(rows).max() + 1e-9)
    assert np.max(np.abs(fitted.coef_ * scale)) < 100.0
    assert np.all(np.isfinite(fitted.predict(rows)))


@pytest.mark.parametrize("method", ["descent", "auto", QUICK], ids=["descent", "auto", "quick"])
def test_separable_data_are_separated_with_bounded_weights(method):
    fitted = clone(CLASSIFIER).set_params(method=method).fit(X, X[:, 0] > 0.1)
    assert fitted.score(X, X[:, 0] > 0.1) > 0.97
    assert np.abs(fitted.coef_).max() < 50.0


@EVERY
def test_one_surrogate_is_enough(estimator):
    loss = "squared" if estimator is REGRESSOR else "logistic"
    fitted = clone(estimator).set_params(surrogates=loss).fit(X, Y)
    assert fitted.weights_ == {f"{loss}[all]": 1.0}


# --- what comes out


DECIDING = ["accuracy", "error", "f1", "f2", "gmean", "balanced_error", "precision", "recall"]


@pytest.mark.parametrize("metric", DECIDING)
def test_the_result_is_never_worse_than_a_tuned_threshold(metric):
    assert metric in metric_names()
    rows, judged = np.arange(100), np.arange(100, 160)
    fitted = (
        clone(CLASSIFIER)
        .set_params(metric=metric)
        .fit(X[rows], Y[rows], X_val=X[judged], y_val=Y[judged])
    )
    # The same ridge in scikit-learn's terms: C = 1 / (n ridge).
    scaler = StandardScaler().fit(X[rows])
    plain = LogisticRegression(C=1 / (100 * 1e-4), tol=1e-12, solver="newton-cholesky").fit(
        scaler.transform(X[rows]), Y[rows]
    )
    scores = plain.decision_function(scaler.transform(X[judged]))
    bound = fitted.metric_.bind(np.where(Y[judged], 1.0, -1.0))
    cuts = np.concatenate([[-np.inf], np.sort(scores)])
    best = min(float(bound.costs(np.where(scores > cut, 1.0, -1.0))) for cut in cuts)
    assert fitted.cost_ <= best + 1e-12


def test_a_tuned_threshold_of_a_users_function_is_the_ready_mades():
    own = with_metric(CLASSIFIER, partial(f1_score, zero_division=0.0)).fit(X, Y)
    ready = clone(CLASSIFIER).fit(X, Y)
    assert own.history_[0]["cost"] == pytest.approx(ready.history_[0]["cost"] - 1.0)


def test_a_tuned_threshold_of_a_users_function_is_not_expensive():
    rows = np.tile(X, (8, 1)) + 1e-3 * RNG.normal(size=(1280, 4))
    fitted = with_metric(CLASSIFIER, Counted()).fit(X, Y, X_val=rows, y_val=np.tile(Y, 8))
    assert fitted.history_[0]["calls"] <= 1 + 200 + 1
    frugal = with_metric(CLASSIFIER, Counted()).set_params(max_metric_calls=100)
    assert frugal.fit(X, Y).history_[0]["calls"] <= 1 + 25 + 1


def test_a_starting_models_weights_are_those_of_the_loss_it_minimises():
    balanced = clone(CLASSIFIER).set_params(metric="balanced_accuracy", starts=0).fit(X, Y)
    assert sum(balanced.weights_.values()) == pytest.approx(1.0)
    flat = with_metric(CLASSIFIER, lambda y_true, y_score: 0.0).fit(X[:40], Y[:40])
    share = np.mean(Y[:40])
    assert flat.weights_["logistic[class=+1]"] == pytest.approx(share, abs=0.01)
    squares = with_metric(REGRESSOR, lambda y_true, y_pred: 0.0).fit(X, NOISY)
    assert squares.weights_["lp(2)[all]"] == pytest.approx(1.0, abs=1e-3)


# --- grids and progress


def test_a_grid_runs_the_same_in_other_processes(capsys):
    alone = clone(CLASSIFIER).set_params(method=GRID).fit(X, Y)
    grid = Tuned(GRID.descent, GRID.steps, GRID.sigmas, n_jobs=2)
    spread = clone(CLASSIFIER).set_params(method=grid, verbose=10**6)
    spread.set_callbacks(ProgressBar()).fit(X, Y)
    np.testing.assert_array_equal(spread.coef_, alone.coef_)
    assert spread.n_metric_calls_ == alone.n_metric_calls_
    assert len(spread.summary_.tried) == 4
    told = capsys.readouterr()
    assert "MetricClassifier - fit" in told.out
    assert "iteration 24 of at most 24" in told.err


def test_verbose_prints_what_validates_how_it_goes_and_how_it_ended(capsys):
    clone(CLASSIFIER).set_params(verbose=10**6).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("[anymetric] ") for line in lines)
    assert lines[0].startswith("[anymetric] Training for 'f1'. No validation data was given: 32 of")
    assert "iteration 1 of at most 10: cost 0." in lines[1]
    assert "COMPLETED: f1 0." in lines[-1]
    clone(CLASSIFIER).fit(X, Y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("model", ["linear", "boosted"])
@pytest.mark.parametrize(
    ("kind", "metric", "y"),
    [
        (MetricClassifier, "f1", Y),
        (MetricClassifier, f1_score, Y),
        (MetricClassifier, "macro_f1", THREE),
        (MetricRanker, "average_precision", Y),
        (MetricRegressor, "mean_absolute_error", NOISY),
    ],
    ids=["two", "function", "three", "ranker", "regressor"],
)
def test_skops_brings_a_fitted_estimator_back(kind, metric, y, model):
    io = pytest.importorskip("skops.io")
    fitted = kind(metric, model=model, max_metric_calls=100, random_state=0).fit(X, y)
    held = io.dumps(fitted)
    other = io.loads(held, trusted=io.get_untrusted_types(data=held))
    np.testing.assert_array_equal(fitted.predict(X), other.predict(X))
    assert other.score(X, y) == fitted.score(X, y)
    assert len(other.history_) == len(fitted.history_)
    for again in (other, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert again.status_ is fitted.status_
    assert isinstance(fitted.status_, Status)


def test_the_papers_method_is_one_word_away():
    paper = MetricClassifier("f1", method="paper", max_metric_calls=100, random_state=0).fit(X, Y)
    assert paper.status_ is Status.BUDGET
    assert len(paper.summary_.tried) == 15


def test_the_learned_loss_serves_another_learner():
    """Noisy training rows weigh less than clean ones, and a plain model profits from that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=1500) > 0.8).astype(int)
    noisy = np.arange(900) < 450
    corrupted = X[:900].copy()
    corrupted[noisy] = rng.normal(3.0, 1.0, (450, 4))
    clf = MetricClassifier("f1", random_state=0)
    clf.fit(corrupted, y[:900], X_val=X[900:1200], y_val=y[900:1200])
    assert clf.sample_weight_.shape == (900,)
    assert clf.sample_weight_[noisy].mean() < 0.5 * clf.sample_weight_[~noisy].mean()
    assert set(clf.class_weight_) == {0, 1}
    plain = LogisticRegression().fit(corrupted, y[:900])
    taught = LogisticRegression().fit(corrupted, y[:900], sample_weight=clf.sample_weight_)
    test = X[1200:], y[1200:]
    assert f1_score(test[1], taught.predict(test[0])) > f1_score(test[1], plain.predict(test[0]))


def test_a_column_that_only_the_validation_rows_have_is_enough():
    """Amounts are known for the validation rows alone: training rows then place no threshold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 0.5).astype(int)
    amount = rng.exponential(size=200)
    clf = MetricClassifier(Profit(tp="amount", fp=-1.0), random_state=0)
    clf.fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:], side_val={"amount": amount})
    assert clf.summary_.training_weight == 0.0
    assert clf.score(X[400:], y[400:], side={"amount": amount}) > 0.0
