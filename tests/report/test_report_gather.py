"""What is gathered is right: oracles outside us for every number that a page shows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, ndcg_score, precision_score, recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier, MetricRanker
from anymetric.data import Data
from anymetric.metrics import as_metric
from anymetric.report import gather
from anymetric.report import sample as sample_module
from anymetric.report.sample import Sample

from .report_runs import classifier, made, profit, rows


def test_values_are_the_estimators_own_scores():
    ours, rivals, X, y, groups = classifier()
    run = gather(ours, X, y, baselines=rivals, groups=groups)
    models = {"anymetric": ours, **rivals}
    assert [m["name"] for m in run.methods] == list(models)
    for method in run.methods:
        score = models[method["name"]].score(X, y, groups=groups)
        assert method["value"] == pytest.approx(score)
        assert method["improvement"] == pytest.approx(run.methods[0]["value"] - score)


def test_an_improvement_is_positive_where_lower_is_better():
    run = made("regressor")
    ours, other = run.methods
    assert other["improvement"] == pytest.approx(other["value"] - ours["value"])


@pytest.mark.parametrize("called", [False, True], ids=["ready-made", "function"])
def test_the_standard_error_of_accuracy_is_the_binomial_one(called):
    rng = np.random.default_rng(0)
    n, p = 500, 0.8
    y = rng.choice([-1.0, 1.0], n)
    wrong = rng.random(n) > p
    accuracy = as_metric(lambda y_true, y_pred: np.mean(y_true == y_pred), greater_is_better=True)
    metric = accuracy if called else as_metric("accuracy")
    scores = {"a": np.where(wrong, -y, y), "same": np.where(wrong, -y, y)}
    sample = Sample(metric, Data(np.zeros((n, 1)), y), (0, 1), scores)
    replicates = sample.resamples(400, rng)
    exact = np.sqrt(np.mean(wrong) * (1 - np.mean(wrong)) / n)
    assert replicates[:, 0].std() == pytest.approx(exact, rel=0.2)
    assert np.ptp(replicates[:, 0] - replicates[:, 1]) == 0.0


def ranked(Q=80, size=15):
    """Graded rows of queries that differ, and two ways to score them."""
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(Q), size)
    clear = np.repeat(rng.exponential(1.5, Q), size)  # queries easy and hard
    grade = rng.integers(0, 4, Q * size).astype(np.float64)
    scores = {"ours": clear * grade + rng.normal(size=len(query)) * 2.0}
    scores["theirs"] = scores["ours"] + rng.normal(size=len(query))
    side = {"query": query, "relevance": grade}
    data = Data(np.zeros((len(query), 1)), np.where(grade > 0.0, 1.0, -1.0), side=side)
    return data, scores


def ndcg_by_query(scores, query, grade):
    """Scikit-learn's own, one query after the other."""
    rows = [query == q for q in np.unique(query)]
    return [ndcg_score([2.0 ** grade[q] - 1.0], [scores[q]], k=5) for q in rows]


def mean_ndcg(y_true, y_score, query, relevance):
    """The mean over queries of fifteen rows each, which come together and under one name."""
    named = query.reshape(-1, 15)
    assert np.all(named == named[:, :1])
    assert len(np.unique(query)) == len(named)
    gains = 2.0 ** relevance.reshape(-1, 15) - 1.0
    return float(ndcg_score(gains, y_score.reshape(-1, 15), k=5))


@pytest.mark.parametrize("called", [False, True], ids=["ready-made", "function"])
def test_the_standard_error_of_a_metric_by_query_is_that_of_a_bootstrap_over_queries(called):
    data, scores = ranked()
    metric = as_metric(mean_ndcg, greater_is_better=True) if called else as_metric("ndcg@5")
    sample = Sample(metric, data, (0, 1), scores)
    found = sample.resamples(150, np.random.default_rng(0))
    query, grade = data.side["query"], data.side["relevance"]
    each = np.array([ndcg_by_query(column, query, grade) for column in scores.values()])  # (2, Q)
    assert sample.values() == pytest.approx(each.mean(axis=1))
    draws = np.random.default_rng(1).integers(each.shape[1], size=(2000, each.shape[1]))
    exact = each[:, draws].mean(axis=2)  # (2, 2000)
    assert found.std(axis=0) == pytest.approx(exact.std(axis=1), rel=0.25)
    lead, told = exact[0] - exact[1], found[:, 0] - found[:, 1]
    assert told.std() == pytest.approx(lead.std(), rel=0.25)


