"""The default in the estimators: what it does where tables, metrics or samples are odd."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss

from anymetric.auto import Auto
from anymetric.baselines import BothLogistic, TunedThreshold
from anymetric.estimators import MetricClassifier
from anymetric.metrics import Profit, metric
from anymetric.solution import Status
from conftest import blobs


def line(spec, **given):
    """Return the default with linear models alone."""
    return MetricClassifier(spec, model="linear", random_state=0, **given)


@pytest.mark.parametrize(
    ("use", "trained"), [("auto", {True, False}), (True, {True}), (False, {False})]
)
def test_validation_rows_train_as_the_setting_says(use, trained, rng):
    data = blobs(rng, n=600)
    kept = {"X_val": data.X[400:], "y_val": data.y[400:]}
    model = line("f1", use_validation=use)
    model.fit(data.X[:400], data.y[:400], **kept)
    names = [c.name for c in model.summary_.candidates]
    assert {"valid" in name.replace("like valid", "") for name in names} == trained
    assert ("validation rows" in model.weights_) <= (use is not False)


def test_validation_rows_only_are_held_out_where_there_is_one_sample(rng):
    data = blobs(rng, n=600)
    by_turns, held_out = (
        line("f1", use_validation=use).fit(data.X, data.y) for use in ("auto", False)
    )
    assert by_turns.validation_ != held_out.validation_
    assert np.count_nonzero(held_out.sample_weight_) < len(data)


def test_where_much_ridge_is_needed_it_is_tried(rng):
    """Three hundred columns of noise beside one that tells."""
    y = rng.random(400) < 0.4
    X = rng.normal(size=(400, 300))
    X[:, 0] += np.where(y, 1.0, -1.0)
    clf = line("f1").fit(X, y)
    costs = {one.name: one.cost for one in clf.summary_.candidates}
    assert costs["all, ridge 100"] < costs["all, ridge 0.1"]


def test_sources_are_searched_where_rows_are_cross_fitted(rng):
    """Half of the rows carry random labels; a column says which half."""
    data = blobs(rng, n=1200)
    bad = np.arange(1200) < 600
    y = np.where(bad, rng.permutation(data.y), data.y)
    source = np.where(bad, "vendor B", "vendor A")
    clf = line("balanced_error").fit(data.X, y, source=source)
    shares = {c.name: c.share for c in clf.summary_.candidates}
    assert any("source vendor A" in name for name in shares)
    assert sum(v for name, v in shares.items() if "vendor B" in name) < 0.2


def profit_of(weigh, n=2400):
    """One feature tells who defaults, another what is at stake: profit asks for both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 1.5 * rng.normal(size=n) > 1.0).astype(int)
    amount, half = np.exp(X[:, 1]), n // 2

    @metric(greater_is_better=True)
    def profit(y_true, y_pred, amount):
        return float(np.mean(y_pred * (y_true * amount - 0.7)))

    clf = line(Profit(tp="amount", flag_cost=0.7))
    given = {"side": {"amount": amount[:half]}} if weigh else {}
    clf = clf if weigh else line(Profit(tp=float(amount.mean()), flag_cost=0.7))
    clf.fit(X[:half], y[:half], **given)
    told = {"side": {"amount": amount[half:]}} if weigh else {}
    return profit.function(y[half:], clf.predict(X[half:], **told), amount[half:])


def test_amounts_that_the_metric_reads_weigh_rows():
    assert profit_of(weigh=True) > 1.2 * profit_of(weigh=False)


def test_rare_positives_are_found_as_a_tuned_threshold_finds_them():
    """Even cuts of ten thousand rows pass thirty positives in one step."""
    rng = np.random.default_rng(0)

    def drawn(n=10_000):
        y = (np.arange(n) < 30).astype(int)
        return rng.normal(size=(n, 5)) + 5.0 * y[:, None] * (np.arange(5) == 0), y

    (X, y), (X_val, y_val), test = drawn(), drawn(), drawn()
    ours, theirs = (
        clf.fit(X, y, X_val=X_val, y_val=y_val).score(*test)
        for clf in (line("f1"), TunedThreshold("f1", random_state=0))
    )
    assert ours > theirs - 0.03


def test_of_thresholds_as_good_the_middle_one_is_taken():
    """The first would flag a single row, and often none of the next sample."""
    values = []
    for seed in range(6):
        X, y = make_classification(
            450, 4, n_informative=3, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=seed
        )
        clf = line("precision").fit(X[:150], y[:150])
        assert clf.predict(X[150:]).sum() > 0
        values.append(clf.score(X[150:], y[150:]))
    assert np.mean(values) > 0.7


def test_a_slice_that_the_user_names_is_weighed_by_the_metric(rng):
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] + 0.7 * rng.normal(size=3000) > 0.5
    region = rng.choice(["north", "south", "west"], 3000)
    train, valid = np.arange(1500), np.arange(1500, 3000)
    wrong = np.where(region == "west", ~y, y)
    clf = line("f1", slices="region", use_validation=False).fit(
        X[train],
        wrong[train],
        side={"region": region[train]},
        X_val=X[valid],
        y_val=y[valid],
        side_val={"region": region[valid]},
    )
    west = sum(weight for name, weight in clf.weights_.items() if "west" in name)
    assert west < 0.15  # a third of the rows


