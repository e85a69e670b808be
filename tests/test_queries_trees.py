"""Trees by query: boosting follows blends, and queries are scored out-of-fold."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from anymetric import MetricRanker, Reweighted
from anymetric.models.boosted import Boosted
from anymetric.surrogates import Pairwise, Softmax

TWO = [Pairwise(), Softmax()]
SMALL = Boosted(trees=60, patience=10)


def bent(seed=0, queries=40, rows=12):
    """Return grades that rise with the distance from zero: no line can rank these rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(queries * rows, 3))
    y = np.digitize(np.abs(X[:, 0]) + 0.3 * rng.normal(size=len(X)), [0.8, 1.5]).astype(float)
    return X, y, np.repeat(np.arange(queries), rows)


def fitted(model, metric="ndcg@3", **settings):
    X, y, query = bent()
    ranker = MetricRanker(metric, model=model, surrogates=TWO, random_state=0, **settings)
    return ranker.fit(X, y, query=query)


def on_others(ranker):
    X, y, query = bent(1)
    return ranker.score(X, y, query=query)


def test_trees_rank_what_no_line_can():
    line, trees, both = (fitted(model) for model in ("linear", SMALL, "auto"))
    assert on_others(trees) > on_others(line) + 0.1
    assert on_others(both) > on_others(line) + 0.1
    found = both.summary_.families
    assert found["boosted"].share > 0.9
    assert found["linear"].behind > 0.1
    assert not hasattr(trees, "coef_")


def test_a_line_is_enough_where_rows_lie_along_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X @ [1.0, 1.0, 1.0] + rng.normal(size=400) > 0.0).astype(float)
    query = np.repeat(np.arange(40), 10)
    ranker = MetricRanker("map", model="auto", surrogates=TWO, random_state=0)
    families = ranker.fit(X, y, query=query).summary_.families
    assert families["linear"].share > families["boosted"].share


def test_validation_queries_train_trees_as_far_as_they_may():
    X, y, query = bent(queries=20)
    given = dict(zip(("X_val", "y_val", "query_val"), bent(2, queries=15), strict=True))
    for use, some, every in ((False, False, False), ("auto", True, False), (True, True, True)):
        ranker = MetricRanker("map", model=SMALL, surrogates=TWO, use_validation=use)
        names = [c.name for c in ranker.fit(X, y, query=query, **given).summary_.candidates]
        joined = ["validation queries too" in name for name in names]
        assert (any(joined), all(joined)) == (some, every)


def test_it_repeats_itself_and_pickles():
    one, two = fitted(SMALL), fitted(SMALL)
    X = bent(3)[0]
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.predict(X), pickle.loads(pickle.dumps(one)).predict(X))
    assert clone(one).model is not one.model_


@pytest.mark.parametrize("model", ["boosted", "auto"])
def test_missing_values_and_categories_are_read(model):
    X, y, query = bent()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = pd.Categorical(np.where(np.abs(X[:, 0]) > 1.0, "far", "near"))
    table = table.drop(columns="a").mask(np.random.default_rng(0).random((len(y), 3)) < 0.1)
    ranker = MetricRanker("ndcg@3", model=model, surrogates=TWO, random_state=0)
    assert ranker.fit(table, y, query=query).score(table, y, query=query) > 0.8


@pytest.mark.parametrize("calls", [1, 3, 12])
def test_any_budget_is_kept_and_gives_a_model(calls):
    ranker = fitted("auto", max_metric_calls=calls)
    assert ranker.n_metric_calls_ <= calls
    assert np.all(np.isfinite(ranker.predict(bent()[0])))


def test_few_queries_still_give_trees():
    X, y, query = bent(queries=4, rows=30)
    ranker = MetricRanker("map", model="boosted", surrogates=TWO).fit(X, y, query=query)
    assert ranker.score(X, y, query=query) > 0.9


def test_rows_too_few_to_split_leave_all_scores_equal():
    X, y, query = bent(queries=12, rows=2)
    scores = MetricRanker("map", model="boosted", surrogates=TWO).fit(X, y, query=query).predict(X)
    assert np.all(scores == scores[0])


def test_other_families_are_refused_by_query_and_taken_without():
    X, y, query = bent()
    ranker = MetricRanker("roc_auc", model=Reweighted(DecisionTreeClassifier(max_depth=3)))
    assert ranker.fit(X, y > 0.0).score(X, y > 0.0) > 0.9
    ranker.set_params(metric="map", surrogates=TWO)
    with pytest.raises(TypeError, match="linear models and boosted trees can be trained"):
        ranker.fit(X, y, query=query)


def test_the_diagnosis_probes_around_the_scores():
    X, y, query = bent(1)
    found = fitted(SMALL).diagnose(X, y, query=query)
    assert found.r_squared > 0.0
    assert found.cost < 0.2
