"""The scikit-learn door: what a fit gives, and that it lives among scikit-learn's own."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric.descent import Descent
from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor, scorer
from anymetric.gradients import Subspace
from anymetric.projections import GaussNewton
from anymetric.solution import Status

QUICK = Descent(iterations=4, gradient=Subspace(m=8), projection=GaussNewton(5), normalised=True)
ESTIMATORS = [
    MetricClassifier("f1", model="linear", method=QUICK, random_state=0),
    MetricRanker("average_precision", model="linear", method=QUICK, random_state=0),
    MetricRegressor("mean_absolute_error", model="linear", method=QUICK, random_state=0),
]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]


def sample(n=200, d=4, seed=0):
    """A noisy linear rule with a third of positives, and a group and an amount beside it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ np.arange(1, d + 1) / d + rng.normal(size=n) > 0.8).astype(int)
    return X, y, rng.choice(["a", "b"], n), rng.exponential(size=n)


X, Y, GROUPS, AMOUNT = sample()
X_VAL, Y_VAL, GROUPS_VAL, _ = sample(150, seed=1)


@pytest.fixture(params=ESTIMATORS, ids=NAMES)
def estimator(request):
    return clone(request.param)


@pytest.fixture(params=[QUICK, "auto"], ids=["descent", "auto"])
def either(request, estimator):
    """An estimator with either way of training."""
    return estimator.set_params(method=request.param)


def test_a_fit_has_all_it_promises(estimator):
    fitted = estimator.fit(X, Y)
    assert fitted is estimator
    assert fitted.coef_.shape[-1] == X.shape[1]
    assert fitted.n_features_in_ == X.shape[1]
    assert isinstance(fitted.status_, Status)
    assert fitted.cost_ == min(row["cost"] for row in fitted.history_)
    assert fitted.validation_score_ == fitted.metric_.value(fitted.cost_)
    assert fitted.n_metric_calls_ >= fitted.history_[-1]["calls"]
    assert sum(fitted.weights_.values()) == pytest.approx(1.0)
    assert min(fitted.weights_.values()) >= 0.0


def test_the_surrogates_of_classes_groups_and_sources_are_found_by_themselves():
    source = np.where(np.arange(len(Y)) % 3, "old", "new")
    fitted = clone(ESTIMATORS[0]).fit(X, Y, groups=GROUPS, source=source)
    assert len(fitted.weights_) == 8
    assert "logistic[class=+1, groups=a, source=new]" in fitted.weights_


def test_the_hold_out_is_stratified_and_said():
    fitted = clone(ESTIMATORS[0]).fit(X, Y)
    assert "40 of 200 rows were held out, stratified" in fitted.validation_
    given = clone(ESTIMATORS[0]).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert given.validation_ == "150 validation rows were given."
    few = clone(ESTIMATORS[0]).fit(X[:40], Y[:40])
    assert "the training rows are used for validation" in few.validation_


def test_a_rare_group_does_not_cost_the_hold_out():
    groups = GROUPS.copy()
    groups[[np.argmax(Y), np.argmin(Y)]] = "rare"
    fitted = MetricClassifier("group_mean_f1", model="linear", method=QUICK, random_state=0).fit(
        X, Y, groups=groups
    )
    assert "2 rows of small strata are used for both" in fitted.validation_


@pytest.mark.parametrize(
    "labels",
    [(0, 1), (-1, 1), (False, True), ("ham", "spam"), (3.0, 7.0), ("no", "yes")],
    ids=str,
)
def test_any_two_labels_work(labels):
    labels = np.array(labels)
    plain = clone(ESTIMATORS[0]).fit(X, Y)
    named = clone(ESTIMATORS[0]).fit(X, labels[Y])
    assert named.classes_.tolist() == labels.tolist()
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    np.testing.assert_array_equal(named.predict(X) == labels[1], named.decision_function(X) > 0)
    assert named.score(X, labels[Y]) == plain.score(X, Y)


def test_a_users_metric_sees_the_users_labels():
    seen = set()

    def hits_score(y_true, y_pred):
        seen.update(y_true.tolist(), y_pred.tolist())
        return np.mean(y_true == y_pred)

    clone(ESTIMATORS[0]).set_params(metric=hits_score).fit(X, np.where(Y, "spam", "ham"))
    assert seen == {"spam", "ham"}


