"""Input validation: one clear error for each mistake, before any work; the good is accepted."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from anymetric.descent import Descent
from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.gradients import Subspace
from anymetric.losses import Logistic
from anymetric.projections import GaussNewton
from anymetric.surrogates import Sliced, per_class, per_group

QUICK = Descent(iterations=3, gradient=Subspace(m=6), projection=GaussNewton(4), normalised=True)
CLASSIFIER = MetricClassifier("f1", model="linear", method=QUICK, random_state=0)
RANKER = MetricRanker("average_precision", model="linear", method=QUICK, random_state=0)
REGRESSOR = MetricRegressor("r2", model="linear", method=QUICK, random_state=0)
EVERY = (CLASSIFIER, RANKER, REGRESSOR)

N = 80
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GROUPS = np.array(["a", "b"] * (N // 2))
GOOD = {"X": X, "y": Y}
JUDGED = {**GOOD, "groups": GROUPS, "X_val": X, "y_val": Y, "groups_val": GROUPS}


def spoiled(array, place, value):
    array = np.array(array, dtype=np.float64)
    array[place] = value
    return array


def columns(names, array=X):
    return pd.DataFrame(array, columns=list(names))


# What is changed in a good call, and the words that the error must have.
ROWS = {
    "nan in X": ({"X": spoiled(X, (3, 1), np.nan)}, "Input X contains NaN"),
    "infinity in X": ({"X": spoiled(X, (3, 1), -np.inf)}, "Input X contains infinity"),
    "text in X": ({"X": np.full((N, 3), "a")}, "could not convert string to float"),
    "nan in y": ({"y": spoiled(Y, 3, np.nan)}, "Input y contains NaN"),
    "infinity in y": ({"y": spoiled(Y, 3, np.inf)}, "Input y contains infinity"),
    "short y": ({"y": Y[1:]}, r"inconsistent numbers of samples: \[80, 79\]"),
    "no y": ({"y": None}, "requires y to be passed"),
    "nan weight": ({"sample_weight": spoiled(np.ones(N), 3, np.nan)}, "sample_weight contains NaN"),
    "infinite weight": (
        {"sample_weight": spoiled(np.ones(N), 3, np.inf)},
        "sample_weight contains infinity",
    ),
    "negative weight": ({"sample_weight": spoiled(np.ones(N), 3, -1.0)}, "Negative values"),
    "no weight": ({"sample_weight": np.zeros(N)}, "at least one non-zero"),
    "short weights": ({"sample_weight": np.ones(N - 1)}, r"sample_weight.shape == \(79,\)"),
    "one row of weight": (
        {"sample_weight": spoiled(np.zeros(N), 3, 1.0)},
        r"1 sample\(s\) of positive weight while a minimum of 2 is required by Metric",
    ),
    "one row": ({"X": X[:1], "y": Y[:1]}, r"1 sample\(s\).*minimum of 2"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, r"0 sample\(s\)"),
    "no columns": ({"X": X[:, :0]}, r"0 feature\(s\)"),
    "flat X": ({"X": X[:, 0]}, "Expected 2D array"),
    "short groups": ({"groups": GROUPS[1:]}, "groups must have one value for each of the 80 rows"),
    "wide groups": ({"groups": np.c_[GROUPS, GROUPS]}, r"an array of shape \(80, 2\)"),
    "short source": ({"source": GROUPS[1:]}, "source must have one value for each of the 80 rows"),
    "missing group": ({"groups": [None, *GROUPS[1:]]}, "groups has 1 missing value.*in row 0"),
    "missing group in pandas": (
        {"groups": pd.Series([*GROUPS[1:], pd.NA], dtype="string")},
        "groups has 1 missing value.*in row 79",
    ),
    "missing date": ({"side": {"day": np.full(N, "NaT", "M8[D]")}}, "80 missing"),
    "mixed groups": ({"groups": np.array([1, *GROUPS[1:]], object)}, "groups mixes text"),
    "short column": ({"side": {"amount": np.ones(3)}}, r"side\['amount'\] must have one value"),
    "missing amount": (
        {"side": {"amount": spoiled(np.ones(N), 7, np.nan)}},
        r"side\['amount'\] has 1 missing value.*row 7",
    ),
    "taken name": ({"side": {"class": np.ones(N)}}, "'class': that name is taken"),
    "columns in a list": ({"side": [np.ones(N)]}, "side must be a dict of columns or a data frame"),
}
VALIDATION = {
    "X_val alone": ({"y_val": None}, "go together: X_val was given, y_val was not"),
    "y_val alone": ({"X_val": None}, "go together: y_val was given, X_val was not"),
    "groups_val alone": (
        {"X_val": None, "y_val": None},
        "groups_val or side_val was given without",
    ),
    "nan in X_val": ({"X_val": spoiled(X, (3, 1), np.nan)}, "validation rows.*contains NaN"),
    "short y_val": ({"y_val": Y[1:]}, "validation rows.*inconsistent numbers"),
    "nan in y_val": ({"y_val": spoiled(Y, 3, np.nan)}, "validation rows.*contains NaN"),
    "no rows": ({"X_val": X[:0], "y_val": Y[:0]}, r"validation rows.*0 sample\(s\)"),
    "fewer features": ({"X_val": X[:, :2]}, "X has 2 features, but Metric.* is expecting 3"),
    "other columns": (
        {"X": columns("abc"), "X_val": columns("abd")},
        "feature names should match(.|\n)*- d",
    ),
    "unknown group": (
        {"groups_val": np.where(GROUPS == "a", "a", "z")},
        r"groups_val has value\(s\) \['z'\] that groups never has; it has \['a', 'b'\]",
    ),
    "short weights": ({"sample_weight_val": np.ones(N - 1)}, r"sample_weight_val: .*\(79,\)"),
    "negative weight": (
        {"sample_weight_val": spoiled(np.ones(N), 3, -1.0)},
        "sample_weight_val: Negative values",
    ),
    "weights alone": (
        {"X_val": None, "y_val": None, "groups_val": None, "sample_weight_val": np.ones(N)},
        "sample_weight_val, groups_val or side_val was given without",
    ),
    "short groups_val": ({"groups_val": GROUPS[1:]}, "groups_val must have one value"),
    "missing column": (
        {"side_val": {"amount": spoiled(np.ones(N), 0, np.nan)}},
        r"side_val\['amount'\] has 1 missing",
    ),
}


def refused(estimator, call, match):
    estimator = clone(estimator)
    with pytest.raises((ValueError, TypeError), match=match):
        estimator.fit(**call)
    assert not hasattr(estimator, "coef_")


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("mistake", ROWS)
def test_bad_rows_are_refused(estimator, mistake):
    change, match = ROWS[mistake]
    refused(estimator, {**GOOD, **change}, match)


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("mistake", VALIDATION)
def test_bad_validation_rows_are_refused(estimator, mistake):
    change, match = VALIDATION[mistake]
    refused(estimator, {**JUDGED, **change}, match)


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "call",
    [
        GOOD,
        JUDGED,
        {**GOOD, "X": X.tolist(), "y": Y.tolist(), "groups": GROUPS.tolist()},
        {**GOOD, "groups": GROUPS[:, None], "source": pd.Categorical(GROUPS)},
        {**GOOD, "groups": np.arange(N) % 3, "side": {"when": np.full(N, "2020-07-13", "M8[D]")}},
        {**GOOD, "sample_weight": np.arange(N)},
        {**JUDGED, "groups": None},
        {**JUDGED, "groups_val": np.full(N, "a")},
        {**GOOD, "X": columns("abc"), "X_val": columns("abc"), "y_val": Y},
    ],
    ids=range(9),
)
def test_the_good_is_accepted(estimator, call):
    fitted = clone(estimator).fit(**call)
    assert np.all(np.isfinite(fitted.predict(call["X"])))


TARGETS = {
    "one class": (CLASSIFIER, {"y": np.full(N, "spam")}, "only one class.*'spam'"),
    "one class of weight": (
        CLASSIFIER,
        {"sample_weight": Y.astype(float)},
        "only one class among the rows of positive weight: '1'",
    ),
    "three classes": (
        CLASSIFIER,
        {"y": np.arange(N) % 3},
        "has 3 classes. Give macro_f1",
    ),
    "real numbers": (CLASSIFIER, {"y": X[:, 0]}, "Unknown label type: continuous"),
    "unknown label": (CLASSIFIER, {"X_val": X, "y_val": Y + 1}, r"labels \[2\] were never seen"),
    "no positives for f1": (
        CLASSIFIER,
        {"X_val": X[Y == 0], "y_val": Y[Y == 0]},
        "all of the class '0': the metric 'f1' is the same there whatever",
    ),
    "no positives for recall": (
        clone(CLASSIFIER).set_params(metric="recall"),
        {"X_val": X[Y == 0], "y_val": Y[Y == 0]},
        "validation rows: Metric 'recall' needs positives",
    ),
    "no negatives for gmean": (
        clone(CLASSIFIER).set_params(metric="gmean"),
        {"X_val": X[Y == 1], "y_val": Y[Y == 1]},
        "validation rows: Metric 'gmean' needs negatives",
    ),
    "no relevant rows": (RANKER, {"y": np.ones(N)}, "a ranker needs relevant rows"),
    "no relevant rows to judge": (
        RANKER,
        {"X_val": X[Y == 0], "y_val": Y[Y == 0]},
        "validation rows: Metric 'average_precision' needs positives",
    ),
    "only relevant rows to judge": (
        RANKER,
        {"X_val": X[Y == 1], "y_val": Y[Y == 1]},
        "all relevant: the metric 'average_precision' is the same there whatever",
    ),
    "no relevant rows for the top": (
        clone(RANKER).set_params(metric="precision@5", method="auto"),
        {"X_val": X[Y == 0], "y_val": Y[Y == 0]},
        "all irrelevant: the metric 'precision@5' is the same there whatever",
    ),
    "words to rank": (RANKER, {"y": np.where(Y, "good", "bad")}, "y must hold numbers; got '"),
    "words to predict": (REGRESSOR, {"y": np.where(Y, "up", "down")}, "y must hold numbers; got '"),
    "a constant": (REGRESSOR, {"y": np.ones(N)}, "'r2' needs targets that differ"),
    "classes wanted": (
        clone(REGRESSOR).set_params(metric="f1"),
        {"y": X[:, 0]},
        "metric 'f1' is of classes, and MetricRegressor predicts numbers: take MetricClassifier",
    ),
    "groups of classes wanted": (
        clone(REGRESSOR).set_params(metric="macro_f1"),
        {"y": X[:, 0]},
        "take MetricClassifier",
    ),
    "an order wanted": (
        clone(REGRESSOR).set_params(metric="roc_auc"),
        {"y": X[:, 0]},
        "'roc_auc' is of an order of two classes.*take MetricRanker or MetricClassifier",
    ),
    "a loss of the margin": (
        clone(REGRESSOR).set_params(surrogates="hinge"),
        {"y": X[:, 0]},
        "'hinge', a loss of the margin.*take 'squared', 'absolute', 'huber'",
    ),
    "a loss of the margin in a list": (
        clone(REGRESSOR).set_params(surrogates=["squared", [Logistic()]]),
        {"y": X[:, 0]},
        "'logistic', a loss of the margin",
    ),
    "slices by class": (
        clone(REGRESSOR).set_params(surrogates=per_class("squared")),
        {"y": X[:, 0]},
        "'squared', which has a slice for each class",
    ),
    "one slice by class": (
        clone(REGRESSOR).set_params(surrogates=[Sliced("squared", (("class", 1.0),))]),
        {"y": X[:, 0]},
        "'squared', which has a slice for each class",
    ),
}


@pytest.mark.parametrize("mistake", TARGETS)
def test_bad_targets_are_refused(mistake):
    estimator, change, match = TARGETS[mistake]
    refused(estimator, {**GOOD, **change}, match)


def gain(y_true, y_pred, amount):
    return float(amount[y_true == y_pred].sum())


SETTINGS = {
    "a misspelt metric": ({"metric": "f1_scroe"}, "No metric is called 'f1_scroe'. Did you mean"),
    "no metric": ({"metric": 3}, "A metric is a name"),
    "no direction": ({"metric": gain}, "Is a greater 'gain' better"),
    "no groups": ({"metric": "group_mean_f1"}, "needs the column.s. groups.*groups_val="),
    "no amount": ({"metric": gain, "greater_is_better": True}, "needs the column.s. amount"),
    "a misspelt method": ({"method": "descend"}, "method must be one of"),
    "no method": ({"method": 3}, "takes_starts, cross_fits and run; got 3"),
    "a misspelt loss": ({"surrogates": "hingy"}, "A loss is a Loss"),
    "surrogates of groups": ({"surrogates": per_group()}, "need the column.s. groups"),
    "no surrogates": ({"surrogates": []}, "At least one surrogate is needed"),
    "a number for surrogates": ({"surrogates": 3}, "Surrogates are losses"),
    "short starts": ({"starts": np.zeros((1, 3))}, r"4 finite parameters.*shape \(1, 3\)"),
    "infinite starts": ({"starts": np.full((1, 4), np.inf)}, "4 finite parameters"),
    "too large a fraction": ({"validation_fraction": 1.0}, "validation_fraction"),
    "nothing to judge": (
        {"validation_fraction": 0.001},
        "0.001 of 80 rows leaves none for validation",
    ),
    "nothing to train": (
        {"validation_fraction": 0.999},
        "0.999 of 80 rows leaves none for training",
    ),
    "no calls": ({"max_metric_calls": 0}, "max_metric_calls"),
    "negative verbosity": ({"verbose": -1}, "verbose"),
}


@pytest.mark.parametrize("mistake", SETTINGS)
def test_bad_settings_are_refused(mistake):
    change, match = SETTINGS[mistake]
    refused(clone(CLASSIFIER).set_params(**change), GOOD, match)


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_a_fraction_that_leaves_nothing_is_refused_for_numbers_too(fraction):
    match = f"{fraction} of 80 rows leaves none for .* share between 0.0125 and 0.988"
    refused(clone(REGRESSOR).set_params(validation_fraction=fraction), GOOD, match)


def test_a_fraction_that_leaves_no_query_to_train_is_refused():
    ranker = MetricRanker("map", method=QUICK, validation_fraction=0.99, random_state=0)
    query = np.arange(N) // 4
    refused(ranker, {**GOOD, "query": query}, "0.99 of 20 queries leaves none for training")


SCORES = {
    "short y": ((X, Y[1:]), {}, "inconsistent numbers of samples"),
    "unknown label": ((X, Y + 1), {}, "never seen in training"),
    "fewer features": ((X[:, :2], Y), {}, "X has 2 features"),
    "negative weight": ((X, Y, -np.ones(N)), {}, "Negative values"),
    "short groups": ((X, Y), {"groups": GROUPS[1:]}, "groups must have one value"),
}


@pytest.mark.parametrize("mistake", SCORES)
def test_a_bad_score_is_refused(mistake):
    rows, columns, match = SCORES[mistake]
    fitted = clone(CLASSIFIER).fit(X, Y)
    with pytest.raises(ValueError, match=match):
        fitted.score(*rows, **columns)


def test_nothing_is_predicted_before_a_fit():
    with pytest.raises(ValueError, match="not fitted yet"):
        clone(CLASSIFIER).predict(X)


def test_the_metric_is_not_asked_before_all_is_checked():
    def never(y_true, y_pred, amount):
        raise AssertionError("asked too early")

    estimator = clone(CLASSIFIER).set_params(metric=never, greater_is_better=True)
    call = {**GOOD, "side": {"amount": np.ones(N)}, "X_val": X, "y_val": Y}
    refused(estimator, call, "needs the column.s. amount")


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("method", [QUICK, "auto"], ids=["descent", "auto"])
def test_weights_of_validation_rows_count(estimator, method):
    weights = RNG.integers(0, 3, size=N).astype(float)
    kept = weights > 0
    few = {"X_val": X[kept], "y_val": Y[kept], "sample_weight_val": weights[kept]}
    fitted, same, plain = (
        clone(estimator).set_params(method=method).fit(X[:40], Y[:40], **judges)
        for judges in (
            {"X_val": X, "y_val": Y, "sample_weight_val": weights},
            few,
            {"X_val": X, "y_val": Y},
        )
    )
    assert np.array_equal(fitted.coef_, same.coef_)
    assert fitted.validation_score_ == same.validation_score_ != plain.validation_score_
    if method == QUICK:
        twice = np.repeat(np.arange(N), weights.astype(int))
        assert fitted.validation_score_ == pytest.approx(fitted.score(X[twice], Y[twice]))


def test_entries_given_twice_are_their_sum(rng):
    dense = rng.normal(size=(200, 4))
    y = dense[:, 0] + 0.3 * rng.normal(size=200) > 0.5
    rows, columns = np.indices(dense.shape)
    half = [np.tile(one.ravel(), 2) for one in (0.5 * dense, rows, columns)]
    order = np.argsort(half[1], kind="stable")
    indptr = np.arange(201) * 8
    twice = sparse.csr_matrix((half[0][order], half[2][order], indptr), shape=dense.shape)
    assert twice.nnz == 2 * dense.size
    clf = MetricClassifier("f1", model="linear", random_state=0)
    one, two = (clone(clf).fit(X, y) for X in (dense, twice))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)
    assert twice.nnz == 2 * dense.size
