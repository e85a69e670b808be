"""Exports: objectives, metrics, weights and decisions for other learners."""

import pickle

import lightgbm
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score

from anymetric import Auto, MetricClassifier, MetricRanker, MetricRegressor
from anymetric.exports import CatBoostObjective, LearnedLoss, Objective, cross_fit
from anymetric.exports.objectives import objective_for
from anymetric.losses import Huber, Lp, Tilted, as_loss

pytestmark = pytest.mark.filterwarnings("ignore:Failed to import numba")
TWO = LearnedLoss(((1.0, None),), 2, (0.5, 2.0))
THREE = LearnedLoss(((0.75, None), (0.25, as_loss("logistic"))), 3, (0.5, 2.0, 1.0))


def numbers(*parts, unit=None):
    return LearnedLoss(parts, 0, (), unit)


class Unit:
    center, spread = 3.0, 2.5

    def small_scores(self, y):
        return (np.log(y) - self.center) / self.spread


SMOOTH = {
    "two classes": TWO,
    "three classes": THREE,
    "squared": numbers((1.0, None)),
    "squared and cubic": numbers((0.5, None), (0.5, Lp(3.0))),
    "of logarithms": numbers((0.5, None), (0.5, Lp(4.0)), unit=Unit()),
}
FLAT = {
    "huber": numbers((0.4, Huber(0.2)), (0.6, Lp(1.5))),
    "tilted": numbers((1.0, Tilted(0.8, 0.2))),
}


def drawn(loss, n=40):
    rng = np.random.default_rng(0)
    if loss.classes:
        shape = (n, loss.classes) if loss.classes > 2 else n
        return rng.integers(max(loss.classes, 2), size=n), rng.normal(scale=2.0, size=shape)
    return np.exp(rng.normal(size=n)), rng.normal(scale=2.0, size=n)


def differences(loss, y, scores, step):
    """Central first and second differences of the summed loss by every score."""
    first, second = np.empty(scores.shape), np.empty(scores.shape)
    for place in np.ndindex(scores.shape):
        row = place[0]
        values = []
        for move in (-step, 0.0, step):
            there = scores[[row]].copy()
            there[(0, *place[1:])] += move
            values.append(loss.values(y[[row]], there, None)[0])
        first[place] = (values[2] - values[0]) / (2.0 * step)
        second[place] = (values[2] - 2.0 * values[1] + values[0]) / step**2
    return first, second


@pytest.mark.parametrize("name", [*SMOOTH, *FLAT])
def test_derivatives_agree_with_finite_differences(name):
    loss = {**SMOOTH, **FLAT}[name]
    y, scores = drawn(loss)
    gradient, hessian = loss.derivatives(y, scores)
    first, second = differences(loss, y, scores, 1e-4)
    np.testing.assert_allclose(gradient, first, atol=1e-4, rtol=1e-4)
    if name in SMOOTH:
        np.testing.assert_allclose(hessian, second, atol=1e-4, rtol=1e-3)
    else:  # a parabola above the loss
        assert np.all(hessian >= second - 1e-3)
        assert np.all(hessian > 0.0)


def test_catboost_gets_the_negative_derivatives():
    y, scores = drawn(TWO)
    pairs = np.array(CatBoostObjective(TWO).calc_ders_range(scores, y, None))
    np.testing.assert_allclose(-pairs.T, Objective(TWO)(y, scores))
    y, scores = drawn(THREE)
    first, second = objective_for("catboost", THREE).calc_ders_multi(scores[0], y[0], 2.0)
    gradient, hessian = Objective(THREE)(y[:1], scores[:1], np.array([2.0]))
    np.testing.assert_allclose(-np.array(first), gradient[0])
    np.testing.assert_allclose(-np.diag(second), hessian[0])


def test_weights_of_rows_replace_those_of_classes():
    y, scores = drawn(TWO)
    rows = np.random.default_rng(1).random(len(y))
    plain = LearnedLoss(((1.0, None),), 2, (1.0, 1.0))
    np.testing.assert_allclose(
        TWO.derivatives(y, scores, rows), np.multiply(rows, plain.derivatives(y, scores))
    )