def test_score_is_the_metric_itself_in_its_own_direction():
    classifier, ranker, regressor = (clone(e).fit(X, Y) for e in ESTIMATORS)
    assert classifier.score(X_VAL, Y_VAL) == pytest.approx(
        f1_score(Y_VAL, classifier.predict(X_VAL))
    )
    ranker = clone(ranker).set_params(metric="roc_auc").fit(X, Y)
    assert ranker.score(X_VAL, Y_VAL) == pytest.approx(roc_auc_score(Y_VAL, ranker.predict(X_VAL)))
    assert regressor.score(X_VAL, Y_VAL) == pytest.approx(
        mean_absolute_error(Y_VAL, regressor.predict(X_VAL))
    )


def test_score_takes_weights_groups_and_columns():
    def weighed_score(y_true, y_pred, amount, groups, sample_weight):
        chosen = groups == "a"
        return np.average(
            amount[chosen] * (y_true == y_pred)[chosen], weights=sample_weight[chosen]
        )

    fitted = clone(ESTIMATORS[0]).set_params(metric=weighed_score)
    fitted.fit(X, Y, groups=GROUPS, side={"amount": AMOUNT})
    weights = 1.0 + np.arange(len(Y)) % 3
    value = fitted.score(X, Y, weights, groups=GROUPS, side=pd.DataFrame({"amount": AMOUNT}))
    expected = weighed_score(Y, fitted.predict(X), AMOUNT, GROUPS, weights)
    assert value == pytest.approx(expected)


def test_a_seed_makes_a_fit_repeatable(either):
    one, two = clone(either).fit(X, Y), clone(either).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_arrays_with_names(either, frame):
    names = [f"x{i}" for i in range(X.shape[1])]
    wide = frame(dict(zip(names, X.T, strict=True)))
    series = pd.Series if frame is pd.DataFrame else pl.Series
    side = frame({"amount": AMOUNT})
    named = clone(either).fit(wide, series(Y), groups=series(GROUPS), side=side)
    plain = clone(either).fit(X, Y, groups=GROUPS, side={"amount": AMOUNT})
    assert named.feature_names_in_.tolist() == names
    np.testing.assert_allclose(named.coef_, plain.coef_, rtol=1e-9)
    # A prediction near zero is a difference of terms near one.
    np.testing.assert_allclose(named.predict(wide), plain.predict(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_is_dense(either, container):
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = clone(either).fit(thin, Y)
    held = clone(either).fit(container(thin), Y)
    np.testing.assert_allclose(held.coef_, dense.coef_, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(held.predict(container(thin)), dense.predict(thin), rtol=1e-5)


def test_single_precision_is_kept_and_good_enough(either):
    narrow, wide = clone(either).fit(X.astype(np.float32), Y), clone(either).fit(X, Y)
    assert narrow.cost_ == pytest.approx(wide.cost_, abs=0.05)


def test_pickle_keeps_everything(either):
    fitted = either.fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X_VAL), fitted.predict(X_VAL))
    assert again.score(X_VAL, Y_VAL) == fitted.score(X_VAL, Y_VAL)
    assert again.status_ is fitted.status_


def test_a_notebook_shows_it(either):
    assert type(either).__name__ in either._repr_html_()
    assert "status_" in vars(either.fit(X, Y))
    assert type(either).__name__ in either._repr_html_()


def test_it_works_in_a_pipeline_and_a_search(either):
    pipeline = make_pipeline(StandardScaler(), either)
    name = type(either).__name__.lower()
    scoring = scorer(either.metric)
    search = GridSearchCV(
        pipeline, {f"{name}__fit_intercept": [True, False]}, cv=3, scoring=scoring
    ).fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.predict(X_VAL).shape == Y_VAL.shape


def test_validation_rows_go_through_the_pipeline_too():
    with config_context(enable_metadata_routing=True):
        last = clone(ESTIMATORS[0]).set_params(standardize=False)
        last.set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), last, transform_input=["X_val"])
        pipeline.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    scaler = StandardScaler().fit(X)
    direct = clone(last).fit(scaler.transform(X), Y, X_val=scaler.transform(X_VAL), y_val=Y_VAL)
    np.testing.assert_allclose(pipeline[-1].coef_, direct.coef_)


def test_groups_and_columns_are_routed_to_fit_and_scorer():
    def gain_score(y_true, y_pred, groups, amount):
        assert len(groups) == len(amount) == len(y_true)
        return float(amount[(y_true == 1) & (y_pred == 1)].sum()) * len(set(groups.tolist()))

    with config_context(enable_metadata_routing=True):
        base = clone(ESTIMATORS[0]).set_params(metric=gain_score)
        base.set_fit_request(groups=True, side=True)
        gain = scorer(gain_score).set_score_request(groups=True, side=True)
        search = GridSearchCV(base, {"standardize": [True, False]}, cv=3, scoring=gain)
        search.fit(X, Y, groups=GROUPS, side=pd.DataFrame({"amount": AMOUNT}))
    assert np.all(search.cv_results_["mean_test_score"] > 0)


