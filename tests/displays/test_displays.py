"""Displays: what is drawn is what the fitted estimator says, whoever fitted it."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import (
    Adagrad,
    Descent,
    LinearInterpolation,
    MetricClassifier,
    MetricRanker,
    MetricRegressor,
    Tuned,
    per_class,
    per_group,
)
from anymetric.baselines import GroupThresholds, TunedThreshold
from anymetric.displays import (
    DescentDisplay,
    FrontierDisplay,
    SliceWeightsDisplay,
    ThresholdDisplay,
)
from anymetric.displays.frontier import staircase
from anymetric.metrics import as_metric

mpl.use("Agg")
from matplotlib import pyplot as plt

X, Y = make_classification(400, weights=[0.8], flip_y=0.1, random_state=0)
GROUPS = np.where(np.random.default_rng(0).random(400) < 0.4, "$a$ <i>", "b")
PAPER = Descent(iterations=4, step=0.5, gradient=LinearInterpolation(m=20), projection=Adagrad(5))
OURS = (DescentDisplay, SliceWeightsDisplay, FrontierDisplay)


@pytest.fixture(scope="module")
def models():
    """One model of every method and kind, fitted once."""
    made = {
        "auto": MetricClassifier("f1", random_state=0).fit(X, Y),
        "groups": MetricClassifier("group_mean_f1", random_state=0).fit(X, Y, groups=GROUPS),
        "valid": MetricClassifier("f1", random_state=0).fit(
            X[:250], Y[:250], X_val=X[250:], y_val=Y[250:]
        ),
        "descent": MetricClassifier("gmean", method="descent", random_state=0).fit(X, Y),
        "paper": MetricClassifier(
            "f1", surrogates=per_class("hinge"), method=PAPER, starts=1, random_state=0
        ).fit(X, Y),
        "tuned": MetricClassifier(
            "f1", method=Tuned(PAPER, steps=(0.1, 1.0), sigmas=(0.5,)), random_state=0
        ).fit(X, Y),
        "ranker": MetricRanker("prbep", random_state=0).fit(X, Y),
    }
    made["regressor"] = MetricRegressor(random_state=0).fit(*make_regression(80, 3, random_state=0))
    return made


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


NAMES = ("auto", "groups", "valid", "descent", "paper", "tuned", "ranker", "regressor")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("display", OURS)
def test_every_display_keeps_the_convention(models, name, display):
    shown = display.from_estimator(models[name])
    assert shown.figure_ is shown.ax_.figure
    shown.figure_.canvas.draw()
    ax = plt.figure().subplots()
    assert shown.plot(ax) is shown
    assert shown.ax_ is ax


@pytest.mark.parametrize("name", NAMES)
def test_the_descent_shows_the_costs_and_their_running_minimum(models, name):
    model = models[name]
    shown = DescentDisplay.from_estimator(model)
    costs = np.array([iteration["cost"] for iteration in model.history_])
    tried = len(model.summary_.candidates or costs)
    drawn = np.concatenate([line.get_ydata() for line in shown.lines_])
    np.testing.assert_array_equal(drawn, costs[:tried])
    np.testing.assert_array_equal(shown.best_.get_ydata(), np.minimum.accumulate(costs[:tried]))
    assert shown.chosen_.get_ydata()[0] == model.cost_


def test_each_start_of_a_descent_is_a_line_of_its_own(models):
    shown = DescentDisplay.from_estimator(models["paper"])
    assert (
        len(shown.lines_)
        == len({iteration["start"] for iteration in models["paper"].history_})
        == 3
    )
    assert len(DescentDisplay.from_estimator(models["auto"]).lines_) == 1


def test_a_history_alone_is_enough(models):
    model = models["descent"]
    shown = DescentDisplay.from_history(model.history_, label="1 - G-mean", color="tab:red")
    assert shown.run.costs[shown.run.chosen] == model.cost_
    assert shown.lines_[0].get_color() == "tab:red"
    assert shown.ax_.get_ylabel() == "1 - G-mean"
    with pytest.raises(ValueError, match="no iterations"):
        DescentDisplay.from_history([])


@pytest.mark.parametrize("name", NAMES)
def test_bars_are_the_learned_weights(models, name):
    shown = SliceWeightsDisplay.from_estimator(models[name])
    widths = [bar.get_width() for bar in shown.bars_]
    assert widths == list(models[name].weights_.values())
    assert list(shown.meanings) == list(shown.weights)


def test_shares_are_the_counts_of_the_rows(models):
    shown = SliceWeightsDisplay.from_estimator(models["groups"])
    counted = {
        f"class={label}, groups={group}": np.mean((label == Y) & (group == GROUPS))
        for label in (0, 1)
        for group in np.unique(GROUPS)
    }
    assert shown.shares == pytest.approx(counted)


def test_validation_rows_that_train_have_a_share_too(models):
    shares = models["valid"].row_shares_
    assert sum(shares.values()) == pytest.approx(1.0)
    weighted = {"validation rows"} & set(models["valid"].weights_)
    assert weighted <= set(shares)


@pytest.mark.filterwarnings("ignore:The surrogates are nearly collinear")
def test_overlapping_slices_and_losses_over_all_rows_have_no_share(models):
    both = [per_class("logistic"), per_group("logistic")]
    model = MetricClassifier("f1", surrogates=both, method=PAPER, random_state=0)
    assert model.fit(X, Y, groups=GROUPS).row_shares_ == {}
    assert models["regressor"].row_shares_ == {}
    assert set(models["ranker"].row_shares_) == set(models["ranker"].weights_)


def test_rows_left_aside_are_said_to_count_for_almost_nothing():
    shown = SliceWeightsDisplay({"A": 0.99, "B": 0.01, "C": 0.0}, {"A": 0.5, "B": 0.5})
    assert "2 times as much" in shown.meanings["A"]
    assert "almost nothing" in shown.meanings["B"]
    assert shown.meanings["C"] == "0 % of the loss."


def test_the_frontier_shows_two_coordinates_of_the_profiles(models):
    model = models["groups"]
    first, second = model.surrogates_[3], model.surrogates_[1]
    for asked in ((first, second), (3, 1), (-1, second)):
        shown = FrontierDisplay.from_estimator(model, asked)
        profiles = np.array([iteration["profile"] for iteration in model.history_])
        np.testing.assert_array_equal(shown.points_.get_offsets(), profiles[:, [3, 1]])
        np.testing.assert_array_equal(
            shown.points_.get_array(), [iteration["cost"] for iteration in model.history_]
        )


def test_only_descents_have_a_path(models):
    assert FrontierDisplay.from_estimator(models["auto"]).paths_ == []
    assert len(FrontierDisplay.from_estimator(models["paper"]).paths_) == 3


@pytest.mark.parametrize("asked", [("no such", 0), (0,), (0, 0), (0, -2), (0, 9), (0, 1, 2)])
def test_surrogates_that_are_not_two_are_refused(models, asked):
    with pytest.raises(ValueError, match="two of"):
        FrontierDisplay.from_estimator(models["auto"], asked)


@given(arrays(float, st.tuples(st.integers(1, 12), st.just(2)), elements=st.integers(0, 5)))
def test_the_staircase_is_what_no_point_dominates(points):
    def beaten(p):
        return any(np.all(q <= p) and np.any(q < p) for q in points)

    expected = sorted({tuple(p) for p in points.tolist() if not beaten(np.array(p))})
    assert [tuple(p) for p in staircase(points).tolist()] == expected


def test_the_threshold_curve_is_the_metric_of_moved_decisions(models):
    model = models["auto"]
    curve = ThresholdDisplay.from_estimator(model, X, Y).curves["all rows"]
    scores = model.decision_function(X)
    for k in range(0, len(curve.thresholds), 40):
        moved = (scores > curve.thresholds[k]).astype(int)
        assert curve.values[k] == pytest.approx(f1_score(Y, moved, zero_division=0.0))
    assert curve.chosen == pytest.approx(f1_score(Y, model.predict(X)))
    assert curve.values[curve.best] == curve.values.max()
    assert np.all(np.diff(curve.thresholds) > 0)


def test_a_curve_is_right_at_every_threshold_not_only_at_those_that_were_asked(models):
    scores = models["auto"].decision_function(X)[:12]
    shown = ThresholdDisplay.from_predictions(Y[:12], scores, metric="accuracy")
    (line,) = shown.lines_
    x, y = line.get_data()
    grid = np.concatenate([np.linspace(x[0], x[-1], 500), scores])
    exact = [np.mean((scores > level) == Y[:12]) for level in grid]
    drawn = y[np.searchsorted(x, grid, side="right") - 1]
    assert line.get_drawstyle() == "steps-post"
    assert drawn == pytest.approx(exact)


@pytest.mark.parametrize("limit", [1, 3, 5, 40])
def test_few_thresholds_step_in_order(models, limit):
    right = as_metric(lambda y_true, y_pred: np.mean(y_true == y_pred), greater_is_better=True)
    scores = models["auto"].decision_function(X)
    shown = ThresholdDisplay.from_predictions(Y, scores, metric=right, limit=limit)
    x, y = shown.lines_[0].get_data()
    assert np.all(np.diff(x) >= 0.0)
    assert len(x) == len(y) == len(shown.curves["all rows"].values) + 1


def test_group_curves_are_the_rate_in_each_group(models):
    model = models["groups"]
    shown = ThresholdDisplay.from_estimator(model, X, Y, groups=GROUPS, per_group=True)
    assert list(shown.curves) == ["all rows", "$a$ <i>", "b"]
    each = [f1_score(Y[g == GROUPS], model.predict(X[g == GROUPS])) for g in list(shown.curves)[1:]]
    assert [c.chosen for c in shown.curves.values()] == pytest.approx([np.mean(each), *each])
    assert len(shown.lines_) == 3
    shown.figure_.canvas.draw()


@pytest.mark.parametrize("metric", ["penalised_equalised_odds", "worst_group_error", "gmean"])
def test_any_decision_metric_can_be_drawn_by_group(models, metric):
    shown = ThresholdDisplay.from_predictions(
        Y, models["auto"].decision_function(X), metric=metric, groups=GROUPS, per_group=True
    )
    bound = as_metric(metric).bind(2.0 * Y - 1.0, side={"groups": GROUPS})
    expected = bound.values(models["auto"].decision_function(X))
    assert shown.curves["all rows"].chosen == pytest.approx(float(expected))


def test_a_function_is_called_no_more_often_than_allowed(models):
    calls = []

    def profit(y_true, y_pred, amount):
        calls.append(1)
        return float(amount[(y_true == "yes") & (y_pred == "yes")].sum())

    y = np.where(Y == 1, "yes", "no")
    metric = as_metric(profit, greater_is_better=True)
    shown = ThresholdDisplay.from_predictions(
        y,
        models["auto"].decision_function(X),
        metric=metric,
        side={"amount": np.ones(400)},
        limit=13,
    )
    assert len(calls) == 14
    assert shown.curves["all rows"].values.max() == Y.sum()


def test_weights_count_as_repeated_rows(models):
    scores = models["auto"].decision_function(X)
    twice = np.r_[np.arange(400), np.arange(50)]
    weights = np.where(np.arange(400) < 50, 2.0, 1.0)
    one = ThresholdDisplay.from_predictions(Y, scores, metric="f1", sample_weight=weights)
    two = ThresholdDisplay.from_predictions(Y[twice], scores[twice], metric="f1")
    np.testing.assert_allclose(one.curves["all rows"].values, two.curves["all rows"].values)


def test_thresholds_a_group_are_kept():
    model = GroupThresholds("group_mean_f1", random_state=0).fit(X, Y, groups=GROUPS)
    shown = ThresholdDisplay.from_estimator(model, X, Y, groups=GROUPS)
    assert shown.curves["all rows"].chosen == model.score(X, Y, groups=GROUPS)


def test_pipelines_and_searches_are_opened(models):
    pipe = make_pipeline(StandardScaler(), MetricClassifier("f1", method=PAPER, random_state=0))
    search = GridSearchCV(pipe, {"metricclassifier__starts": [0]}, cv=2).fit(X, Y)
    inner = search.best_estimator_[-1]
    for display in OURS:
        assert display.from_estimator(search).ax_ is not None
    curve = ThresholdDisplay.from_estimator(search, X, Y).curves["all rows"]
    assert curve.chosen == inner.score(search.best_estimator_[:-1].transform(X), Y)


@pytest.mark.parametrize("display", OURS)
def test_strangers_and_the_unfitted_are_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(MetricClassifier("f1"))
    with pytest.raises(TypeError, match="LogisticRegression has none"):
        display.from_estimator(LogisticRegression().fit(X, Y))


def test_baselines_show_their_trials_and_nothing_that_they_lack():
    model = TunedThreshold("f1", random_state=0).fit(X, Y)
    assert DescentDisplay.from_estimator(model).chosen_.get_ydata()[0] == model.cost_
    with pytest.raises(TypeError, match="TunedThreshold has none"):
        SliceWeightsDisplay.from_estimator(model)


def test_what_cannot_be_drawn_is_said(models):
    with pytest.raises(ValueError, match="give groups="):
        ThresholdDisplay.from_estimator(models["auto"], X, Y, per_group=True)
    with pytest.raises(ValueError, match="no threshold"):
        ThresholdDisplay.from_estimator(models["ranker"], X, Y)
    with pytest.raises(ValueError, match="two classes"):
        ThresholdDisplay.from_predictions([1, 2, 3], [0.0, 1.0, 2.0], metric="f1")
    one = MetricClassifier("f1", surrogates="hinge", method=PAPER, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="two surrogates"):
        FrontierDisplay.from_estimator(one)


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys\nsys.modules['matplotlib'] = None\n"
        "from anymetric.displays import SliceWeightsDisplay\n"
        "try:\n    SliceWeightsDisplay({'a': 1.0}).plot()\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    expected = "SliceWeightsDisplay.plot needs matplotlib: pip install 'anymetric[plot]'."
    assert done.stdout.strip() == expected