def test_the_learned_loss_has_the_validation_rows_too(rng):
    X = rng.normal(size=(3000, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=3000) > 0.5).astype(int)
    train, valid, test = np.split(np.arange(3000), [1500, 2000])
    wrong = np.where(rng.random(1500) < 0.45, 1 - y[train], y[train])
    weights = np.where(np.arange(500) < 400, 1.0, 0.0)
    clf = line("accuracy").fit(
        X[train], wrong, X_val=X[valid], y_val=y[valid], sample_weight_val=weights
    )
    own, judges = clf.sample_weight_, clf.sample_weight_val_
    assert own.mean() == pytest.approx(1.0)
    assert np.all(judges[400:] == 0.0)
    share = judges.sum() / (own.sum() + judges.sum())
    assert share == pytest.approx(clf.weights_["validation rows"])
    both = np.concatenate([train, valid])
    other = LogisticRegression().fit(
        X[both], np.append(wrong, y[valid]), sample_weight=np.append(own, judges)
    )
    assert other.score(X[test], y[test]) > 0.8
    again = clf.set_params(use_validation=False).fit(
        X[train], wrong, X_val=X[valid], y_val=y[valid]
    )
    assert not hasattr(again, "sample_weight_val_")


def test_few_rows_whose_candidates_tie_are_not_called_flat():
    X, y = make_classification(40, 4, random_state=0)
    status = line("f1").fit(X, y).status_
    assert status is Status.SELECTED


def test_what_the_estimator_is_given_of_validation_rows_holds_for_a_part_too(rng):
    data = blobs(rng, n=600)
    train, valid = data.take(np.arange(300)), data.take(np.arange(300, 600))
    clf = line("f1", method=Auto(), use_validation=False)
    clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y)
    assert "validation rows" not in clf.weights_


@pytest.mark.parametrize("kind", ["scorer", "function"])
def test_probabilities_are_as_good_as_those_of_a_plain_model(kind):
    """A ridge of ten rows makes scores too small by a factor of three here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 10))
    y = (4.0 * X[:, 0] + 0.7 * rng.normal(size=2600) > -2.5).astype(int)

    def odds_loss(y_true, y_prob):
        return log_loss(y_true, y_prob)

    spec = "neg_log_loss" if kind == "scorer" else odds_loss
    clf = line(spec).fit(X[:600], y[:600])
    ours = log_loss(y[600:], expit(clf.decision_function(X[600:])))
    plain = LogisticRegression().fit(X[:600], y[:600]).predict_proba(X[600:])
    assert ours < log_loss(y[600:], plain)


def test_a_function_with_a_cut_of_its_own_gets_scores_as_they_are():
    """Log-odds of rare positives never reach one half; balanced scores do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6500, 8))
    y = (1.2 * X[:, 0] + rng.logistic(size=6500) > 3.8).astype(int)

    def cut_score(y_true, y_prob):
        return f1_score(y_true, y_prob > 0.5)

    clf = line(cut_score).fit(X[:1500], y[:1500])
    plain = LogisticRegression().fit(X[:1500], y[:1500])
    assert clf.score(X[1500:], y[1500:]) > f1_score(y[1500:], plain.predict(X[1500:])) + 0.05


def test_a_handful_of_rows_does_not_say_how_large_its_scores_should_be():
    """Rows that a model separates would make its scores as large as can be."""
    X, y = make_classification(30, 5, random_state=0)
    clf = line("neg_log_loss").fit(X, y)
    assert np.abs(clf.decision_function(X)).max() < 10.0


def test_labels_that_are_nearly_certain_get_less_ridge():
    found, light = [], 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        w, X = rng.normal(size=20), rng.normal(size=(12_000, 20))
        y = X @ w > 2.05 * np.linalg.norm(w)
        clf = line("f1").fit(X[:2000], y[:2000])
        plain = LogisticRegression().fit(X[:2000], y[:2000])
        found.append((clf.score(X[2000:], y[2000:]), f1_score(y[2000:], plain.predict(X[2000:]))))
        light += sum(
            c.share for c in clf.summary_.candidates if c.name.endswith(("ridge 1", "ridge 0.1"))
        )
    ours, theirs = np.mean(found, axis=0)
    assert light > 0.5
    assert ours > theirs + 0.02


def test_slices_by_a_column_that_the_user_names_are_weighed(rng):
    data = blobs(rng, n=800)
    region = np.where(rng.random(800) < 0.5, "north", "south")
    model = line("f1", slices="region")
    model.fit(data.X, data.y, side={"region": region})
    assert sum("region=north" in name for name in model.weights_) == 2
    with pytest.raises(ValueError, match="800 values"):
        MetricClassifier("f1", slices="x").fit(data.X, data.y, side={"x": data.X[:, 0]})


def one_hot(seed, n=6000):
    """Return eight categorical columns of four to two dozen values, and a label of a fifth."""
    rng = np.random.default_rng(seed)
    parts, eta = [], np.zeros(n)
    for _ in range(8):
        size = rng.integers(4, 25)
        code = rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.7)))
        eta += 0.7 * rng.normal(size=size)[code]
        parts.append(np.eye(size)[code])
    return np.hstack(parts), (eta + rng.logistic(size=n) > np.quantile(eta, 0.8)).astype(int)


def test_few_rows_of_many_columns_are_chosen_among_as_well_as_by_the_best_baseline():
    """By their own scores training rows choose what they have trained most: 0.01 behind."""
    values = []
    for seed in range(4):
        X, y = one_hot(seed)
        for clf in (line("f1"), BothLogistic("f1", random_state=0)):
            clf.fit(X[:500], y[:500], X_val=X[500:1000], y_val=y[500:1000])
            values.append(f1_score(y[1000:], clf.predict(X[1000:])))
    ours, theirs = np.reshape(values, (-1, 2)).mean(axis=0)
    assert ours > theirs - 0.005
