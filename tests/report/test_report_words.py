"""What a page says is true: of gains and losses, of promises, of rows, of what cannot be told."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from anymetric import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.cli.evaluate import evaluated
from anymetric.cli.fit import Fit
from anymetric.cli.roles import Roles
from anymetric.cli.voice import Voice, measured
from anymetric.data import Data
from anymetric.displays import SliceWeightsDisplay
from anymetric.metrics import as_metric
from anymetric.report import gather, page
from anymetric.report.advice import advice
from anymetric.report.course import course_of, surrogate_names
from anymetric.report.markup import number
from anymetric.report.run import Run
from anymetric.report.sample import Sample
from anymetric.report.table import methods_of, spread
from anymetric.report.words import families, headline, optimism, trust
from anymetric.report.worth import Slice, labels
from anymetric.solution import Status
from anymetric.summary import CandidateSummary, Summary

from .report_runs import classifier, made, rows


def test_only_a_metric_of_decisions_has_a_best_threshold():
    X, y, _, _ = rows()
    ours = MetricClassifier("roc_auc", random_state=0).fit(X[:300], y[:300])
    run = gather(ours, X[300:], y[300:])
    assert trust(run).endswith("beside the plain model.")
    assert "at its best threshold" not in page(run)
    assert trust(made("auto")).endswith("beside the plain model at its best threshold.")
    assert trust(made("many")).endswith("beside the plain model at its best offsets.")


def test_the_page_says_which_family_of_models_won():
    X, y, _, _ = rows()
    ours = MetricClassifier("f1", model="auto", max_metric_calls=60, random_state=0)
    run = gather(ours.fit(X[:300], y[:300]), X[300:], y[300:])
    shares = ours.summary_.families
    first = min(shares, key=lambda name: shares[name].behind)
    said = f"Of 3 families, {first} won with {100 * shares[first].share:.0f} % of the weight; "
    assert families(run).startswith(said)
    assert said in page(run)
    absent = {"absent": "Nobody looked.", "families": run.diagnosis["families"]}
    assert said in page(replace(run, diagnosis=absent))
    assert "families" not in page(made("auto"))


def test_the_family_with_the_weight_is_the_one_that_won():
    families_ = {
        "linear": {"share": 1.0, "behind": 0.013, "error": 0.024},
        "boosted": {"share": 0.0, "behind": 0.0, "error": 0.0},
    }
    assert families(Run({}, {}, [], diagnosis={"families": families_})) == (
        "Of 2 families, linear won with 100 % of the weight; boosted is 0.013 ± 0.024 ahead, "
        "within noise (0 %)."
    )


def test_surrogates_have_their_names_where_validation_rows_and_sources_are_weighed_too():
    X, y, _, _ = rows()
    source = np.where(np.arange(300) % 3, "A", "B")
    ours = MetricClassifier("f1", random_state=0)
    ours.fit(X[:300], y[:300], source=source, X_val=X[300:450], y_val=y[300:450])
    run = gather(ours, X[450:], y[450:], names={"target": "paid", "source": "vendor"})
    assert sorted(run.course["surrogates"]) == [
        f"paid = {label}, vendor = {name}" for label in (0, 1) for name in "AB"
    ]
    old = SimpleNamespace(weights_={"a": 0.2, "b": 0.3, "validation rows": 0.5})
    assert surrogate_names(2, [], old) == ["a", "b"]


def test_within_queries_losses_have_weights_not_rows():
    X, y, _, _ = rows()
    query = np.repeat(np.arange(60), 10)
    ours = MetricRanker("ndcg@5", max_metric_calls=20, random_state=0)
    ours.fit(X[:300], y[:300], query=query[:300])
    html = page(gather(ours, X[300:], y[300:], side={"query": query[300:]}))
    assert "Learned weights of the losses" in html
    assert "Learned weights of the rows" not in html


def test_an_error_that_is_but_rounding_is_none():
    thirds = np.array([0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2])
    assert thirds.std() > 0.0
    assert spread(thirds) == 0.0
    assert spread(1e-20 * np.array([1.0, 3.0])) / 1e-20 == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["auto", "ranker", "regressor", "many", "profit"])
def test_the_report_says_the_recommendation_that_the_terminal_says(kind):
    run = made(kind)
    html = page(run).replace("&#x27;", "'")
    assert headline(run) == run.recommendation["says"]
    assert html.count(run.recommendation["says"]) == 1


def test_a_default_regression_is_not_advised_to_leave_out_surrogates():
    assert made("regressor").diagnosis["condition"] > 1.0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = 1e6 * X[:, 0] + 1e5 * rng.normal(size=400)
    ours = MetricRegressor("r2", random_state=0).fit(X[:250], y[:250])
    assert gather(ours, X[250:], y[250:]).diagnosis["hint"] is None


def test_what_the_surrogates_explain_is_not_reported_where_nothing_changed():
    run = made("perfect")
    assert run.diagnosis["r_squared"] is None
    html = page(run)
    assert "no probe tells how far the surrogates explain the metric" in html
    assert "explain 0 %" not in html
    assert "condition number" not in html


def test_a_baseline_without_an_answer_was_compared_all_the_same():
    ours = {"name": "ours", "value": 0.7, "error": 0.01, "improvement": 0.0}
    silent = {"name": "silent", "value": float("nan"), "improvement": float("nan")}
    said = advice([ours, silent], greater=True).says
    assert said == "The metric had no answer for any baseline on these rows."
    assert advice([ours], greater=True).says == "Not compared with any baseline."


def test_rows_that_a_method_saw_tell_nothing_of_its_promise():
    ours, _, X, y, _ = classifier("f1")
    told = [gather(ours, X, y, held_out=held_out) for held_out in (True, False)]
    assert ['<section id="optimism"' in page(run) for run in told] == [True, False]
    assert optimism(told[1]) == []


def test_rows_that_trained_make_no_promise_on_the_command_line(tmp_path):
    X, y, _, _ = rows(200)
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(y=y)
    table.to_csv(tmp_path / "rows.csv", index=False)
    asked = {"holdout": False, "run": tmp_path / "run"}
    Fit(tmp_path / "rows.csv", Roles("y"), "f1", **asked)(Voice(quiet=True))
    assert 'id="optimism"' not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_shares_are_those_of_the_training_rows_as_in_the_display():
    X, y, _, _ = rows(900)
    few = np.flatnonzero(y[500:] == 1)[:20] + 500
    judged = np.concatenate([few, np.flatnonzero(y[500:] == 0) + 500])
    ours = MetricClassifier("gmean", random_state=0).fit(X[:500], y[:500])
    found = gather(ours, X[judged], y[judged]).worth
    assert [one["rows"] for one in found["slices"]] == pytest.approx(
        [np.mean(y[:500] == label) for label in (0, 1)]
    )
    shares = SliceWeightsDisplay.from_estimator(ours).shares
    assert [one["rows"] for one in found["slices"]] == pytest.approx(list(shares.values()))
    weight, share = ours.weights_["logistic[class=+1]"], np.mean(y[:500] == 1)
    (said,) = [line for line in found["says"] if "class = 1" in line]
    assert f"are {100 * share:.0f} % of the training rows" in said
    ratio = weight / share
    assert f"each counts for {'about one' if 1 / 1.15 < ratio < 1.15 else f'{ratio:.1f}'}." in said


def test_a_group_may_be_called_like_a_source():
    groups = np.array(["b, source=z", "a", "b, source=z", "a"])
    data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, -1.0, 1.0]), side={"groups": groups})
    sample = Sample(as_metric("group_mean_f1"), data, ("no", "yes"), {"ours": np.ones(4)})
    names = ["logistic[class=+1, groups=b, source=z]", "logistic[class=+1, groups=a, source=z]"]
    called = {"target": "paid", "groups": "town", "source": "vendor"}
    assert labels(names, sample, called) == [
        "paid = yes, town = b, source=z",
        "paid = yes, town = a, vendor = z",
    ]
    assert Slice.read(names[1], 0.5).parts == {"groups": "a", "source": "z"}


def test_the_rows_of_a_graded_ranking_are_relevant_not_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=300) + 1.0), 0, 4)
    run = gather(MetricRanker("average_precision", random_state=0).fit(X, y), X, y)
    html = page(run)
    share = 100 * np.mean(y > 0)
    assert f"{share:.0f} % of them are relevant: above the smallest value" in html
    assert "of them are 1" not in html
    assert [one["label"] for one in run.worth["slices"]] == ["lowest relevance", "higher relevance"]


def history(costs):
    parts = {"start": 0, "profile": [1.0], "weights": None, "calls": 1, "seconds": 0.0}
    return [{"iteration": k, "cost": cost, "target": None, **parts} for k, cost in enumerate(costs)]


@pytest.mark.parametrize(("averaged", "chosen"), [(False, 1), (True, 3)])
def test_the_model_is_the_average_or_the_candidate_of_the_largest_share(averaged, chosen):
    shares = (("a", 0.0), ("b", 1.0), ("c", 0.0))
    candidates = tuple(CandidateSummary(name, 0.3, share) for name, share in shares)
    model = SimpleNamespace(
        history_=history([0.3, 0.2, 0.2, 0.2][: 4 if averaged else 3]),
        summary_=Summary(candidates),
        cost_=0.2,
        metric_=as_metric("error"),
        status_=Status.SELECTED,
        n_metric_calls_=3,
        validation_="",
        validation_score_=0.2,
    )
    assert course_of(model, ["a"])["chosen"] == chosen


def test_no_improvement_is_below_zero_by_rounding_alone():
    data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    scores = {"ours": data.y, "same": data.y}
    sample = Sample(as_metric("error"), data, (0, 1), scores)
    row = methods_of(sample, dict.fromkeys(scores), np.zeros((5, 2)), {})[1]
    assert str(row["improvement"]) == "0.0"
    assert (number(-0.0, sign=True), measured(-0.0, 0.0, sign=True)) == (
        "0.0000",
        "+0.0000 ± 0.0000",
    )


def test_tiny_numbers_are_not_nothing():
    assert number(2.5e-10).replace("\N{MINUS SIGN}", "-") == "2.500e-10"
    assert measured(2.5e-10, 1e-11) == "2.5e-10 ± 1.0e-11"
    assert number(0.5, 1e-9) == "0.500000"


def test_resamples_without_an_answer_are_not_counted():
    """A function that refuses rows that were drawn twice fails on every bootstrap resample."""
    X, y, _, _ = rows()

    def fussy(y_true, y_pred, key):
        return np.mean(y_true == y_pred) if len(set(key)) == len(key) else float("nan")

    ours = MetricClassifier("accuracy", random_state=0).fit(X[:300], y[:300])
    ours.metric_ = as_metric(fussy, greater_is_better=True)
    run = gather(ours, X[300:], y[300:], side={"key": np.arange(300)})
    assert run.made["resamples"] == 0
    assert run.methods[0]["error"] is None
    assert "from 200 bootstrap resamples" not in page(run)


@pytest.mark.parametrize(
    ("metric", "told"), [("penalised_demographic_parity", 0), ("group_mean_f1", 2)]
)
def test_a_metric_between_groups_has_no_value_within_one(metric, told):
    rng = np.random.default_rng(0)
    y, groups = rng.choice([-1.0, 1.0], 80), np.repeat(["a", "b"], 40)
    data = Data(np.zeros((80, 1)), y, side={"groups": groups})
    sample = Sample(as_metric(metric), data, (0, 1), {"anymetric": y + rng.normal(size=80)})
    assert len(evaluated(sample, rng)["groups"]) == told


def test_the_promise_of_a_metric_by_query_is_held_against_other_queries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=600)), 0, 3)
    query = np.repeat(np.arange(60), 10)
    ranker = MetricRanker("ndcg@5", random_state=0).fit(X[:400], y[:400], query=query[:400])
    run = gather(ranker, X[400:], y[400:], side={"query": query[400:]})
    assert run.methods[0]["optimism"] is not None
    assert "bootstrap resamples of the queries" in page(run)
    assert run.sample["queries"] == 20


CHARTS = r'data-chart="(\w+)" role="img" aria-label="([^"]*)"'


@pytest.mark.parametrize("kind", ["auto", "descent", "ranker", "regressor", "many"])
def test_every_chart_has_its_numbers_in_a_table_too(kind):
    html = page(made(kind))
    for section in re.findall(r"<section.*?</section>", html, re.DOTALL):
        charts = re.findall(CHARTS, section)
        # Values and the improvements share a table.
        assert section.count("<table") >= len(
            [name for name, _ in charts if name != "improvements"]
        )
        for _, label in charts:
            assert re.search(r"\d|table", label), label


def test_the_tables_of_curves_and_iterations_hold_the_numbers_of_the_charts():
    run = made("descent")
    html = page(run)
    turn = run.course["iterations"][run.course["chosen"]]
    assert f">iteration {turn['iteration']}<" in html
    assert number(turn["profile"][0]) in html
    line = run.curves["lines"][0]
    assert number(line["y"][-1]) in html
    for method in run.methods:
        assert number(method["validation"], method["error"]) in html


def test_a_loss_is_called_one():
    found = {"gain": -0.0271, "gain_error": 0.0093}
    run = replace(made("auto"), diagnosis={**made("auto").diagnosis, **found})
    assert "the cost rose by 0.0271 ± 0.0093 beside" in page(run)


def test_silent_baselines_are_distinguished_from_none():
    X, y, _, _ = rows()

    def moody(y_true, y_pred):
        return np.mean(y_true == y_pred) if y_pred.any() else np.nan

    ours = MetricClassifier(moody, greater_is_better=True, random_state=0).fit(X[:300], y[:300])
    silent = LogisticRegression().fit(X[:300], y[:300])
    silent.intercept_ -= 100.0
    run = gather(ours, X[300:], y[300:], baselines={"silent": silent})
    assert headline(run) == "The metric had no answer for any baseline on these rows."
