"""Rows binned once: LightGBM on a data set of its own is the oracle."""

import lightgbm as gbm
import numpy as np
import pytest
from scipy import sparse

from anymetric.data import Data
from anymetric.losses import Huber
from anymetric.models.boosted import Boosted


def rows_of(n=500, classes=2, seed=0, kind="dense"):
    rng = np.random.default_rng(seed)
    # A few values a column: the bins of a part of the rows are those of all.
    X = np.clip(np.round(rng.normal(size=(n, 5)) * 2.0), -3.0, 3.0)
    f = X[:, 0] * X[:, 1] + 2.0 * X[:, 2] + rng.normal(size=n)
    y = {0: f, 2: np.where(f > 0.0, 1.0, -1.0)}.get(classes)
    if y is None:
        y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes)).astype(float)
    return Data(sparse.csr_array(X) if kind == "sparse" else X, y)


def parts(n=500, seed=1):
    """Return weights with a third of zeros, and two validation sets in no order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    rows = rng.exponential(size=n)
    rows[order[: n // 3]] = 0.0
    half = n // 6
    return rows, [
        (order[:half], rng.exponential(size=half)),
        (order[half : 2 * half], np.ones(half)),
    ]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_part_of_the_bins_trains_as_a_data_set_of_its_own(classes, kind):
    data = rows_of(classes=classes, kind=kind)
    rows, stopping = parts()
    family = Boosted(trees=40, least_rows=5)
    one = family.prepare(data, classes=classes).fit(
        rows, np.random.default_rng(2), stopping=stopping
    )
    other = family.grow(
        data,
        rows,
        np.random.default_rng(2),
        watch=[(data.take(index), weights) for index, weights in stopping],
        classes=classes,
    )
    assert one.best == other.best
    np.testing.assert_allclose(one.curves, other.curves, rtol=1e-6)
    np.testing.assert_allclose(
        one.scores(data.X, one.best), other.scores(data.X, one.best), atol=1e-6
    )


def test_the_losses_are_those_of_the_validation_rows_with_their_weights():
    data = rows_of()
    rows, stopping = parts()
    grown = Boosted(trees=20).prepare(data).fit(rows, np.random.default_rng(0), stopping=stopping)
    for k, (index, weights) in enumerate(stopping):
        margins = data.y[index] * grown.scores(data.X[index], 7)
        expected = np.average(np.logaddexp(0.0, -margins), weights=weights)
        np.testing.assert_allclose(grown.curves[6, k], expected, rtol=1e-6)


def test_rows_without_weight_do_not_count_in_a_leaf():
    data = rows_of()
    rows = np.where(np.arange(500) < 60, 1.0, 0.0)
    grown = Boosted(trees=1, least_rows=20).prepare(data).fit(rows, np.random.default_rng(0))
    leaves = grown.booster.predict(data.X[:60], pred_leaf=True)
    assert np.min(np.unique(leaves, return_counts=True)[1]) >= 20


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_trees_are_added_to_scores_that_are_there(classes):
    data = rows_of(classes=classes)
    rows, stopping = parts()
    shape = (500, 3) if classes == 3 else (500,)
    begun = np.random.default_rng(3).normal(size=shape)
    family = Boosted(trees=30, least_rows=5)
    one = family.prepare(data, classes=classes).fit(
        rows, np.random.default_rng(2), stopping=stopping, begun=begun
    )
    other = family.grow(
        data,
        rows,
        np.random.default_rng(2),
        watch=[(data.take(index), weights) for index, weights in stopping],
        classes=classes,
        begun=(begun, *(begun[index] for index, _ in stopping)),
    )
    np.testing.assert_allclose(one.curves, other.curves, rtol=1e-6)


def test_candidates_do_not_change_each_other():
    data = rows_of()
    rows, stopping = parts()
    prepared = Boosted(trees=15).prepare(data)
    first = prepared.fit(rows, np.random.default_rng(0)).scores(data.X, 15)
    prepared.fit(rows**2, np.random.default_rng(0), stopping=stopping, begun=rows)
    again = prepared.fit(rows, np.random.default_rng(0)).scores(data.X, 15)
    np.testing.assert_array_equal(first, again)


def test_other_settings_share_the_bins_and_other_bins_are_refused():
    data = rows_of(classes=0)
    family = Boosted(trees=10)
    prepared = family.prepare(data, classes=0)
    for other in (family.stiffer(), family.with_loss(Huber(0.5)), Boosted(20, least_rows=3)):
        fitted = prepared.using(other).fit(np.ones(500), np.random.default_rng(0))
        alone = other.grow(data, np.ones(500), np.random.default_rng(0), classes=0)
        np.testing.assert_allclose(
            fitted.scores(data.X, 10), alone.scores(data.X, 10), rtol=1e-6, atol=1e-9
        )
    with pytest.raises(ValueError, match="other bins"):
        prepared.using(Boosted(settings={"max_bin": 7}))


def test_a_validation_set_without_weight_has_no_say():
    data = rows_of()
    rows, stopping = parts()
    silent = [(stopping[0][0], np.zeros(len(stopping[0][0]))), stopping[1]]
    prepared = Boosted(trees=60, least_rows=5, patience=5).prepare(data)
    one = prepared.fit(rows, np.random.default_rng(0), stopping=silent)
    two = prepared.fit(rows, np.random.default_rng(0), stopping=stopping[1:])
    assert one.best == two.best
    assert np.all(one.curves[:, 0] == 0.0)


def test_a_table_that_cannot_be_split_gives_a_constant():
    data = Data(np.ones((40, 2)), np.where(np.arange(40) < 10, 1.0, -1.0))
    out = np.arange(0, 40, 4)
    rows = np.ones(40)
    rows[out] = 0.0
    grown = (
        Boosted().prepare(data).fit(rows, np.random.default_rng(0), stopping=[(out, np.ones(10))])
    )
    assert grown.best == 1
    assert np.ptp(grown.scores(data.X, 1)) == 0.0


def test_the_fitted_model_is_lightgbms():
    grown = Boosted(trees=5).prepare(rows_of()).fit(np.ones(500), np.random.default_rng(0))
    assert isinstance(grown.booster, gbm.Booster)
    assert grown.cut(3).best_iteration_ == 3
