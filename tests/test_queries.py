"""Rankings by query: metrics and surrogates within queries, and the ranker that takes them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import Descent, GaussNewton, MetricRanker, Subspace, scorer
from anymetric.auto import Auto
from anymetric.auto.families.ranking import few_queries, joined
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import (
    NDCG,
    PrecisionAtK,
    QueryAveragePrecision,
    QueryPrecisionAtK,
    ReciprocalRank,
    as_metric,
    by_query,
)
from anymetric.problem import Problem
from anymetric.surrogates import (
    AveragePrecisionAtK,
    ByQuery,
    Pairwise,
    PrecisionAtRecall,
    Sliced,
    Softmax,
    bind,
)
from anymetric.surrogates.pairs import BoundPairs
from anymetric.surrogates.profiler import local

METRICS = [
    NDCG(3),
    NDCG(None),
    NDCG(5, gain="linear"),
    QueryPrecisionAtK(3),
    QueryPrecisionAtK(2, relevant=2),
    ReciprocalRank(),
    ReciprocalRank(2),
    QueryAveragePrecision(),
]
SURROGATES = [
    Pairwise("logistic"),
    Pairwise("logistic", gains=True),
    Pairwise("hinge"),
    Softmax(),
    ByQuery(AveragePrecisionAtK(1)),
    ByQuery(AveragePrecisionAtK(3)),
    ByQuery(AveragePrecisionAtK()),
    ByQuery(AveragePrecisionAtK(2), relevant=2),
    ByQuery(PrecisionAtRecall(0.5)),
    ByQuery(PrecisionAtRecall(0.25, smoothing=0.3), relevant=2),
]


def ids(parts):
    return [f"{part.name} {k}" for k, part in enumerate(parts)]


def sample(seed=0, n=90, queries=9, grades=4):
    """Rows of queries of uneven sizes, in no order; one query has nothing relevant."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(
        np.concatenate([np.arange(queries), rng.integers(0, queries, n - queries)])
    )
    relevance = rng.integers(0, grades, n).astype(float)
    relevance[query == 0] = 0.0
    y = np.where(relevance > 0.0, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.5 * relevance[:, np.newaxis]
    return Data(X, y, side={"query": query, "relevance": relevance})


def one_query(metric, scores, relevance):
    """The metric on one query, by scikit-learn or by a plain loop."""
    positive = relevance >= (metric.relevant or 1.0) if metric.name[:4] != "ndcg" else None
    if positive is None:
        gain = relevance if metric.gain == "linear" else 2.0**relevance - 1.0
        if len(gain) == 1:  # scikit-learn refuses a single row
            return 1.0
        return ndcg_score(gain[np.newaxis], scores[np.newaxis], k=metric.k)
    if isinstance(metric, QueryAveragePrecision):
        return average_precision_score(positive, scores)
    k = min(metric.k or len(scores), len(scores))
    if isinstance(metric, QueryPrecisionAtK):
        total = 0.0
        for i in range(len(scores)):
            above, tied = np.sum(scores > scores[i]), np.sum(scores == scores[i])
            total += positive[i] * np.clip((k - above) / tied, 0.0, 1.0)
        return total / k
    best = scores[positive].max()
    place = np.sum(scores > best) + np.sum((scores == best) & ~positive) + 1
    return 1.0 / place if place <= (metric.k or place) else 0.0


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("metric", METRICS, ids=ids(METRICS))
def test_a_metric_is_the_mean_over_the_queries_that_have_a_relevant_row(metric, ties):
    data = sample()
    query, relevance = data.side["query"], data.side["relevance"]
    scores = np.random.default_rng(1).normal(size=(len(data), 3))
    scores = scores.round(0) if ties else scores
    wanted = []
    for name in np.unique(query):
        rows = query == name
        if np.any(relevance[rows] >= (metric.relevant or 1.0)):
            wanted.append([one_query(metric, s[rows], relevance[rows]) for s in scores.T])
    got = metric.bind(data.y, side=data.side).values(scores)
    np.testing.assert_allclose(got, np.mean(wanted, axis=0), rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS, ids=ids(METRICS))
def test_many_score_vectors_are_evaluated_as_one_by_one(metric):
    data = sample(2)
    scores = np.random.default_rng(0).normal(size=(len(data), 40))
    bound = metric.bind(data.y, side=data.side)
    np.testing.assert_allclose(bound.values(scores), [bound.values(s) for s in scores.T])
    assert bound.values(data.side["relevance"]) >= bound.values(scores).max()


@pytest.mark.parametrize("metric", METRICS, ids=ids(METRICS))
def test_a_query_of_weight_two_counts_twice_and_rows_without_weight_are_not_there(metric):
    data = sample(3)
    query = data.side["query"]
    scores = np.random.default_rng(0).normal(size=len(data))
    twice = np.concatenate([np.arange(len(data)), np.flatnonzero(query == 4)])
    side = {name: column[twice] for name, column in data.side.items()}
    side["query"] = np.where(np.arange(len(twice)) < len(data), side["query"], 99)
    heavy = metric.bind(data.y, side=data.side, weights=1.0 + (query == 4)).values(scores)
    assert heavy == pytest.approx(metric.bind(data.y[twice], side=side).values(scores[twice]))
    gone = np.arange(len(data)) % 7 == 0
    left = data.take(np.flatnonzero(~gone))
    without = metric.bind(data.y, side=data.side, weights=(~gone).astype(float)).values(scores)
    assert without == pytest.approx(metric.bind(left.y, side=left.side).values(scores[~gone]))


def test_without_grades_positive_rows_have_relevance_one():
    data = sample(4)
    graded = {**data.side, "relevance": (data.y > 0.0).astype(float)}
    scores = np.random.default_rng(0).normal(size=len(data))
    plain = NDCG(5).bind(data.y, side={"query": data.side["query"]}).values(scores)
    assert plain == NDCG(5).bind(data.y, side=graded).values(scores)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("ndcg@5", NDCG(5)),
        ("ndcg", NDCG(None)),
        ("mrr", ReciprocalRank()),
        ("mrr@10", ReciprocalRank(10)),
        ("map", QueryAveragePrecision()),
        ("query_precision@5", QueryPrecisionAtK(5)),
    ],
)
def test_names_mean_metrics_by_query(name, metric):
    assert as_metric(name) == metric
    assert metric.name == name
    assert by_query(metric) is metric