def test_rows_of_queries_are_drawn_together_whatever_the_metric():
    """The rows of each query are copies of one: there are no more facts than queries."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(100), 9)
    y, wrong = np.repeat(rng.choice([-1.0, 1.0], 100), 9), np.repeat(rng.random(100) < 0.2, 9)
    data = Data(np.zeros((900, 1)), y, side={"query": query})
    sample = Sample(as_metric("accuracy"), data, (0, 1), {"a": np.where(wrong, -y, y)})
    exact = np.sqrt(wrong.mean() * (1.0 - wrong.mean()) / 100)
    assert sample.resamples(400, rng)[:, 0].std() == pytest.approx(exact, rel=0.2)


def test_a_single_query_says_nothing_of_others():
    data, scores = ranked(Q=1)
    sample = Sample(as_metric("ndcg"), data, (0, 1), scores)
    assert sample.resamples(50, np.random.default_rng(0)).shape == (0, 2)


def test_a_mean_over_queries_does_not_grow_with_them():
    data, scores = ranked(Q=20)
    for metric in (as_metric("ndcg@5"), as_metric(mean_ndcg, greater_is_better=True)):
        assert not Sample(metric, data, (0, 1), scores).grows()


def test_a_model_has_no_improvement_over_itself():
    ours, _, X, y, groups = classifier()
    run = gather(ours, X, y, baselines={"itself": ours}, groups=groups)
    assert (run.methods[1]["improvement"], run.methods[1]["improvement_error"]) == (0.0, 0.0)


def test_the_confusion_matrix_is_scikit_learns():
    ours, _, X, y, groups = classifier()
    found = gather(ours, X, y, groups=groups).confusion[0]
    (tn, fp), (fn, tp) = confusion_matrix(y, ours.predict(X))
    assert [found[k] for k in ("tn", "fp", "fn", "tp")] == [tn, fp, fn, tp]


def test_the_metric_by_group_is_that_of_the_groups_rows():
    ours, _, X, y, groups = classifier()
    for row in gather(ours, X, y, groups=groups).groups["rows"]:
        chosen = groups == row["group"]
        said = ours.predict(X[chosen])
        assert row["n"] == chosen.sum()
        assert row["value"] == pytest.approx(f1_score(y[chosen], said))
        assert row["precision"] == pytest.approx(precision_score(y[chosen], said))
        assert row["selected"] == pytest.approx(np.mean(said))


def test_the_threshold_curve_is_the_metric_at_each_share_of_flagged_rows():
    ours, _, X, y, _ = classifier("f1")
    (line,) = gather(ours, X, y).curves["lines"]
    order = np.argsort(-ours.decision_function(X))
    for share, value in zip(line["x"][1::20], line["y"][1::20], strict=True):
        said = np.zeros(len(y))
        said[order[: round(share * len(y))]] = 1
        assert value == pytest.approx(f1_score(y, said))
    assert line["own"] == pytest.approx([ours.predict(X).mean(), f1_score(y, ours.predict(X))])


def test_a_list_ends_with_every_row_taken():
    run = made("ranker")
    (line,) = run.curves["lines"]
    assert line["x"][-1] == line["recall"][-1] == 1.0
    assert line["y"][-1] == pytest.approx(run.sample["positives"] / run.sample["n"])


def test_the_median_error_lies_on_the_curve_of_errors():
    run = made("regressor")
    for method, line in zip(run.methods, run.curves["lines"], strict=True):
        assert line["y"][line["x"].index(0.5)] == pytest.approx(method["value"])


@pytest.mark.parametrize(
    ("kind", "absent"),
    [
        ("auto", ()),
        ("alone", ()),
        ("profit", ("groups",)),
        ("ranker", ("confusion",)),
        ("regressor", ("confusion", "groups")),
    ],
)
def test_what_makes_no_sense_is_left_out(kind, absent):
    run = made(kind)
    parts = ("course", "worth", "confusion", "groups", "curves", "coefficients")
    assert [part for part in parts if not getattr(run, part)] == list(absent)


def test_a_sum_over_rows_promises_nothing():
    assert made("profit").methods[0]["optimism"] is None
    assert made("alone").methods[0]["optimism"] is not None


def test_the_chosen_turn_is_the_models_own():
    for kind in ("auto", "descent"):
        course = made(kind).course
        assert course["iterations"][course["chosen"]]["value"] == pytest.approx(course["value"])


def test_shares_sum_to_one():
    turns = made("auto").course["iterations"]
    assert sum(turn["share"] or 0.0 for turn in turns) == pytest.approx(1.0)


def test_slices_are_called_as_the_user_calls_them():
    labels = [one["label"] for one in made("auto").worth["slices"]]
    assert labels[0] == "income = 0, sex = F"


def test_rows_of_a_source_of_noise_count_for_little():
    X, y, _, _ = rows(1200)
    source = np.where(np.arange(800) % 2, "B", "A")
    noisy = y[:800].copy()
    noisy[source == "B"] = 1 - noisy[source == "B"]
    clf = MetricClassifier("f1", random_state=0)
    clf.fit(X[:800], noisy, source=source, X_val=X[800:1000], y_val=y[800:1000])
    said = gather(clf, X[1000:], y[1000:], names={"source": "vendor"}).worth["says"]
    assert any(line.startswith("Rows of vendor B") and "count for" in line for line in said)


def test_pipelines_and_plain_scikit_learn_models_are_welcome():
    X, y, _, _ = rows()
    pipe = make_pipeline(StandardScaler(), MetricClassifier("f1", random_state=0))
    pipe.fit(X[:300], y[:300])
    plain = LogisticRegression().fit(X[:300], y[:300])
    run = gather(pipe, X[300:], y[300:], baselines={"plain": plain})
    assert run.methods[0]["value"] == pytest.approx(f1_score(y[300:], pipe.predict(X[300:])))
    assert run.methods[1]["value"] == pytest.approx(f1_score(y[300:], plain.predict(X[300:])))


def test_a_metric_without_an_answer_is_none_and_no_more():
    def moody(y_true, y_pred):
        return np.mean(y_true == y_pred) if y_pred.any() else np.nan

    X, y, _, _ = rows()
    ours = MetricClassifier(moody, greater_is_better=True, random_state=0).fit(X[:300], y[:300])
    silent = LogisticRegression().fit(X[:300], y[:300])
    silent.intercept_ -= 100.0
    run = gather(ours, X[300:], y[300:], baselines={"silent": silent})
    assert run.methods[1]["value"] is None
    assert run.methods[0]["value"] is not None


def test_a_slow_metric_has_no_error_bars(monkeypatch):
    monkeypatch.setattr(sample_module, "SECONDS", 0.0)
    X, y, _, amount = rows()
    ours = MetricClassifier(profit, greater_is_better=True, random_state=0)
    ours.fit(X[:300], y[:300], side={"amount": amount[:300]})
    run = gather(ours, X[300:], y[300:], side={"amount": amount[300:]})
    assert run.methods[0]["error"] is None
    assert run.made["resamples"] == 0


def test_a_baseline_of_our_name_is_refused():
    ours, _, X, y, groups = classifier()
    with pytest.raises(ValueError, match="rename it"):
        gather(ours, X, y, baselines={"anymetric": ours}, groups=groups)


def test_the_same_seed_gathers_the_same_run():
    ours, rivals, X, y, groups = classifier()
    one, two = (gather(ours, X, y, baselines=rivals, groups=groups) for _ in range(2))
    assert (one.methods, one.groups, one.diagnosis) == (two.methods, two.groups, two.diagnosis)


def test_the_gains_of_a_ranker_are_its_grades(rng):
    X = rng.normal(size=(300, 3))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=300) + 1.0), 0, 4)
    query = np.repeat(np.arange(30), 10)
    ranker = MetricRanker("ndcg@5", random_state=0).fit(X, y, query=query)
    found = gather(ranker, X, y, side={"query": query})
    told = next(row["value"] for row in found.methods if row["name"] == "anymetric")
    assert told == pytest.approx(ranker.score(X, y, query=query))


def test_limits_are_scikit_learns_numbers_on_the_rows_of_the_report():
    ours, rivals, X, y, _ = classifier("precision", subject_to="recall>=0.7")
    run = made("limit")
    (limit,) = run.limits["limits"]
    expected = [recall_score(y, model.predict(X)) for model in (ours, rivals["logistic"])]
    assert limit["values"] == pytest.approx(expected)
    assert limit["kept_here"] == [value >= 0.7 for value in expected]
    n = np.sum(y == 1)
    assert limit["errors"][0] == pytest.approx(
        np.sqrt(expected[0] * (1.0 - expected[0]) / n), rel=0.3
    )
    assert limit["validation"] == ours.constraints_[0].value
    assert run.limits["curve"]["objective"] == pytest.approx(ours.trade_off_["objective"].tolist())
    assert made("auto").limits == {}