def test_a_search_that_would_maximise_a_cost_is_warned():
    base = clone(ESTIMATORS[0]).set_params(metric="error")
    for wrapped in (base, make_pipeline(StandardScaler(), base)):
        with pytest.warns(UserWarning, match="A search maximises `score`, but 'error' is better"):
            cross_val_score(wrapped, X, Y, cv=2)


def test_a_direct_score_a_scorer_and_a_greater_metric_are_not_warned():
    base = clone(ESTIMATORS[0]).set_params(metric="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0.0 < base.fit(X, Y).score(X, Y) < 0.5
        assert make_pipeline(StandardScaler(), base).fit(X, Y).score(X, Y) < 0.5
        found = cross_val_score(base, X, Y, cv=2, scoring=scorer("error"))
        assert np.all((found > -0.5) & (found < 0.0))
        cross_val_score(clone(base).set_params(metric="accuracy"), X, Y, cv=2)


def test_a_scorer_asks_any_estimator_in_the_right_way():
    words = np.where(Y, "yes", "no")
    logistic, forest = LogisticRegression().fit(X, words), RandomForestClassifier(9).fit(X, words)
    for model in (logistic, forest):
        expected = f1_score(words, model.predict(X), pos_label="yes")
        assert scorer("f1")(model, X, words) == pytest.approx(expected)
        # A fold with one class only: the classes are the model's, not the fold's.
        negative = words == "no"
        false = np.mean(model.predict(X[negative]) == "yes")
        assert scorer("error")(model, X[negative], words[negative]) == pytest.approx(-false)
    line = LinearRegression().fit(X, Y)
    error = -mean_absolute_error(Y, line.predict(X))
    assert scorer("mean_absolute_error")(line, X, Y) == pytest.approx(error)
    ranker = clone(ESTIMATORS[1]).fit(X, 2 * Y)
    assert scorer("roc_auc")(ranker, X, 2 * Y) == pytest.approx(roc_auc_score(Y, ranker.predict(X)))
    assert pickle.loads(pickle.dumps(scorer("error")))(logistic, X, words) < 0.0


def test_a_scorer_of_one_positive_class_refuses_three():
    with pytest.raises(ValueError, match="one positive class, and y has 3"):
        scorer("f1")(LogisticRegression().fit(X, np.arange(200) % 3), X, np.arange(200) % 3)


class Counting:
    """A callback that counts iterations, and asks to stop at one of them."""

    def __init__(self, stop_at=None):
        self.stop_at, self.iterations, self.ended = stop_at, 0, 0

    def setup(self, estimator, context):
        self.most = context.max_subtasks

    def on_fit_task_begin(self, estimator, context):
        self.iterations += context.task_name == "iteration"

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        return self.iterations == self.stop_at

    def teardown(self, estimator, context):
        self.closed = True


def test_callbacks_see_every_turn_and_may_stop_the_run(estimator):
    callback = Counting()
    fitted = clone(estimator).set_callbacks(callback).fit(X, Y)
    assert callback.iterations == len(fitted.history_) <= callback.most
    assert callback.ended == callback.iterations + 1
    assert callback.closed
    stopped = clone(estimator).set_callbacks(Counting(stop_at=3)).fit(X, Y)
    assert stopped.status_ is Status.STOPPED
    assert len(stopped.history_) == 3


def test_the_progress_bar_of_scikit_learn_is_drawn(capsys):
    clone(ESTIMATORS[0]).set_callbacks(ProgressBar()).fit(X, Y)
    assert "MetricClassifier - fit" in capsys.readouterr().out
    search = GridSearchCV(clone(ESTIMATORS[0]), {"standardize": [True, False]}, cv=2)
    search.set_callbacks(ProgressBar()).fit(X, Y)
    assert "GridSearchCV - fit" in capsys.readouterr().out


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_columns_may_lie_far_from_zero(offset, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + rng.normal(scale=0.5, size=300), [0.0, 1.0][: classes - 1])
    near = MetricClassifier("accuracy", model="linear", random_state=0).fit(X, y)
    table = sparse.csr_array(np.column_stack([X + offset, np.full(300, offset)]))
    far = MetricClassifier("accuracy", model="linear", random_state=0).fit(table, y)
    assert np.mean(far.predict(table) == near.predict(X)) > 0.98