@pytest.mark.parametrize(
    ("metric", "change", "message"),
    [
        (NDCG(5), {"relevance": -1.0}, "0 or more; got -1"),
        (NDCG(5), {"relevance": 99.0}, "relevance of 99"),
        (QueryPrecisionAtK(5, relevant=9), {}, "none of the 9 queries has one"),
    ],
)
def test_a_metric_says_what_it_cannot_use(metric, change, message):
    data = sample()
    side = {**data.side, **{name: np.full(len(data), value) for name, value in change.items()}}
    with pytest.raises(ValueError, match=message):
        metric.bind(data.y, side=side)


def test_a_score_that_is_no_number_is_reported():
    data = sample()
    scores = np.where(np.arange(len(data)) == 3, np.nan, 0.0)
    with pytest.raises(RuntimeError, match="ndcg@5"):
        NDCG(5).bind(data.y, side=data.side).values(scores)


def by_hand(surrogate, data, scores):
    """A surrogate by a loop over queries and pairs."""
    relevance, query = data.side["relevance"], data.side["query"]
    level = getattr(surrogate, "relevant", None) or 1.0
    found = []
    for name in np.unique(query):
        s, r = scores[query == name], relevance[query == name]
        classes = np.where(r >= level, 1.0, -1.0)
        if isinstance(surrogate, ByQuery):
            if len(np.unique(classes)) == 2:
                inner = surrogate.inner
                if isinstance(inner, AveragePrecisionAtK) and inner.k is not None:
                    inner = AveragePrecisionAtK(min(inner.k, int(np.sum(classes > 0))))
                found.append(inner.bind(Data(np.zeros((len(s), 1)), classes)).values(s)[0])
            continue
        if len(np.unique(r)) == 1:
            continue
        if isinstance(surrogate, Softmax):
            t = (2.0**r - 1.0) / np.sum(2.0**r - 1.0)
            p = np.exp(s) / np.exp(s).sum()
            found.append(sum(a * np.log(a / b) for a, b in zip(t, p, strict=True) if a > 0.0))
            continue
        margins = s[:, np.newaxis] - s
        weights = np.where(r[:, np.newaxis] > r, 1.0, 0.0)
        if surrogate.gains:
            weights *= 2.0 ** r[:, np.newaxis] - 2.0**r
        hinge = surrogate.loss == "hinge"
        losses = np.maximum(0.0, 1.0 - margins) if hinge else np.log1p(np.exp(-margins))
        found.append(np.sum(weights * losses) / weights.sum())
    return np.mean(found)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=ids(SURROGATES))
