"""More than two classes: metrics, offsets, surrogates, the default and the estimator's door."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics as oracle
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from anymetric import MetricClassifier, as_metric, metric, per_class, scorer
from anymetric.auto import Auto, SingleBest
from anymetric.data import Data
from anymetric.descent import Descent
from anymetric.errors import MetricWarning
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.metrics import ByGroup, Classes, ClassF, CohenKappa, CostMatrix, meant
from anymetric.models import Linear, Outputs, Reweighted
from anymetric.multinomial import TableLoss, solved
from anymetric.problem import Problem
from anymetric.projections import LBFGS, GaussNewton
from anymetric.solution import Status
from anymetric.starts_classes import OnValidation, Shifted
from anymetric.surrogates import bind, class_losses
from class_oracles import BY_CLASS, FOUR


def drawn(seed, n=60, classes=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    scores = rng.normal(size=(n, classes)) + 0.8 * np.eye(classes)[y]
    return y, scores, rng.integers(1, 4, size=n)


def value(spec, y, scores, classes=FOUR, **given):
    return float(meant(as_metric(spec), classes).bind(y, labels=classes, **given).values(scores))


@pytest.mark.parametrize("spec", BY_CLASS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_metrics_of_many_classes_are_scikit_learns(spec, seed):
    y, scores, weights = drawn(seed, n=12 if seed == 3 else 60)
    expected = BY_CLASS[spec](y, scores.argmax(axis=1), weights)
    assert_allclose(value(spec, y, scores, weights=weights), expected, atol=1e-12)


@pytest.mark.parametrize("spec", BY_CLASS, ids=str)
def test_a_weight_is_a_row_repeated(spec):
    y, scores, weights = drawn(0)
    repeated = np.repeat(np.arange(len(y)), weights)
    weighted = value(spec, y, scores, weights=weights)
    assert_allclose(weighted, value(spec, y[repeated], scores[repeated]))


def test_a_class_that_is_not_there_is_left_out_as_scikit_learn_does():
    y, scores, _ = drawn(1)
    y, scores = y % 3, scores.copy()
    scores[:, 3] = -9.0
    for spec in ("macro_f1", "balanced_accuracy", "weighted_f1"):
        expected = BY_CLASS[spec](y, scores.argmax(axis=1), None)
        assert_allclose(value(spec, y, scores), expected)


@pytest.mark.parametrize(
    "spec", ["accuracy", "error", "balanced_accuracy", "balanced_error", "gmean"]
)
def test_two_classes_have_the_binary_metrics_values(spec):
    y, scores, weights = drawn(2, classes=2)
    signed = np.where(y == 1, 1.0, -1.0)
    binary = as_metric(spec).bind(signed, weights=weights).values(scores[:, 1] - scores[:, 0])
    many = value(spec, y, scores, Classes((0, 1)), weights=weights)
    assert_allclose(many, float(binary))


@pytest.mark.parametrize("spec", [ClassF("weighted"), CohenKappa(), ClassF("micro")], ids=str)
def test_a_metric_of_many_classes_serves_two(spec):
    y, scores, weights = drawn(3, classes=2)
    signed = np.where(y == 1, 1.0, -1.0)
    margin = scores[:, 1] - scores[:, 0]
    bound = spec.bind(signed, weights=weights, labels=("no", "yes"))
    many = value(spec, y, scores, Classes((0, 1)), weights=weights)
    assert_allclose(float(bound.values(margin)), many)
    sweep = bound.sweep(margin)
    direct = [float(bound.values(margin + shift)) for shift in sweep.shifts]
    assert_allclose(sweep.values, direct, atol=1e-12)


def test_groups_are_taken_one_by_one():
    y, scores, _ = drawn(4)
    groups = np.arange(len(y)) % 3
    each = [value("macro_f1", y[groups == g], scores[groups == g]) for g in range(3)]
    for worst, expected in ((True, min(each)), (False, np.mean(each))):
        spec = ByGroup(ClassF(), worst=worst)
        assert_allclose(value(spec, y, scores, side={"groups": groups}), expected)
    assert_allclose(value("worst_group_f1", y, scores, side={"groups": groups}), min(each))


@pytest.mark.parametrize("spec", ["f1", "roc_auc", "precision@5", "penalised_demographic_parity"])
def test_a_metric_of_one_positive_class_says_what_to_take_instead(spec):
    with pytest.raises(ValueError, match="macro_f1, micro_f1"):
        meant(as_metric(spec), FOUR)


def test_a_function_gets_the_users_labels_and_a_score_for_every_class():
    seen = {}

    @metric(greater_is_better=True)
    def plain(y_true, y_pred, amount):
        seen["plain"] = (set(y_true.tolist()), set(y_pred.tolist()), amount.sum())
        return np.mean(y_true == y_pred)

    @metric(greater_is_better=True)
    def scored(y_true, y_score):
        seen["scored"] = y_score.shape
        return 0.0

    y, scores, _ = drawn(5)
    amount = np.ones(len(y))
    assert value(plain, y, scores, side={"amount": amount}) == np.mean(scores.argmax(1) == y)
    assert seen["plain"] == (set(FOUR.names), set(FOUR.names), len(y))
    value(scored, y, scores)
    assert seen["scored"] == (len(y), 4)


@pytest.mark.parametrize("name", ["f1_macro", "roc_auc_ovr", "neg_log_loss", "matthews_corrcoef"])
def test_a_scorer_gets_a_stand_in_of_many_classes(name):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    three = Classes((0, 1, 2))
    expected = oracle.get_scorer(name)(model, X, y)
    assert_allclose(value(name, y, model.decision_function(X), three), expected, rtol=1e-6)


def test_a_cost_matrix_of_the_wrong_size_is_refused():
    y, scores, _ = drawn(0)
    with pytest.raises(ValueError, match="3 rows, and y has 4 classes"):
        value(CostMatrix(np.eye(3)), y, scores)
    with pytest.raises(ValueError, match="shape"):
        CostMatrix([1.0, 2.0])


# Surrogates and the linear model of many scores.


def sample(n=90, seed=0, classes=3, d=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, d)) + np.eye(classes, d)[y]
    side = {"groups": np.arange(n) % 2, "source": np.array(["x", "y"])[np.arange(n) // 2 % 2]}
    return Data(X, y.astype(float), rng.uniform(0.5, 2.0, n), side)


THREE = Classes(("a", "b", "c"))
SPECS = ["auto", "softmax", "logistic", per_class("squared_hinge"), ["softmax", per_class()]]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_slopes_are_finite_differences(spec):
    data = sample()
    profiler = bind(class_losses(spec, THREE, data), data)
    model = Outputs(Linear.standardised(data.X), 3)
    theta = np.random.default_rng(1).normal(size=model.size(data.X))
    scores = model.scores(data.X, theta)
    jacobian = model.pullback(data.X, theta, profiler.slopes(scores))
    steps = 1e-6 * np.eye(len(theta))
    up, down = (profiler.values(model.scores(data.X, theta + s)) for s in (steps, -steps))
    assert_allclose(jacobian.T, (up - down) / 2e-6, atol=1e-5)
    assert_allclose(profiler.values(scores), up[0], atol=1e-4)


def test_surrogates_are_by_class_group_and_source():
    data = sample()
    names = [s.name for s in class_losses("auto", THREE, data, by=("groups", "source"))]
    assert len(names) == 12
    assert names[0] == "softmax[class=a, groups=0, source=x]"


def test_the_mean_of_the_slices_is_the_cross_entropy():
    data = sample()
    shares = np.bincount(data.y.astype(int), data.weights) / data.weights.sum()
    scores = np.random.default_rng(0).normal(size=(len(data), 3))
    profile = bind(class_losses("auto", THREE, data), data).values(scores.reshape(-1))
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = oracle.log_loss(data.y, share, sample_weight=data.weights)
    assert_allclose(shares @ profile, expected)


def test_the_solver_finds_scikit_learns_model():
    data = sample(400)
    X = StandardScaler().fit_transform(data.X)
    model = Outputs(Linear(), 3)
    members = THREE.members(data.y)
    ridge = 3.0 / data.weights.sum()
    objective = TableLoss(model, X, members, data.weights, ridge)
    theta = solved(objective, tolerance=1e-10).reshape(3, -1)
    peer = LogisticRegression(C=1 / 3.0, tol=1e-8, max_iter=1000)
    peer.fit(X, data.y, sample_weight=data.weights)
    assert_allclose(theta[:, :-1], peer.coef_, atol=5e-3)
    assert_allclose(theta[:, -1] - theta[:, -1].mean(), peer.intercept_, atol=5e-3)


@pytest.mark.parametrize("loss", [None, as_loss("logistic")], ids=str)
def test_the_solvers_derivatives_are_finite_differences(loss):
    data = sample(40)
    rng = np.random.default_rng(0)
    rows = data.weights if loss is None else rng.uniform(0.5, 2.0, (40, 3))
    model = Outputs(Linear.standardised(data.X), 3)
    objective = TableLoss(model, data.X, THREE.members(data.y), rows, 0.1, loss)
    theta = rng.normal(size=12)
    steps = 1e-6 * np.eye(12)
    up, down = ([objective.value_and_gradient(theta + s) for s in steps * k] for k in (1, -1))
    slope = [(u[0] - d[0]) / 2e-6 for u, d in zip(up, down, strict=True)]
    assert_allclose(objective.value_and_gradient(theta)[1], slope, atol=1e-6)
    bend = [(u[1] - d[1]) / 2e-6 for u, d in zip(up, down, strict=True)]
    assert_allclose(objective.hessian(theta), bend, atol=1e-6)


@pytest.mark.parametrize("loss", ["softmax", "hinge"])
@pytest.mark.parametrize(
    "descent",
    [
        Descent(iterations=8, gradient=LinearInterpolation(m=60, sigma=0.3), projection=LBFGS()),
        Descent(
            iterations=15,
            step=0.3,
            gradient=Subspace(m=16, sigma=0.2),
            projection=GaussNewton(iterations=8),
            normalised=True,
        ),
    ],
    ids=["interpolation", "subspace"],
)
def test_the_descent_lowers_the_cost(descent, loss):
    data = sample(150)
    spec = class_losses(per_class(loss), THREE, data)
    problem = Problem(data, spec, ClassF(), model=Outputs(Linear(), 3), labels=THREE)
    rng = np.random.default_rng(0)
    start = 0.3 * rng.normal(size=problem.size)
    run = descent.run(Ledger(problem), [start], rng)
    assert run.cost < run.iterations[0].cost - 0.1


# The door.


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(
        900, 8, n_informative=5, n_classes=4, weights=[0.6, 0.2, 0.12], random_state=3
    )
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return MetricClassifier("macro_f1", model="linear", random_state=0).fit(X[:600], y[:600])


def test_many_classes_just_work(fitted, rows):
    X, y = rows
    assert fitted.coef_.shape == (4, 8)
    assert fitted.intercept_.shape == (4,)
    scores = fitted.decision_function(X)
    assert_allclose(scores, X @ fitted.coef_.T + fitted.intercept_)
    assert (fitted.predict(X) == fitted.classes_[scores.argmax(axis=1)]).all()
    expected = oracle.f1_score(y[600:], fitted.predict(X[600:]), average="macro")
    assert_allclose(fitted.score(X[600:], y[600:]), expected)
    assert_allclose(sum(fitted.weights_.values()), 1.0)
    assert set(fitted.weights_) == {f"softmax[class={name}]" for name in fitted.classes_}
    assert set(fitted.class_weight_) == set(fitted.classes_.tolist())
    assert_allclose(sum(fitted.row_shares_.values()), 1.0)
    assert fitted.sample_weight_.shape == (600,)
    assert len(fitted.history_) == len(fitted.summary_.candidates) + 1


def test_the_average_is_not_behind_the_plain_model_at_its_offsets(fitted):
    plain = fitted.summary_.candidates[0]
    assert fitted.cost_ <= plain.cost + fitted.summary_.error


def test_the_metric_pays_against_logistic_regression():
    X, y = make_classification(
        2400, 8, n_informative=5, n_classes=3, weights=[0.85, 0.1], class_sep=0.6, random_state=1
    )
    clf = MetricClassifier("macro_f1", model="linear", random_state=0)
    clf.fit(X[:1200], y[:1200])
    plain = LogisticRegression(max_iter=500).fit(X[:1200], y[:1200])
    theirs = oracle.f1_score(y[1200:], plain.predict(X[1200:]), average="macro")
    assert clf.score(X[1200:], y[1200:]) > theirs + 0.02


def test_a_fit_is_repeated_by_its_seed_and_survives_pickling(fitted, rows):
    X, y = rows
    again = clone(fitted).fit(X[:600], y[:600])
    assert_allclose(again.coef_, fitted.coef_)
    assert_allclose(pickle.loads(pickle.dumps(fitted)).coef_, fitted.coef_)


def test_a_diagnosis_names_a_slope_for_every_class(fitted, rows):
    X, y = rows
    found = fitted.diagnose(X[600:], y[600:])
    assert set(found.slopes) == set(fitted.surrogates_)
    assert_allclose(found.cost, 1.0 - fitted.score(X[600:], y[600:]))
    assert fitted.summary_.gain_error >= 0.0


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_give_the_same_model(fitted, rows, form):
    X, y = rows
    same = clone(fitted).fit(form(X[:600]), y[:600])
    assert_allclose(same.decision_function(X[600:]), fitted.decision_function(X[600:]), atol=1e-4)


def test_rows_of_weight_zero_are_not_there(rows):
    X, y = rows
    weight = (np.arange(300) < 200).astype(float)
    some = MetricClassifier("gmean", model="linear", random_state=0).fit(
        X[:300], y[:300], sample_weight=weight
    )
    less = MetricClassifier("gmean", model="linear", random_state=0).fit(X[:200], y[:200])
    assert_allclose(some.coef_, less.coef_)
    assert np.all(some.sample_weight_[200:] == 0.0)


def test_validation_rows_groups_and_sources_are_used(rows):
    X, y = rows
    groups, source = np.arange(900) % 2, np.array(["p", "q"])[np.arange(900) // 2 % 2]
    clf = MetricClassifier("worst_group_accuracy", model="linear", random_state=0).fit(
        X[:300],
        y[:300],
        groups=groups[:300],
        source=source[:300],
        X_val=X[300:600],
        y_val=y[300:600],
        groups_val=groups[300:600],
    )
    each = [
        np.mean(clf.predict(X[600:][g]) == y[600:][g])
        for g in np.eye(2, dtype=bool)[groups[600:]].T
    ]
    assert_allclose(clf.score(X[600:], y[600:], groups=groups[600:]), min(each))
    assert any("source=q" in name for name in clf.weights_)
    assert any("source" in c.name for c in clf.summary_.candidates)


@pytest.mark.parametrize("use", [True, False])
def test_validation_rows_train_only_if_they_may(rows, use):
    X, y = rows
    clf = MetricClassifier(
        "macro_f1", method=Auto(use_validation=use), model="linear", random_state=0
    ).fit(X[:200], y[:200], X_val=X[200:320], y_val=y[200:320])
    named = [c.name for c in clf.summary_.candidates]
    trains = [name.startswith("valid") or "+ valid" in name for name in named]
    assert trains == [use] * len(named)
    assert ("validation rows" in clf.weights_) == use


@pytest.mark.parametrize("budget", [1, 4, 17, 90])
def test_the_calls_of_a_users_function_are_counted_and_never_exceeded(rows, budget):
    X, y = rows
    calls = []

    def hits(y_true, y_pred):
        calls.append(len(y_true))
        return float(np.mean(y_true == y_pred))

    clf = MetricClassifier(
        hits, greater_is_better=True, max_metric_calls=budget, model="linear", random_state=0
    ).fit(X[:200], y[:200])
    assert len(calls) == clf.n_metric_calls_ <= budget
    assert clf.score(X[200:], y[200:]) > 0.5


def test_a_failing_function_leaves_the_best_model_so_far(rows):
    X, y = rows
    calls = []

    def fragile(y_true, y_pred):
        calls.append(1)
        if len(calls) > 150:
            raise RuntimeError("no more")
        return float(np.mean(y_true == y_pred))

    clf = MetricClassifier(fragile, greater_is_better=True, model="linear", random_state=0)
    with pytest.warns(MetricWarning, match=r"no more.*rows of 4 classes"):
        clf.fit(X[:200], y[:200])
    assert clf.status_ is Status.FAULTS
    assert clf.n_metric_calls_ == len(calls) < 200
    assert clf.predict(X[:5]).shape == (5,)


def ours(y_true, y_pred):
    return oracle.f1_score(y_true, y_pred, average="macro")


@pytest.mark.parametrize("spec", ["macro_f1"])
def test_as_many_calls_as_a_run_makes_are_enough_for_it(rows, spec, monkeypatch):
    monkeypatch.setattr("anymetric.auto.judges.calls.PLENTY", 1)  # calls are never few
    X, y = rows
    free = MetricClassifier(spec, greater_is_better=True, model="linear", random_state=0).fit(
        X[:100], y[:100]
    )
    bound = clone(free).set_params(max_metric_calls=free.n_metric_calls_).fit(X[:100], y[:100])
    assert bound.n_metric_calls_ == free.n_metric_calls_
    assert bound.status_ == free.status_
    np.testing.assert_array_equal(bound.coef_, free.coef_)


@pytest.mark.parametrize("method", ["descent", Auto(selection=SingleBest())])
def test_other_methods_take_many_classes(rows, method):
    X, y = rows
    clf = MetricClassifier("macro_f1", method=method, model="linear", random_state=0).fit(
        X[:300], y[:300]
    )
    assert clf.coef_.shape == (4, 8)
    assert clf.score(X[600:], y[600:]) > 0.3


def test_users_surrogates_and_starts_are_taken(rows):
    X, y = rows
    begun = np.zeros((1, 4 * 9))
    clf = MetricClassifier(
        "accuracy",
        surrogates=per_class("logistic"),
        starts=begun,
        method=Descent(iterations=2, gradient=Subspace(m=4), projection=LBFGS(iterations=5)),
        model="linear",
        random_state=0,
    ).fit(X[:200], y[:200])
    assert clf.surrogates_ == tuple(f"logistic[class={name}]" for name in clf.classes_)


def test_another_family_learns_many_classes(rows):
    X, y = rows
    forest = Reweighted(RandomForestClassifier(15, min_samples_leaf=3))
    clf = MetricClassifier("macro_f1", model=forest, random_state=0).fit(X[:300], y[:300])
    assert not hasattr(clf, "coef_")
    assert_allclose(clf.decision_function(X), clf.model_.scores(X))
    assert clf.score(X[600:], y[600:]) > 0.4
    assert pickle.loads(pickle.dumps(clf)).predict(X[:3]).tolist() == clf.predict(X[:3]).tolist()
    found = clf.diagnose(X[600:], y[600:])
    assert_allclose(found.cost, 1.0 - clf.score(X[600:], y[600:]))


def test_families_compete_in_one_pool(rows):
    X, y = rows
    tree = Reweighted(DecisionTreeClassifier(max_depth=3))
    clf = MetricClassifier("macro_f1", model=tree, random_state=0)
    clf.fit(X[:150], y[:150])
    problem = clf._problem(clf.metric_, *[Data(X[:150], clf._encode_valid(y[:150]))] * 2)
    both = Auto(learners=(tree,))
    run = both.run(Ledger(problem), [], np.random.default_rng(0))
    families = run.summary.families
    assert set(families) == {"DecisionTreeClassifier", "linear"}
    assert_allclose(sum(family.share for family in families.values()), 1.0)
    assert min(family.behind for family in families.values()) == 0.0
    assert run.scorer.scores(X).shape == (900, 4)


def test_a_descent_that_knows_two_classes_says_so(rows):
    pytest.importorskip("lightgbm")
    with pytest.raises(TypeError, match="4 classes: use method='auto'"):
        MetricClassifier("macro_f1", model="boosted", method="descent").fit(*rows)


@pytest.mark.parametrize("n", [3, 5, 12, 30])
def test_a_handful_of_rows_gives_a_sensible_model(rows, n):
    X, y = rows
    chosen = np.concatenate([np.flatnonzero(y == c)[: -(-n // 3)] for c in ("ant", "bee", "cat")])
    clf = MetricClassifier("macro_f1", model="linear", random_state=0).fit(X[chosen], y[chosen])
    assert np.isfinite(clf.coef_).all()
    assert clf.score(X[chosen], y[chosen]) > 0.5


def test_a_class_of_one_row_does_no_harm(rows):
    X, y = rows
    y = np.where(np.arange(900) == 7, "eel", y)
    clf = MetricClassifier("macro_f1", model="linear", random_state=0).fit(X[:150], y[:150])
    assert clf.coef_.shape == (5, 8)


def test_validation_rows_of_an_unknown_class_are_refused(rows):
    X, y = rows
    seen = np.flatnonzero(y != "dog")
    with pytest.raises(ValueError, match=r"dog.*never seen"):
        MetricClassifier("macro_f1").fit(X[seen], y[seen], X_val=X, y_val=y)


def test_a_metric_of_one_positive_class_is_refused_before_any_work(rows):
    with pytest.raises(ValueError, match="one positive class, and y has 4 classes"):
        MetricClassifier("f1").fit(*rows)


def test_a_search_takes_many_classes(rows):
    X, y = rows
    search = GridSearchCV(
        MetricClassifier("macro_f1", model="linear", random_state=0),
        {"metric": ["accuracy", "macro_f1"]},
        scoring="f1_macro",
        cv=2,
    ).fit(X[:150], y[:150])
    assert set(search.best_params_) == {"metric"}


@pytest.mark.parametrize("spec", ["macro_f1", "error", "f1_macro"])
@pytest.mark.parametrize("estimator", [LogisticRegression(max_iter=500), GaussianNB()], ids=str)
def test_our_scorer_reads_other_peoples_classifiers(spec, estimator):
    X, y = load_iris(return_X_y=True)
    estimator = clone(estimator).fit(X, y)
    theirs = {"macro_f1": "f1_macro", "error": "accuracy"}.get(spec, spec)
    expected = oracle.get_scorer(theirs)(estimator, X, y) - (spec == "error")
    assert_allclose(scorer(spec)(estimator, X, y), expected, rtol=1e-6)


def test_the_notebook_shows_the_run(fitted):
    assert "best so far" in fitted._repr_html_()


def test_without_an_intercept_there_are_no_offsets(rows):
    X, y = rows
    clf = MetricClassifier("accuracy", fit_intercept=False, model="linear", random_state=0).fit(
        X[:200], y[:200]
    )
    assert not np.any(clf.intercept_)
    assert not any(clf.summary_.offsets.values())


def test_offsets_that_fit_noise_alone_are_not_taken():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400).astype(float)
    data = Data(rng.normal(size=(400, 3)), y)
    problem = Problem(
        data, class_losses("auto", FOUR, data), ClassF(), model=Outputs(Linear(), 4), labels=FOUR
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Auto().run(Ledger(problem), [], np.random.default_rng(1))
    honest = 1.0 - 0.25
    assert run.cost > honest - 0.08


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_baseline_on_both_samples_is_scikit_learns_model_of_all_rows(form):
    X, y = make_classification(600, n_informative=4, n_classes=3, random_state=0)
    X /= X[:400].std(axis=0)
    weights = np.append(np.random.default_rng(0).integers(1, 4, 400), np.ones(200))
    clf = MetricClassifier(
        "accuracy", method=OnValidation(both=True), model="linear", random_state=0
    )
    rows, judges = (form(X[:400]), y[:400]), {"X_val": form(X[400:]), "y_val": y[400:]}
    clf.fit(*rows, sample_weight=weights[:400], **judges)
    # Our ridge is a part of the mean loss, theirs of the sum.
    theirs = LogisticRegression(C=1.0 / (1e-4 * weights.sum()), tol=1e-10, max_iter=5000)
    theirs.fit(X, y, sample_weight=weights)
    assert_allclose(centred(clf, form(X)), centred(theirs, X), atol=0.02)


def test_a_tuned_threshold_of_many_classes_is_the_plain_model_at_other_offsets():
    X, y = make_classification(
        600, n_informative=4, n_classes=3, weights=[0.8, 0.1], random_state=0
    )
    X /= X.std(axis=0)
    clf = MetricClassifier("macro_f1", method=Shifted(), model="linear", random_state=0)
    clf.fit(X, y, X_val=X, y_val=y)
    plain = LogisticRegression(C=1.0 / (1e-4 * 600), tol=1e-10, max_iter=5000).fit(X, y)
    moved = centred(clf, X) - centred(plain, X)
    assert np.ptp(moved, axis=0).max() < 0.02
    assert np.abs(moved).max() > 0.1
    ours, theirs = (oracle.f1_score(y, model.predict(X), average="macro") for model in (clf, plain))
    assert ours > theirs


def centred(model, X):
    """Return scores up to what they share, which no decision depends on."""
    scores = model.decision_function(X)
    return scores - scores.mean(axis=1, keepdims=True)
