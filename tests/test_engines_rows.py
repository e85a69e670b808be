"""Rows in memory, in files and in any shards: the same sums, the same models."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from anymetric import MetricClassifier, MetricRegressor, ParquetRows
from anymetric.auto.passes.quasi_newton import QuasiNewton, inverse_of
from anymetric.auto.passes.weighing import Weighing
from anymetric.auto.records import Weighting
from anymetric.auto.sample import Sample
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.engines import (
    Counts,
    Curvatures,
    FoldScores,
    HeldRows,
    Profiles,
    ReadRows,
    Term,
    ValuesAndSlopes,
    Weighed,
)
from anymetric.engines.rows import Shard
from anymetric.losses import as_loss
from anymetric.models import Linear, LinearScorer
from stored_rows import table, written

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

MODEL = Linear(True, np.array([0.5, 0.0, -1.0]), np.array([1.0, 2.0, 0.5]))
TERMS = tuple(
    Term(as_loss(name), weigh)
    for name, weigh in (
        ("logistic", lambda data: data.weights),
        ("squared", lambda data: data.weights**2),
    )
)
THETAS = np.array([[0.3, -0.2, 0.1, 0.4], [1.0, 0.0, -0.5, -0.2]])
SCORER = LinearScorer(np.array([1.0, 0.5, -0.5]), 0.1)
FOLDS = (SCORER, replace(SCORER, offset=-3.0))


def works(n):
    """Return everything that is summed, by name."""
    return {
        "weights": Weighed(tuple(one.weigh for one in TERMS)),
        "values and slopes": ValuesAndSlopes(MODEL, TERMS, THETAS),
        "curvatures": Curvatures(MODEL, TERMS, THETAS),
        "profiles": Profiles(MODEL, TERMS, np.concatenate([THETAS, 2.0 * THETAS])),
        "counts": Counts(SCORER, np.linspace(-2.0, 2.0, 7)),
        "out-of-fold scores": FoldScores(FOLDS, n),
    }


def drawn(n=400, kind="dense", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.5, X, 0.0))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return Data(X, y, rng.integers(1, 4, n).astype(float))


class Pieces:
    """Shards of any sizes, in one part or several."""

    memory = 1 << 30

    def __init__(self, data, ends, per_part):
        cuts = [0, *sorted(ends), len(data)]
        pairs = [(a, b) for a, b in pairwise(cuts) if b > a]
        shards = [(a, self.shard(data.take(np.arange(a, b)))) for a, b in pairs]
        self.parts = [shards[k : k + per_part] for k in range(0, len(shards), per_part)]
        self.data = data

    def __len__(self):
        return len(self.data)

    def take(self, numbers):
        return self.shard(self.data.take(numbers))

    @staticmethod
    def shard(data):
        return Shard(data.X, data.y, data.weights)


def read(shard):
    return Data(shard.X, shard.y, shard.weights)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 400), max_size=12),
    st.integers(1, 5),
    st.sampled_from(["dense", "sparse"]),
)
def test_any_shards_have_the_same_sums(ends, per_part, kind):
    data = drawn(kind=kind)
    pieces = ReadRows(Pieces(data, ends, per_part), read)
    for name, work in works(len(data)).items():
        for whole, found in zip(work(data, 0), pieces.sums(work), strict=True):
            np.testing.assert_allclose(found, whole, rtol=1e-10, atol=1e-10, err_msg=name)


def test_sums_again_are_the_same_to_the_last_bit():
    data = drawn(5000)
    rows = HeldRows(data, shard=700)
    for work in works(len(data)).values():
        for first, again in zip(rows.sums(work), rows.sums(work), strict=True):
            np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_sums_are_those_of_their_formulas(kind):
    data = drawn(kind=kind)
    found = {name: HeldRows(data, 150).sums(work) for name, work in works(len(data)).items()}
    A = np.column_stack([(data.X - MODEL.shift) / MODEL.scale, np.ones(len(data))])
    p = 1.0 / (1.0 + np.exp(-(A @ THETAS[0])))
    t = (data.y > 0).astype(float)
    values, slopes = found["values and slopes"]
    loss = -(t * np.log(p) + (1 - t) * np.log(1 - p))
    assert values[0] == pytest.approx(data.weights @ loss)
    np.testing.assert_allclose(slopes[0], A.T @ (data.weights * (p - t)))
    H = (A * (data.weights * p * (1 - p))[:, None]).T @ A
    np.testing.assert_allclose(found["curvatures"][0][0], H)
    np.testing.assert_allclose(np.diag(found["profiles"][0][:2]), values)
    scores = SCORER.scores(data.X)
    above = [
        [data.weights @ ((data.y == s) & (scores > c)) for c in np.linspace(-2, 2, 7)]
        for s in (-1, 1)
    ]
    np.testing.assert_allclose(found["counts"][0], above)
    np.testing.assert_allclose(found["out-of-fold scores"][0][1::2], FOLDS[1].scores(data.X)[1::2])
    sums = [[data.weights @ (data.y == s) for s in (-1, 1)]]
    np.testing.assert_allclose(found["weights"][0][:1], sums)


def test_quasi_newton_steps_reach_the_minimum_of_scikit_learn():
    data = drawn(3000)
    rows, weights = HeldRows(data, 500), data.weights.sum()
    term, plain = (TERMS[0],), Linear()
    ridge = np.array([0.01, 0.01, 0.01, 0.0])
    start = Curvatures(plain, term, np.zeros((1, 4)))(data.take(np.arange(300)), 0)[0][0]
    state = QuasiNewton.begin(
        np.zeros(4), inverse_of(10.0 * start / weights + np.diag(ridge)), 1e-14
    )
    asked = 0
    while not state.done:
        values, slopes = rows.sums(ValuesAndSlopes(plain, term, state.trial[np.newaxis]))
        value = values[0] / weights + 0.5 * ridge @ state.trial**2
        state = state.told(float(value), slopes[0] / weights + ridge * state.trial)
        asked += 1
    other = LogisticRegression(C=1.0 / (0.01 * weights), tol=1e-12, max_iter=1000)
    other.fit(data.X, data.y, sample_weight=data.weights)
    np.testing.assert_allclose(state.theta[:3], other.coef_[0], rtol=1e-5)
    assert asked < 12


WEIGHTINGS = [
    Weighting(),
    Weighting(balance=1.0),
    Weighting(importance=1.0, balance=0.5),
    Weighting(only=("source", "a", True)),
    Weighting(amounts=("amount", 1), balance=1.0),
    Weighting(amounts=("amount", 0)),
    Weighting(cells=((1.0, "g", 3.0),)),
    Weighting(half=(1.0, 1), balance=1.0),
    Weighting(relative=True),
]


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=lambda one: one.name)
def test_a_weighting_weighs_other_rows_as_it_did_the_sample(weighting):
    from anymetric.auto.covariate_shift import density_ratio

    rng = np.random.default_rng(1)
    data, valid = drawn(300), drawn(200, seed=2)
    side = {"source": rng.choice(["a", "b"], 300), "groups": rng.choice(["g", "h"], 300)}
    data = replace(data, side={**side, "amount": rng.exponential(size=300)})
    model = Linear.standardised(data.X)
    ratio = density_ratio(model, data, valid)
    sample = Sample(Task((0, 1)), data, valid, np.arange(200) % 5, ratio)
    weighing = Weighing.of(sample, weighting, model)
    own = np.stack([data.y < 0, data.y > 0], axis=1)
    found = weighing.balanced(weighing(data) @ own)(data)
    expected = sample.weights(weighting).train
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "data frame"])
def test_files_and_memory_have_the_same_model(kind, tmp_path, small_samples):
    frame, y = table(kind=kind)
    amount = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    clf = MetricClassifier("f1", model="linear", random_state=0)
    held = clf.fit(frame, y, sample_weight=amount)
    found = (held.decision_function(frame[:50]), held.summary_)
    rows = ParquetRows(written(tmp_path, frame, y, w=amount), sample_weight="w", batch=300)
    stored = clf.fit(rows)
    np.testing.assert_allclose(stored.decision_function(frame[:50]), found[0], rtol=1e-6)
    assert stored.summary_.passes == found[1].passes
    assert 3 <= stored.summary_.passes <= 12
    assert stored.summary_.rows == {"linear": len(y)}
    assert "1,000 of the 5,000 rows" in stored.validation_
    found = stored.score(rows)
    assert found == pytest.approx(stored.score(frame, y, amount), rel=1e-12)


def test_sparse_files_and_memory_have_the_same_model(tmp_path, small_samples):
    rng = np.random.default_rng(4)
    X = sparse.random_array((4000, 30), density=0.1, rng=rng, format="csr")
    y = (X[:, [0]].toarray()[:, 0] + 0.5 * rng.normal(size=4000) > 0.3).astype(int)
    places = [X.indices[a:b].tolist() for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    entries = [X.data[a:b].tolist() for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    frame = pd.DataFrame({"places": places, "entries": entries})
    rows = ParquetRows(written(tmp_path, frame, y), sparse=("places", "entries", 30))
    clf = MetricClassifier("f1", model="linear", random_state=0)
    coef = clf.fit(X, y).coef_
    np.testing.assert_allclose(clf.fit(rows).coef_, coef, rtol=1e-6)


def test_validation_rows_and_groups_come_from_files_too(tmp_path, small_samples):
    frame, y = table()
    groups = np.random.default_rng(5).choice(["g", "h"], len(y))
    valid, named = slice(0, 600), {"target": "y", "groups": "group"}
    clf = MetricClassifier("group_mean_f1", model="linear", random_state=0)
    val = {"X_val": frame[valid], "y_val": y[valid], "groups_val": groups[valid]}
    coef = clf.fit(frame, y, groups=groups, **val).coef_
    rows = ParquetRows(written(tmp_path, frame, y, group=groups), **named)
    (tmp_path / "valid").mkdir()
    path = written(tmp_path / "valid", frame[valid], y[valid], files=1, group=groups[valid])
    np.testing.assert_allclose(
        clf.fit(rows, X_val=ParquetRows(path, **named)).coef_, coef, rtol=1e-6
    )


def test_few_rows_are_read_whole(tmp_path):
    frame, y = table(600)
    clf = MetricClassifier("f1", model="linear", random_state=0)
    coef = clf.fit(frame, y).coef_
    stored = clf.fit(ParquetRows(written(tmp_path, frame, y)))
    np.testing.assert_allclose(stored.coef_, coef, rtol=1e-6)
    assert stored.summary_.passes == 0


def test_trees_are_trained_on_as_many_rows_as_memory_holds(tmp_path, small_samples):
    frame, y = table()
    rows = ParquetRows(written(tmp_path, frame, y), memory=2000 * 16)
    clf = MetricClassifier("f1", model="boosted", random_state=0).fit(rows)
    assert clf.summary_.rows == {"boosted": 2000}
    assert clf.predict(frame[:10]).shape == (10,)


def test_parts_share_out_the_rows_in_order(tmp_path):
    frame, y = table(6000)
    rows = ParquetRows(written(tmp_path, frame, y), batch=256, most_parts=4)
    assert 1 < len(rows.parts) <= 4
    starts = [start for part in rows.parts for start, _ in part]
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert sum(len(shard) for part in rows.parts for _, shard in part) == len(rows) == 6000
    numbers = np.array([0, 1, 2500, 5999])
    np.testing.assert_array_equal(rows.take(numbers).X, frame.to_numpy()[numbers])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target": "z"}, "has no column 'z'"),
        ({"path": "nowhere-*.parquet"}, "No Parquet file is there"),
    ],
)
def test_what_is_not_there_is_named(asked, message, tmp_path):
    path = written(tmp_path, *table(50))
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        _ = ParquetRows(**{"path": path, **asked}).columns


def test_a_target_beside_stored_rows_is_refused(tmp_path):
    frame, y = table(50)
    with pytest.raises(ValueError, match="names the columns of y"):
        MetricClassifier().fit(ParquetRows(written(tmp_path, frame, y)), y)


def test_methods_without_passes_say_so(tmp_path, small_samples):
    rows = ParquetRows(written(tmp_path, *table()))
    with pytest.raises(ValueError, match="method='auto'"):
        MetricClassifier("f1", method="descent").fit(rows)
    with pytest.raises(ValueError, match="MetricRegressor"):
        MetricRegressor().fit(rows)


def test_metrics_that_need_more_than_counts_say_so(tmp_path):
    rows = ParquetRows(written(tmp_path, *table(600)))
    clf = MetricClassifier("roc_auc", model="linear", random_state=0).fit(rows)
    with pytest.raises(ValueError, match="more than counts"):
        clf.score(rows)