def test_a_surrogate_is_the_mean_over_the_queries_of_a_plain_loop(surrogate):
    data = sample(5)
    scores = np.random.default_rng(0).normal(size=(len(data), 4))
    got = surrogate.bind(data).values(scores)
    assert got.shape == (4, 1)
    np.testing.assert_allclose(got[:, 0], [by_hand(surrogate, data, s) for s in scores.T])
    np.testing.assert_allclose(surrogate.bind(data).values(scores[:, 0]), got[0])


@pytest.mark.parametrize("surrogate", SURROGATES, ids=ids(SURROGATES))
def test_slopes_are_finite_differences(surrogate):
    data = sample(6, n=50, queries=6)
    bound = surrogate.bind(data)
    scores = np.random.default_rng(0).normal(size=len(data))
    steps = 1e-6 * np.eye(len(data))
    up, down = (bound.values(scores[:, np.newaxis] + sign * steps)[:, 0] for sign in (1, -1))
    np.testing.assert_allclose(bound.slopes(scores).toarray()[0], (up - down) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("spread", [0.1, 300.0])
@pytest.mark.parametrize("surrogate", SURROGATES, ids=ids(SURROGATES))
def test_one_pass_gives_the_value_and_the_slopes(surrogate, spread):
    data = sample(6)
    bound = surrogate.bind(data)
    scores = spread * np.random.default_rng(0).normal(size=len(data))
    value, slopes = local(bound, scores)
    np.testing.assert_allclose(value, bound.values(scores), rtol=1e-12)
    np.testing.assert_allclose(slopes.mixed(np.ones(1)), bound.slopes(scores).toarray()[0])


@pytest.mark.parametrize("gains", [False, True])
@pytest.mark.parametrize("spread", [0.1, 10.0, 300.0])
def test_the_product_of_odds_is_the_sum_of_logistic_losses(spread, gains):
    data = sample(9, n=400, queries=5)
    fast = Pairwise("logistic", gains=gains).bind(data)
    slow = BoundPairs(fast.loss, fast.better, fast.worse, fast.weights, fast.n)
    scores = spread * np.random.default_rng(0).normal(size=(len(data), 3))
    np.testing.assert_allclose(fast.values(scores), slow.values(scores), rtol=1e-12)
    one = scores[:, 0]
    np.testing.assert_allclose(
        fast.slopes(one).toarray(), slow.slopes(one).toarray(), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("surrogate", SURROGATES[:8], ids=ids(SURROGATES[:8]))
def test_surrogates_but_the_quantile_are_convex_and_never_negative(surrogate):
    data = sample(7)
    bound = surrogate.bind(data)
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, len(data), 20))
    middle = bound.values(0.3 * one + 0.7 * two)
    assert np.all(middle <= 0.3 * bound.values(one) + 0.7 * bound.values(two) + 1e-12)
    assert middle.min() >= 0.0


SHIFTED = [*SURROGATES, *METRICS]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), part=st.sampled_from(SHIFTED))
def test_neither_the_order_of_rows_nor_names_of_queries_nor_a_constant_each_matters(seed, part):
    data = sample(seed % 1000)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=len(data))
    order = rng.permutation(len(data))
    other = data.take(order)
    renamed = np.array([f"q{(7 * name) % 9}" for name in other.side["query"]])
    moved = Data(other.X, other.y, side={**other.side, "query": renamed})
    constants = rng.normal(size=9)[other.side["query"]]

    def value(rows, s):
        if hasattr(part, "greater_is_better"):
            return part.bind(rows.y, side=rows.side).values(s)
        return part.bind(rows).values(s)[0]

    assert value(moved, scores[order] + constants) == pytest.approx(value(data, scores), abs=1e-9)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=ids(SURROGATES))
