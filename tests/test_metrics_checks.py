"""Ready-made metrics: what they refuse, what their names mean, what they survive."""

import pickle

import numpy as np
import pytest

from anymetric.metrics import (
    R2,
    BreakEven,
    DemographicParity,
    EqualisedOdds,
    ErrorRate,
    FBeta,
    GMean,
    MacroByGroup,
    MeanSquaredError,
    MetricError,
    Pinball,
    PrecisionAtFraction,
    PrecisionAtK,
    Profit,
    Recall,
    RecallAtPrecision,
    RocAuc,
    Within,
    WorstGroup,
    as_metric,
    metric_names,
)
from metric_oracles import EVERY, RANKED, REGRESSED, TOPS

every = pytest.mark.parametrize("metric", EVERY, ids=repr)


@every
def test_a_metric_and_its_bound_survive_pickling(metric):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    side = {"groups": np.array(["a", "a", "b", "b"]), "amount": np.ones(4)}
    scores = np.array([0.5, -1.0, -0.5, 2.0])
    bound = metric.bind(y, side=side)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert pickle.loads(pickle.dumps(bound)).values(scores) == bound.values(scores)


Y = np.array([1.0, 1.0, -1.0, -1.0])
HALVES = {"groups": np.array(["a", "a", "b", "b"])}


@pytest.mark.parametrize(
    ("metric", "y", "given", "message"),
    [
        (MacroByGroup(), Y, {}, "needs the metadata column 'groups'; columns given: none"),
        (Profit(tp="amount"), Y, {"side": HALVES}, r"'amount'; columns given: \['groups'\]"),
        (Recall(), -np.ones(3), {}, "'recall' needs positives"),
        (GMean(), np.ones(3), {}, "'gmean' needs negatives"),
        (RocAuc(), np.ones(3), {}, "'roc_auc' needs negatives"),
        (BreakEven(), -np.ones(3), {}, "'prbep' needs positives"),
        (EqualisedOdds(), Y, {"side": HALVES}, "needs negatives; there are none in group 'a'"),
        (WorstGroup(Recall()), Y, {"side": HALVES}, "needs positives.*group 'b'"),
        (PrecisionAtK(5), Y, {}, "top 5 rows; got 4"),
        (R2(), np.ones(3), {}, "targets that differ"),
        (MeanSquaredError(), np.array([1.0, np.nan]), {}, "finite targets"),
        (ErrorRate(), np.array([0.0, 1.0]), {}, r"-1 and \+1; got \[0.0\]"),
        (ErrorRate(), Y, {"weights": -Y}, "not negative"),
        (ErrorRate(), Y, {"weights": 0 * Y}, "not all zero"),
        (ErrorRate(), Y, {"weights": np.ones(3)}, r"weights must have shape \(4,\)"),
        (ErrorRate(), Y, {"side": {"g": np.ones(3)}}, r"g must have shape \(4,\)"),
        (Profit(tp="amount"), Y, {"side": {"amount": Y * np.nan}}, "finite gains"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_words(metric, y, given, message):
    with pytest.raises(ValueError, match=message):
        metric.bind(y, **given)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FBeta(-1.0), "beta"),
        (lambda: PrecisionAtK(0), "k must be"),
        (lambda: PrecisionAtFraction(0.0), "fraction"),
        (lambda: RecallAtPrecision(1.5), "precision"),
        (lambda: Pinball(1.0), "quantile"),
        (lambda: Within(-0.1), "tolerance"),
        (lambda: Profit(), "needs a gain"),
    ],
)
def test_settings_that_make_no_sense_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_scores_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"bound to 4 rows; got scores of shape \(3,\)"):
        ErrorRate().bind(Y).values(np.zeros(3))
    for shape in (3, (4, 1)):
        with pytest.raises(ValueError, match=r"bound to 4 rows; got .* give \(rows,\)\."):
            ErrorRate().bind(Y).sweep(np.zeros(shape))
    with pytest.raises(ValueError, match=r"finite scores .* 4 of them not finite"):
        ErrorRate().bind(Y).sweep(np.full(4, np.nan))


@pytest.mark.parametrize("metric", [*RANKED, *TOPS, *REGRESSED], ids=repr)
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 1.0])], ids=["even", "uneven"])
def test_a_score_that_is_not_a_number_is_named_by_its_probe(metric, weights):
    scores = np.tile(np.arange(4.0)[:, None], (1, 3))
    scores[1, 2] = np.nan
    with pytest.raises(MetricError, match="probe 2") as caught:
        metric.bind(Y, weights=weights).values(scores)
    assert caught.value.probe == 2


def test_a_group_that_weighs_nothing_is_not_there():
    groups = np.array(["a", "a", "a", "z"])
    y, scores = np.array([1.0, -1.0, 1.0, 1.0]), np.array([1.0, -1.0, -1.0, -1.0])
    bound = MacroByGroup().bind(y, weights=np.array([1, 1, 1, 0.0]), side={"groups": groups})
    assert bound.values(scores) == pytest.approx(FBeta().bind(y[:3]).values(scores[:3]))


def test_groups_with_missing_names_are_groups():
    groups = np.array(["a", None, "a", None], dtype=object)
    bound = WorstGroup().bind(Y, side={"groups": groups})
    assert bound.values(np.array([1.0, -1.0, -1.0, -1.0])) == 0.5


NAMED = [m for m in EVERY if not isinstance(m, Profit | DemographicParity | EqualisedOdds)]


@pytest.mark.parametrize("metric", NAMED, ids=repr)
def test_the_name_of_a_ready_made_metric_means_it(metric):
    assert as_metric(metric.name) == metric


def test_every_listed_name_is_a_metric_of_that_name():
    assert {"gmean", "macro_f1", "f1", "prbep", "r2"} <= set(metric_names())
    for name in metric_names():
        assert as_metric(name).name == name