def test_the_best_constant_has_no_gradient():
    for loss in (TWO, THREE, SMOOTH["of logarithms"], FLAT["huber"]):
        y, scores = drawn(loss)
        at = loss.init_score(y)
        total = loss.derivatives(y, np.zeros(scores.shape) + at)[0].sum(axis=0)
        np.testing.assert_allclose(total, 0.0, atol=1e-5)


@pytest.fixture(scope="module")
def rows():
    """Clean validation rows, and training rows of which a group's labels are often wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3400, 4))
    logit = 5.0 * X[:, 0] * (X[:, 1] > 0.0) + 3.0 * X[:, 2] - 3.0
    y = (rng.logistic(size=len(X)) < logit).astype(int)
    groups = np.where(rng.random(len(X)) < 0.5, "a", "b")
    noisy = np.where((groups == "a") & (rng.random(len(X)) < 0.45), 1 - y, y)
    source = np.where(rng.random(len(X)) < 0.3, "new", "old")
    train, valid, test = np.split(np.arange(len(X)), [900, 1400])
    given = {"X": X[train], "y": noisy[train], "groups": groups[train], "source": source[train]}
    judges = {"X_val": X[valid], "y_val": y[valid], "groups_val": groups[valid]}
    return {**given, **judges}, (X[test], y[test])


@pytest.fixture(scope="module")
def clf(rows):
    method = MetricClassifier("f1", model="boosted", random_state=0)
    return method.fit(**rows[0])


@pytest.fixture(scope="module")
def line(rows):
    return MetricClassifier("f1", model="linear", random_state=0).fit(**rows[0])


def test_weights_of_new_rows_are_the_means_of_their_cells(line, rows):
    given, weights = rows[0], line.export_weights()
    own = (given["y"] == 1) & (given["groups"] == "a") & (given["source"] == "old")
    found = weights([1], groups=["a"], source=["old"])
    assert found[0] == pytest.approx(line.sample_weight_[own].mean())
    both = (given["y"] == 1) & (given["groups"] == "a")
    assert weights([1], groups=["a"])[0] == pytest.approx(line.sample_weight_[both].mean())
    every = line.sample_weight_[given["y"] == 1].mean()
    assert weights([1], groups=["never seen"])[0] == pytest.approx(every)
    clean = weights([0], validation=True)[0]
    assert clean == pytest.approx(line.sample_weight_val_[given["y_val"] == 0].mean())
    assert 0.0 <= weights.explained <= 1.0
    with pytest.raises(ValueError, match="never seen in training"):
        weights([7])


def test_class_weights_are_those_of_scikit_learn(line):
    assert line.export_class_weight() == pytest.approx(line.class_weight_)
    LogisticRegression(class_weight=line.export_class_weight())


def lightgbm_fit(objective):
    def fit(X, y, weight):
        model = lightgbm.LGBMClassifier(
            n_estimators=60, num_leaves=7, reg_lambda=1.0, objective=objective, verbose=-1, n_jobs=1
        ).fit(X, y, sample_weight=weight)
        return lambda X: model.predict(X, raw_score=True)

    return fit


def xgboost_fit(objective):
    import xgboost

    def fit(X, y, weight):
        model = xgboost.XGBClassifier(
            n_estimators=60, max_depth=4, learning_rate=0.1, objective=objective, n_jobs=1
        ).fit(X, y, sample_weight=weight)
        return lambda X: model.predict(X, output_margin=True)

    return fit


def catboost_fit(objective):
    import catboost

    def fit(X, y, weight):
        model = catboost.CatBoostClassifier(
            iterations=60,
            depth=4,
            learning_rate=0.1,
            loss_function=objective,
            eval_metric="Logloss",
            thread_count=1,
            verbose=0,
            allow_writing_files=False,
        ).fit(X, y, sample_weight=weight)
        return lambda X: model.predict(X, prediction_type="RawFormulaVal")

    return fit


FITS = {"lightgbm": lightgbm_fit, "xgboost": xgboost_fit, "catboost": catboost_fit}


@pytest.mark.parametrize("library", FITS)
def test_a_plain_booster_reaches_our_boosted_metric(library, clf, rows):
    given, (X, y) = rows
    objective = pickle.loads(pickle.dumps(clf.export_objective(library)))
    crossed = cross_fit(
        FITS[library](objective),
        given["X"],
        given["y"],
        getattr(clf, "sample_weight_", None),
        X_val=given["X_val"],
        y_val=given["y_val"],
        sample_weight_val=getattr(clf, "sample_weight_val_", None),
        n_splits=3,
    )
    decision = clf.export_decision().tune(crossed.scores, given["y_val"])
    decision = pickle.loads(pickle.dumps(decision))
    theirs, ours = decision.predict(crossed.model(X)), clf.predict(X)
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(y), size=len(y)) for _ in range(100)]
    gaps = [f1_score(y[r], ours[r]) - f1_score(y[r], theirs[r]) for r in draws]
    assert f1_score(y, ours) - f1_score(y, theirs) < np.std(gaps)


def test_native_interfaces_are_served(line, rows):
    import xgboost

    X, y = rows[0]["X"], rows[0]["y"]
    objective, metric = line.export_objective("lightgbm"), line.export_metric("lightgbm")
    data = lightgbm.Dataset(X, y, weight=line.sample_weight_)
    seen = {}
    lightgbm.train(
        {"objective": objective, "verbosity": -1, "num_leaves": 7, "num_threads": 1},
        data,
        5,
        valid_sets=[data],
        feval=metric,
        callbacks=[lightgbm.record_evaluation(seen)],
    )
    curve = seen["training"]["f1"]
    assert curve[-1] > curve[0] > 0.0
    matrix, found = xgboost.DMatrix(X, y), {}
    xgboost.train(
        {"max_depth": 3, "nthread": 1},
        matrix,
        5,
        obj=line.export_objective("xgboost"),
        custom_metric=line.export_metric("xgboost"),
        evals=[(matrix, "train")],
        evals_result=found,
        verbose_eval=False,
    )
    costs = found["train"]["f1_cost"]
    assert costs[-1] < costs[0] < 1.0


def test_evaluation_metrics_stop_boosters(line, rows):
    import catboost
    import xgboost

    given = rows[0]
    X, y, held = given["X"], given["y"], [(given["X_val"], given["y_val"])]
    gbm = lightgbm.LGBMClassifier(n_estimators=4, num_leaves=4, verbose=-1, n_jobs=1)
    gbm.fit(X, y, eval_set=held, eval_metric=line.export_metric("lightgbm"))
    xgb = xgboost.XGBClassifier(
        n_estimators=4, max_depth=2, n_jobs=1, eval_metric=line.export_metric("xgboost")
    )
    xgb.fit(X, y, eval_set=held, verbose=False)
    cat = catboost.CatBoostClassifier(
        iterations=4,
        depth=2,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
        use_best_model=False,
        eval_metric=pickle.loads(pickle.dumps(line.export_metric("catboost"))),
    ).fit(X, y, eval_set=held[0])
    scores = [
        gbm.predict(held[0][0], raw_score=True),
        xgb.predict(held[0][0], output_margin=True),
        cat.predict(held[0][0], prediction_type="RawFormulaVal"),
    ]
    told = [
        gbm.evals_result_["valid_0"]["f1"][-1],
        1.0 - xgb.evals_result()["validation_0"]["f1_cost"][-1],
        next(iter(v for k, v in cat.get_evals_result()["validation"].items() if "CatB" in k))[-1],
    ]
    for own, value in zip(scores, told, strict=True):
        best = max(f1_score(held[0][1], own > cut) for cut in np.unique(own)[:-1])
        assert value == pytest.approx(best, abs=1e-6)


def test_metadata_of_the_evaluated_rows_is_read(rows):
    given = rows[0]
    line = MetricClassifier("group_mean_f1", model="linear", random_state=0).fit(**given)
    metric = line.export_metric("lightgbm", groups=given["groups_val"])
    scores = line.decision_function(given["X_val"])
    name, value, greater = metric(given["y_val"], scores)
    assert name == "group_mean_f1"
    assert greater
    assert value >= line.score(given["X_val"], given["y_val"], groups=given["groups_val"])
    with pytest.raises(ValueError, match="500 rows, and scores of 3 rows"):
        metric(given["y_val"][:3], scores[:3])


def test_the_scorer_tunes_the_threshold(line, rows):
    given = rows[0]
    X, y = given["X_val"], given["y_val"]
    model = LogisticRegression().fit(X, y)
    found = line.export_metric("sklearn")(model, X, y)
    scores = model.decision_function(X)
    assert found == pytest.approx(max(f1_score(y, scores > cut) for cut in np.unique(scores)[:-1]))
    folds = cross_val_score(LogisticRegression(), X, y, scoring=line.export_metric("sklearn"), cv=3)
    assert np.all(folds > 0.3)


def test_a_decision_with_groups_wants_groups(rows):
    given = rows[0]
    fitted = MetricClassifier("group_mean_f1", model="linear", decision="group", random_state=0)
    decision = fitted.fit(**given).export_decision()
    with pytest.raises(ValueError, match="call tune"):
        decision.predict(np.zeros(3))
    shifted = given["X_val"][:, 2] + np.where(given["groups_val"] == "a", 2.0, 0.0)
    tuned = decision.tune(shifted, given["y_val"], groups=given["groups_val"])
    with pytest.raises(ValueError, match="reads the column 'groups'"):
        tuned.predict(shifted)
    moved = tuned.decision_function(shifted, groups=given["groups_val"])
    labels = tuned.predict(shifted, groups=given["groups_val"])
    assert np.array_equal(labels, (moved > 0.0).astype(int))
    assert tuned.rule.shifts["a"] < tuned.rule.shifts["b"]


def test_the_positive_label_may_be_the_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0.8, "ham", "spam")
    clf = MetricClassifier("f1", model="linear", pos_label="ham", random_state=0).fit(X, y)
    scores = LogisticRegression().fit(X, y).decision_function(X)  # higher for "spam"
    labels = clf.export_decision().tune(scores, y).predict(scores)
    assert f1_score(y, labels, pos_label="ham") > 0.85
    value = clf.export_metric("xgboost").value((y == "spam").astype(int), scores)
    assert value >= f1_score(y, labels, pos_label="ham") - 1e-12


def test_three_classes_are_handed_over():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[np.argmax(X + 0.5 * rng.normal(size=X.shape), axis=1)]
    clf = MetricClassifier("macro_f1", model="linear", random_state=0).fit(X, y)
    model = lightgbm.LGBMClassifier(
        n_estimators=20, num_leaves=4, objective=clf.export_objective("lightgbm"), verbose=-1
    ).fit(X, y, sample_weight=clf.sample_weight_)
    decision = clf.export_decision().tune(model.predict(X, raw_score=True), y)
    assert np.mean(decision.predict(model.predict(X, raw_score=True)) == y) > 0.8


def test_a_regression_of_logarithms_is_handed_over():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.exp(X[:, 0] + 5.0 + 0.1 * rng.normal(size=400))
    reg = MetricRegressor("mean_absolute_error", model="linear", random_state=0).fit(X, y)
    assert reg.link_ == "log"
    objective = reg.export_objective("lightgbm")
    data = lightgbm.Dataset(X, y, init_score=np.full(400, objective.init_score(y)))
    model = lightgbm.train({"objective": objective, "verbosity": -1, "num_threads": 1}, data, 60)
    scores = model.predict(X) + objective.init_score(y)
    decision = reg.export_decision().tune(scores, y)
    plain = np.mean(np.abs(y - np.median(y)))
    assert np.mean(np.abs(decision.predict(scores) - y)) < 0.3 * plain


def test_what_has_no_loss_by_row_says_so():
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    y = (X[:, 0] > 0.0).astype(int)
    ranker = MetricRanker("ndcg@5", model="linear", random_state=0).fit(X, y, query=query)
    with pytest.raises(ValueError, match="no loss by row"):
        ranker.export_objective("lightgbm")
    clf = MetricClassifier("f1", method="descent", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="method='auto'"):
        clf.export_weights()
    line = MetricClassifier("f1", model="linear", method=Auto(linear=True), random_state=0)
    with pytest.raises(ValueError, match="library must be one of"):
        line.fit(X, y).export_objective("sklearn")
    with pytest.raises(ValueError, match="y holds numbers"):
        MetricRegressor(model="linear").fit(X, X[:, 0]).export_class_weight()


def test_objectives_survive_cloning(line):
    model = lightgbm.LGBMClassifier(objective=line.export_objective("lightgbm"))
    assert isinstance(clone(model).objective, Objective)