def test_queries_without_a_difference_are_an_error(surrogate):
    data = Data(np.zeros((4, 1)), np.ones(4), side={"query": np.array([1, 1, 2, 2])})
    with pytest.raises(ValueError, match="none of the 2 queries"):
        surrogate.bind(data)
    with pytest.raises(ValueError, match="need the column"):
        bind(surrogate, Data(np.zeros((4, 1)), np.ones(4)))


def test_wrong_parts_are_refused():
    with pytest.raises(ValueError, match="loss of margins"):
        Pairwise("squared")
    with pytest.raises(TypeError, match="Pairwise and Softmax are by query of themselves"):
        ByQuery(Sliced("hinge"))


def test_too_many_pairs_are_reported_before_they_are_made(monkeypatch):
    monkeypatch.setattr("anymetric.surrogates.pairs.MOST_PAIRS", 10)
    with pytest.raises(ValueError, match="Softmax"):
        Pairwise().bind(sample())


def test_blocks_hold_every_row_of_a_query_once():
    column = np.random.default_rng(0).zipf(1.5, 500) % 50
    queries = Queries.of(column)
    blocks = queries.blocks(np.ones(len(queries), dtype=bool))
    rows = np.concatenate([block.rows[block.real] for block in blocks])
    assert sorted(rows.tolist()) == list(range(500))
    assert sum(block.rows.size for block in blocks) <= 2 * 500
    for block in blocks:
        for line, real, query in zip(block.rows, block.real, block.queries, strict=True):
            assert set(line[real]) == set(np.flatnonzero(queries.member == query))


# The ranker.


