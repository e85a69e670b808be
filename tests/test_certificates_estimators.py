"""A limit with a confidence: held-out rows certify it, through the estimators."""

import numpy as np
import pytest

from anymetric import MetricClassifier, MetricRegressor, at_least

LINEAR = {"model": "linear", "random_state": 0}
PROMISE = at_least("precision", 0.8, confidence=0.9)


def sample(n, seed, flipped=0.0, apart=1.4):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, 0] += apart * y
    X[:, 1] += 0.7 * y
    return X, np.where(rng.random(n) < flipped, 1 - y, y)


def precise(clf, seed=900):
    X, y = sample(20_000, seed)
    return y[clf.predict(X) == 1].mean()


def test_the_certificate_is_a_sentence_about_rows_that_chose_nothing():
    X, y = sample(1500, 120)
    given = dict(zip(("X_val", "y_val"), sample(800, 121), strict=True))
    clf = MetricClassifier("recall", subject_to=PROMISE, **LINEAR).fit(X, y, **given)
    found = clf.certificate_
    assert found.certified
    assert str(found).startswith("precision >= 0.80 at 90 %: 0.")
    assert str(found).endswith("flagged of 800 held-out rows")
    flagged = clf.predict(given["X_val"]) == 1
    assert found.flagged == flagged.sum()
    assert found.value == pytest.approx(given["y_val"][flagged].mean())
    assert "are not used otherwise" in clf.validation_


@pytest.mark.filterwarnings("ignore:Not certified")
@pytest.mark.parametrize("flipped", [0.0, 0.3])
def test_a_promise_is_broken_no_more_often_than_it_says(flipped):
    broken, draws = 0, 20
    for seed in range(draws):
        X, y = sample(400, 1000 + seed, flipped)
        given = dict(zip(("X_val", "y_val"), sample(300, 2000 + seed), strict=True))
        clf = MetricClassifier("recall", subject_to=PROMISE, **LINEAR).fit(X, y, **given)
        broken += clf.certificate_.certified and precise(clf) < 0.8
    assert broken <= 7  # binomial(20, 0.1) is above that once in a thousand


def test_without_validation_rows_some_are_held_out_and_do_not_train():
    X, y = sample(1000, 122)
    clf = MetricClassifier("recall", subject_to=PROMISE, **LINEAR).fit(X, y)
    assert clf.certificate_.rows == 200
    assert np.count_nonzero(clf.sample_weight_) <= 800


def test_what_cannot_be_promised_says_what_can():
    X, y = sample(600, 123, apart=0.3)
    hard = at_least("precision", 0.97, confidence=0.95)
    with pytest.warns(UserWarning, match="least violation|Not certified"):
        clf = MetricClassifier("accuracy", subject_to=[hard, "recall>=0.9"], **LINEAR).fit(X, y)
    assert not clf.certificate_.certified
    assert "is not certifiable with 120 rows; the best that is" in str(clf.certificate_)


def test_the_promise_is_watched():
    X, y = sample(1500, 124)
    clf = MetricClassifier("recall", subject_to=PROMISE, **LINEAR).fit(X, y)
    new, truth = sample(1500, 125)
    decided = clf.predict(new)
    assert not clf.certificate_.monitor(truth, decided).alarm
    assert clf.certificate_.monitor(np.where(truth == 1, 0, truth), decided).alarm


def test_no_certificate_without_a_confidence_and_none_without_rows_for_it():
    X, y = sample(300, 126)
    clf = MetricClassifier("recall", subject_to="precision>=0.5", **LINEAR).fit(X, y)
    with pytest.raises(AttributeError, match="confidence"):
        _ = clf.certificate_
    with pytest.raises(ValueError, match="method='auto'"):
        MetricClassifier("recall", subject_to=PROMISE, method="descent").fit(X, y)
    with pytest.raises(ValueError, match="too few to hold some out"):
        MetricClassifier("recall", subject_to=PROMISE).fit(X[:40], y[:40])


def test_numbers_are_certified_by_the_bootstrap_and_it_says_so():
    rng = np.random.default_rng(127)
    X = rng.normal(size=(400, 3))
    y = 100.0 * X[:, 0] + rng.normal(size=400)
    limit = "mean_absolute_error<=2 @ 90%"
    reg = MetricRegressor("r2", subject_to=limit, **LINEAR).fit(X, y)
    assert reg.certificate_.certified
    assert 0.5 < reg.certificate_.value < 1.1
    assert "approximate" in str(reg.certificate_)