def ranking(seed=0, queries=40, size=8):
    """Rows whose relevance a linear function explains within queries, queries far apart."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), size)
    X = rng.normal(size=(queries * size, 4)) + 5.0 * rng.normal(size=(queries, 1))[query]
    hidden = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=len(X))
    rank = np.argsort(np.argsort(hidden.reshape(queries, size), axis=1), axis=1).ravel()
    return X, np.maximum(rank - size + 3, 0), query


SHORT = Descent(
    iterations=8, gradient=Subspace(m=8), projection=GaussNewton(iterations=5), normalised=True
)
DESCENT = MetricRanker("ndcg@3", method=SHORT, model="linear", random_state=0)
# Two surrogates: enough where nothing is said of the default ones.
TWO = [Pairwise(), Softmax()]


@pytest.mark.parametrize("metric", ["ndcg@3", "mrr", "precision@2"])
def test_the_default_learns_the_order_within_queries(metric):
    X, y, query = ranking()
    X_new, y_new, query_new = ranking(1)
    ranker = MetricRanker(metric, model="linear", random_state=0).fit(X, y, query=query)
    assert ranker.score(X_new, y_new, query=query_new) > 0.85
    assert "40 queries are cross-validated" in ranker.validation_
    assert sum(ranker.weights_.values()) == pytest.approx(1.0)
    assert set(ranker.weights_) == set(ranker.surrogates_)


def test_descent_learns_the_order_within_queries():
    X, y, query = ranking()
    X_new, y_new, query_new = ranking(1)
    ranker = clone(DESCENT).fit(X, y, query=query)
    assert ranker.score(X_new, y_new, query=query_new) > 0.85
    assert "8 of 40 queries were held out" in ranker.validation_


def test_the_combination_is_at_least_the_single_surrogates_on_the_validation_rows():
    X, y, query = ranking(2)
    X_val, y_val, query_val = ranking(3)
    given = {"query": query, "X_val": X_val, "y_val": y_val, "query_val": query_val}
    ours = clone(DESCENT).fit(X, y, **given)
    single = clone(DESCENT).set_params(surrogates=Pairwise()).fit(X, y, **given)
    assert ours.cost_ <= single.cost_ + 0.01


def test_a_name_means_by_query_where_there_are_queries_and_a_part_never_does():
    X, y, query = ranking()
    fitted = [
        MetricRanker(metric, surrogates=TWO, model="linear", random_state=0).fit(X, y, query=query)
        for metric in ("precision@5", "average_precision", PrecisionAtK(5))
    ]
    assert [ranker.metric_.name for ranker in fitted] == ["query_precision@5", "map", "precision@5"]
    assert MetricRanker("precision@5", model="linear", random_state=0).fit(
        X, y
    ).metric_ == PrecisionAtK(5)


def test_a_function_of_the_users_may_read_the_queries():
    def best_hit(y_true, y_score, query):
        firsts = [np.flatnonzero(query == q)[np.argmax(y_score[query == q])] for q in set(query)]
        return float(np.mean(y_true[firsts]))

    X, y, query = ranking(queries=20)
    ranker = MetricRanker(
        best_hit, surrogates=TWO, greater_is_better=True, model="linear", random_state=0
    )
    ranker.fit(X, y, query=query)
    assert ranker.score(X, y, query=query) > 0.8


def test_rows_may_come_in_any_order_and_queries_have_any_name():
    X, y, query = ranking()
    order = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"query {q:03d}" for q in query])
    ranker = MetricRanker("map", surrogates=TWO, model="linear", random_state=0)
    one = clone(ranker).fit(X, y, query=query)
    two = clone(ranker).fit(X[order], y[order], query=pd.Series(names[order]))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-2, atol=1e-3)


def test_numbers_of_queries_may_be_text():
    X, y, query = ranking()
    ranker = MetricRanker("map", surrogates=TWO, model="linear", random_state=0)
    one = clone(ranker).fit(X, y, query=query)
    for names in (query.astype(str), query.astype(str).astype(object), query.astype(float)):
        np.testing.assert_array_equal(one.coef_, clone(ranker).fit(X, y, query=names).coef_)


def test_queries_of_the_same_number_are_still_two():
    queries = Queries.of(np.array(["10", "1", "9", "01", "1"]))
    assert queries.member.tolist() == [3, 1, 2, 0, 1]
    assert queries.sizes.tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize("apart", [False, True])
def test_a_query_never_validates_a_model_that_it_trained(apart):
    """More features than rows: a model that saw a row ranks it perfectly."""
    rng = np.random.default_rng(0)
    _, y, query = ranking(queries=24)
    random = np.where(rng.random(len(y)) < 0.4, 1.0, -1.0)
    data = Data(rng.normal(size=(len(y), 300)), random, side={"query": query})
    train = valid = data
    if apart:
        train, valid = (data.take(np.flatnonzero(part)) for part in (query < 12, query >= 12))
    problem = Problem(train, [Pairwise()], as_metric("map"), valid, labels=(0, 1))
    use = True if apart else "auto"
    seen = Auto(resamples=10, use_validation=use).run(Ledger(problem), [], rng)
    assert float(problem.judge.costs(seen.scorer.scores(valid.X))) < 0.05
    assert seen.cost > 0.2


@pytest.mark.parametrize(("use", "share"), [(False, 0.0), ("auto", 0.5), (True, 1.0)])
def test_validation_queries_train_as_far_as_they_may(use, share):
    X, y, query = ranking(queries=20)
    X_val, y_val, query_val = ranking(1, queries=15)
    ranker = MetricRanker(
        "map", surrogates=[Pairwise()], use_validation=use, model="linear", random_state=0
    )
    ranker.fit(X, y, query=query, X_val=X_val, y_val=y_val, query_val=query_val)
    names = [one.name for one in ranker.summary_.candidates]
    assert np.mean(["validation queries too" in name for name in names]) == share
    assert ranker.score(*ranking(2)[:2], query=ranking(2)[2]) > 0.8


def test_queries_of_the_same_name_in_both_samples_stay_apart():
    X, y, query = ranking(queries=20)
    apart = np.append(query, query + 20)
    train, valid = (Data(X, np.sign(y - 0.5), side={"query": query}) for _ in range(2))
    found = Queries.of(joined(train, valid).side["query"]).member
    assert np.array_equal(found, Queries.of(apart).member)


@pytest.mark.parametrize("method", ["auto", SHORT], ids=["auto", "descent"])
def test_few_queries_validate_the_models_that_they_trained(method):
    X, y, query = ranking(queries=4)
    ranker = MetricRanker("map", surrogates=TWO, method=method, model="linear", random_state=0)
    ranker.fit(X, y, query=query)
    assert "too few" in ranker.validation_
    assert ranker.score(X, y, query=query) > 0.8
    assert few_queries(Data(X, np.ones(len(y)), side={"query": query, "relevance": y}))


def test_a_budget_of_calls_is_kept():
    X, y, query = ranking()
    ranker = MetricRanker("map", max_metric_calls=4, model="linear", random_state=0).fit(
        X, y, query=query
    )
    assert ranker.n_metric_calls_ <= 4
    assert ranker.status_.name == "BUDGET"


def test_queries_are_routed_through_a_pipeline_and_a_search():
    X, y, query = ranking()
    with config_context(enable_metadata_routing=True):
        ranker = MetricRanker("map", surrogates=[Pairwise()], model="linear", random_state=0)
        ranker.set_fit_request(query=True, groups=False)
        judge = scorer("map").set_score_request(query=True, groups=False)
        pipe = make_pipeline(StandardScaler(), ranker)
        grid = {"metricranker__surrogates": [[Pairwise()], [Softmax()]]}
        folds = GroupKFold(3)
        search = GridSearchCV(pipe, grid, scoring=judge, cv=folds, error_score="raise")
        search.fit(X, y, query=query, groups=query)
    assert search.best_score_ > 0.8


def test_a_fitted_ranker_is_pickled_with_its_metric():
    X, y, query = ranking(queries=15)
    ranker = clone(DESCENT).fit(X, y, query=query)
    again = pickle.loads(pickle.dumps(ranker))
    assert again.score(X, y, query=query) == ranker.score(X, y, query=query)


def test_a_ranker_by_query_can_be_diagnosed():
    X, y, query = ranking(queries=15)
    found = clone(DESCENT).fit(X, y, query=query).diagnose(X, y, query=query)
    assert np.isfinite(found.cost)
    assert "pairwise_logistic" in found.slopes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": [1, 2]}, "query must have one value for each of the 120 rows; got 2"),
        ({"query": np.full(120, np.nan)}, "query has 120 missing"),
        ({"query": np.zeros(120), "side": {"query": np.zeros(120)}}, "has a column 'query' too"),
        ({"query_val": np.zeros(120)}, "query_val was given, query was not"),
    ],
)
def test_wrong_queries_are_reported(given, message):
    X, y, _ = ranking(queries=15)
    with pytest.raises(ValueError, match=message):
        MetricRanker("map").fit(X, y, **given)


def test_queries_of_the_validation_rows_must_be_given_too():
    X, y, query = ranking(queries=15)
    with pytest.raises(ValueError, match="query was given, query_val was not"):
        MetricRanker("map").fit(X, y, query=query, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="needs the column"):
        MetricRanker("map").fit(X, y)


@pytest.mark.parametrize("queries", [True, False])
def test_a_function_of_the_users_gets_y_as_it_is(queries):
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(120, 2)), np.repeat(np.arange(12), 10)
    y = np.clip(np.round(X[:, 0] + rng.normal(size=120)), 0, 3).astype(int)
    seen = set()

    def mean_grade_score(y_true, y_score):
        assert y_true.dtype == y.dtype
        seen.update(y_true.tolist())
        return float(np.mean(y_true[np.argsort(-y_score)[:20]]))

    told = {"query": query} if queries else {}
    ranker = MetricRanker(
        mean_grade_score, max_metric_calls=60, model="linear", random_state=0
    ).fit(X, y, **told)
    assert seen == {0, 1, 2, 3}
    expected = mean_grade_score(y, ranker.predict(X))
    assert ranker.score(X, y, **told) == pytest.approx(expected)
    assert scorer(mean_grade_score)(ranker, X, y) == pytest.approx(expected)


def test_rankings_have_the_grid_of_the_appendix():
    X = np.random.default_rng(0).normal(size=(60, 2))
    ranker = MetricRanker("prbep", method="paper", max_metric_calls=3).fit(X, X[:, 0] > 0)
    assert {(p["step"], p["sigma"]) for p in ranker.summary_.tried} == {
        (step, 1.5) for step in (0.001, 0.005, 0.01)
    }
