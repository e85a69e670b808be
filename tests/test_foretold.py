"""Functions of counts: their formula is learned, and few of their answers need be asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, make_scorer, matthews_corrcoef

from anymetric import MetricClassifier
from anymetric.auto import Auto
from anymetric.auto.foretold import ForetellingJury, divides, foretelling
from anymetric.auto.formula import Divided, Formula, Guess
from anymetric.auto.jury import Judgement, leaps
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError, as_metric, metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import per_class

N = 600


def table(rng, n=N):
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.8).astype(int)


def problem_of(function, rng, n=N, weights=None, **columns):
    X, y = table(rng, n)
    data = Data(X, 2.0 * y - 1.0, np.ones(n) if weights is None else weights, columns)
    wrapped = as_metric(function, greater_is_better=True)
    return Problem(data, per_class("logistic"), wrapped, model=Linear(), labels=(0, 1))


def learned(function, rng, limit=None, **columns):
    """Return the jury of a function, and the scores that it began with."""
    problem = problem_of(function, rng, **columns)
    scores = problem.valid.X[:, 0] + 0.3 * problem.valid.X[:, 1]
    weights = rng.standard_exponential((len(scores), 30))
    return foretelling(Ledger(problem, limit), scores, weights, rng), scores


def f1(y_true, y_pred):
    return f1_score(y_true, y_pred, zero_division=0.0)


def linear(y_true, y_pred):
    return 3.0 * np.sum((y_true == 1) & (y_pred == 1)) - np.sum(y_pred == 1)


def gmean(y_true, y_pred):
    return np.sqrt(np.mean(y_pred[y_true == 1]) * np.mean(1 - y_pred[y_true == 0]))


def mcc(y_true, y_pred):
    return matthews_corrcoef(y_true, y_pred)


def by_place(y_true, y_pred):
    return np.average(y_true == y_pred, weights=np.arange(len(y_true)))


@pytest.mark.parametrize("function", [f1, linear, gmean, mcc])
def test_a_formula_foretells_what_the_function_would_say(function, rng):
    jury, scores = learned(function, rng)
    problem = jury.ledger.problem
    shifts = -np.quantile(scores, [0.6, 0.7, 0.75, 0.8, 0.85])
    asked = problem.judge.costs(scores[:, np.newaxis] + shifts)
    told = np.array([jury.inner.judge(scores + shift).cost for shift in shifts])
    spread = np.ptp(list(jury.guess.formula.answers.values()))
    assert np.abs(told - asked).max() < 0.02 * spread


@pytest.mark.parametrize("function", [f1, linear, gmean])
def test_replicates_are_those_of_the_function_itself(function, rng):
    # The oracle: the function on rows drawn anew within each class.
    jury, scores = learned(function, rng)
    valid = jury.ledger.problem.valid
    shift = jury.tune(scores).shift
    told = jury.inner.judge(scores + shift).replicates
    classes = [np.flatnonzero(valid.y == sign) for sign in (-1.0, 1.0)]
    asked = []
    for _ in range(200):
        rows = np.concatenate([rng.choice(own, len(own)) for own in classes])
        bound = jury.ledger.problem.metric.bind(valid.y[rows], labels=(0, 1))
        asked.append(float(bound.costs(scores[rows] + shift)))
    assert told.std() == pytest.approx(np.std(asked), rel=0.4)
    assert told.mean() == pytest.approx(np.mean(asked), abs=0.5 * np.std(asked))


def test_a_function_that_reads_which_rows_are_flagged_is_found_out(rng):
    jury, _ = learned(by_place, rng)
    assert jury is None


def test_a_function_that_answers_at_random_is_found_out(rng):
    jury, _ = learned(lambda y_true, y_pred: f1(y_true, y_pred) + 1e-6 * rng.random(), rng)
    assert jury is None


def test_a_function_flat_for_random_decisions_is_found_out(rng):
    # Only decisions that are better than chance tell its rows apart.
    def profit(y_true, y_pred):
        value = np.arange(len(y_true)) % 7
        return max(0.0, np.sum(value * np.where(y_true == 1, 1.0, -1.0) * y_pred))

    jury, _ = learned(profit, rng)
    assert jury is None


def test_a_function_that_leaps_everywhere_is_not_believed(rng):
    jury, _ = learned(lambda y_true, y_pred: np.sum(y_pred) * 7 % 11, rng, limit=200)
    assert jury is None


def test_a_function_that_fails_on_other_decisions_is_called_instead(rng):
    def strict(y_true, y_pred):
        if np.mean(y_pred[y_true == 0]) > 0.3:
            raise RuntimeError("nobody flags so many")
        return f1(y_true, y_pred)

    jury, _ = learned(strict, rng)
    assert jury is None


@pytest.mark.parametrize("limit", [10, 40, 56, 200])
def test_no_more_calls_are_made_than_there_are(limit, rng):
    problem = problem_of(f1, rng)
    solution = Auto(replicates=20).run(ledger := Ledger(problem, limit), [], rng)
    assert solution.calls == ledger.calls <= limit
    assert solution.cost < -0.6


def test_calls_are_counted_as_they_are_made(rng):
    calls = []

    def counted(y_true, y_pred):
        calls.append(1)
        return f1(y_true, y_pred)

    solution = Auto(replicates=20).run(Ledger(problem_of(counted, rng)), [], rng)
    assert len(calls) == solution.calls < 150


@pytest.mark.parametrize("name", ["f1", "gmean", "error", "f2"])
def test_a_function_does_as_well_as_the_same_metric_by_name(name):
    X, y = table(np.random.default_rng(1), 2000)
    train, test = slice(0, 1000), slice(1000, None)
    ready = as_metric(name)

    def hidden(y_true, y_pred):
        return float(ready.bind(2.0 * y_true - 1.0).values(2.0 * y_pred - 1.0))

    own = metric(hidden, greater_is_better=ready.greater_is_better, on="decisions")
    named = MetricClassifier(name, random_state=0).fit(X[train], y[train])
    asked = MetricClassifier(own, random_state=0).fit(X[train], y[train])
    values = [hidden(y[test], clf.predict(X[test])) for clf in (named, asked)]
    assert abs(values[0] - values[1]) < 0.02
    assert asked.n_metric_calls_ < 120


def test_a_scorer_is_foretold_too():
    X, y = table(np.random.default_rng(0), 800)
    scorer = make_scorer(matthews_corrcoef)
    clf = MetricClassifier(scorer, random_state=0).fit(X, y)
    assert clf.n_metric_calls_ < 120
    assert scorer(clf, X, y) > 0.5


def test_groups_are_cells_of_their_own(rng):
    def worst(y_true, y_pred, groups):
        return min(f1(y_true[groups == g], y_pred[groups == g]) for g in ("a", "b"))

    groups = rng.choice(["a", "b"], N)
    problem = problem_of(worst, rng, groups=groups)
    assert len(divides(problem)) == 4
    jury, scores = learned(worst, rng, groups=groups)
    assert isinstance(jury, ForetellingJury)
    told = jury.tune(scores)
    at = float(jury.ledger.problem.judge.costs(scores + told.shift))
    assert told.cost == pytest.approx(at, abs=0.03)


def test_a_threshold_for_each_group_needs_no_more_calls(rng):
    X, y = table(rng, 1200)
    groups = np.where(rng.random(1200) < 0.5, "a", "b")
    X[:, 3] = groups == "a"

    def parity(y_true, y_pred, groups):
        rates = [np.mean(y_pred[groups == g]) for g in ("a", "b")]
        return np.mean(y_true == y_pred) - abs(rates[0] - rates[1])

    clf = MetricClassifier(parity, greater_is_better=True, group_thresholds=True, random_state=0)
    clf.fit(X, y, groups=groups)
    assert clf.n_metric_calls_ < 1500
    assert parity(y, clf.predict(X, groups=groups), groups) > 0.7


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("amounts", {"amount": np.arange(float(N))}),
        ("weights", {"weights": 1.0 + np.arange(N) % 2}),
        ("rare cells", {"amount": np.r_[np.ones(2), np.zeros(N - 2)]}),
    ],
)
def test_what_cannot_be_counted_is_not_divided(why, change, rng):
    def profit(y_true, y_pred, amount=None):
        return linear(y_true, y_pred)

    assert divides(problem_of(profit, rng, **change)) is None
    assert len(divides(problem_of(profit, rng))) == 2


def test_ready_made_metrics_are_not_asked_for_their_formula(rng):
    X, y = table(rng)
    data = Data(X, 2.0 * y - 1.0)
    assert divides(Problem(data, per_class("logistic"), as_metric("f1"), labels=(0, 1))) is None


def test_the_last_answer_is_checked_and_chosen_anew_if_it_surprises(rng):
    jury, scores = learned(f1, rng)
    jury.guess.formula.answers.clear()
    counts = np.array([[10, 10], [40, 40], [80, 80], [120, 90]])
    jury.guess.formula.tell(counts, np.array([0.0, 5.0, -5.0, 3.0]))  # all lies
    assert jury.mistaken(scores - 0.5)
    assert not jury.mistaken(scores - 0.5)


def test_a_failure_after_the_formula_is_known_leaves_the_best_so_far():
    calls = []

    def tires(y_true, y_pred):
        calls.append(1)
        if len(calls) == last:
            raise RuntimeError("out of order")
        return f1(y_true, y_pred)

    def run():
        rng = np.random.default_rng(0)
        return Auto(replicates=10).run(Ledger(problem_of(tires, rng)), [], rng)

    last = None
    last, _ = run().calls, calls.clear()
    with pytest.raises(MetricError, match="out of order") as caught:
        run()
    assert caught.value.call == last
    assert caught.value.best.theta.shape == (5,)


def test_a_failure_out_of_hope_is_not_the_end(rng):
    failures = []

    def corners(y_true, y_pred):
        if failures:
            raise RuntimeError(failures.pop())
        return floored(y_true, y_pred)

    jury, scores = learned(corners, rng)
    noise = jury.ledger.problem.valid.X[:, 2]
    failures.append("not there")
    for k in range(1, 6):
        jury.tune(scores + 0.2 * k * noise)
    assert not failures
    assert jury.guess.formula.wary
    failures.append("nor there")
    with pytest.raises(MetricError, match="nor there"):
        jury.judge(scores + 0.37 * noise)


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_the_unit_of_the_weights_does_not_count(weight):
    def tuned():
        rng = np.random.default_rng(0)
        jury, scores = learned(f1, rng, weights=np.full(N, weight))
        return jury.tune(scores), jury.ledger.calls

    told, calls = tuned()
    weight, kept = 1.0, weight
    plain, others = tuned()
    assert calls == others, kept
    assert told.shift == pytest.approx(plain.shift)
    assert told.cost == pytest.approx(plain.cost)


def test_a_column_that_training_rows_lack_is_no_hindrance(rng):
    def parted(y_true, y_pred, groups=None):
        return f1(y_true, y_pred)

    X, y = table(rng, 900)
    clf = MetricClassifier(parted, greater_is_better=True, random_state=0)
    clf.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:], groups_val=np.tile(["a", "b"], 200))
    assert clf.n_metric_calls_ < 200
    assert f1(y, clf.predict(X)) > 0.5


# --- the parts


@given(
    sizes=st.lists(st.integers(3, 400), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    width=st.floats(0.0, 5.0),
)
@settings(max_examples=50, deadline=None)
def test_numbers_around_others_can_be_flagged(sizes, seed, width):
    rng = np.random.default_rng(seed)
    formula = Formula(np.array(sizes, dtype=float))
    counts = rng.integers(0, np.array(sizes) + 1)
    near = formula.around(counts, rng.random((7, len(sizes))), width)
    assert near.shape == (7, len(sizes))
    assert np.all((near >= 1) & (near <= np.array(sizes) - 1))
    inside = (counts >= 1) & (counts <= np.array(sizes) - 1)
    if width == 0.0:
        assert np.all(np.abs(near - counts)[:, inside] <= 1)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_cells_tell_rows_apart_by_class_and_columns(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 40)
    side = {"groups": rng.choice(["x", "y", "z"], 40), "tier": rng.integers(0, 2, 40)}
    divided = Divided.by(y, side, ["groups", "tier"])
    cell = divided.of(y, side)
    keys = list(zip(y, side["groups"], side["tier"], strict=True))
    assert len(set(keys)) == len(divided) == cell.max() + 1
    assert len(set(zip(keys, cell, strict=True))) == len(set(keys))
    unknown = divided.of(y, {**side, "groups": np.full(40, "w")})
    assert np.all(unknown == len(divided))


def test_a_formula_remembers_its_answers():
    formula = Formula(np.array([50.0, 50.0]))
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 50, (20, 2))
    costs = rng.normal(size=20)
    formula.tell(counts, costs)
    told, errors = formula.foretold(counts)
    known = np.array([formula.answers[tuple(row)] for row in counts.tolist()])
    assert np.array_equal(told, known)
    assert not np.any(errors)
    assert formula.foretold(np.array([[1, 49]]))[1][0] > 0.0


def test_a_constant_has_a_formula():
    formula = Formula(np.array([50.0, 50.0]))
    formula.tell(np.array([[5, 5], [10, 30], [20, 20]]), np.full(3, 7.0))
    assert formula.costs(np.array([[0.3, 0.3]])) == pytest.approx([7.0])
    assert formula.strays(3) == pytest.approx(0.0)


def test_rows_of_cells_that_are_not_known_do_not_count(rng):
    y, side = np.tile([-1.0, 1.0], 50), {"groups": np.full(100, "a")}
    divided = Divided.by(y, side, ["groups"])
    formula = Formula(np.array([50.0, 50.0]))
    counts = np.array([[a, b] for a in (5, 20, 40) for b in (5, 20, 40)])
    formula.tell(counts, (counts[:, 0] - counts[:, 1]) / 50.0)
    guess = Guess("guess", divided, formula)
    scores = rng.normal(size=100)
    alone = guess.bind(y, side=side).costs(scores)
    more = {"groups": np.append(side["groups"], ["b"] * 10)}
    both = guess.bind(np.append(y, np.ones(10)), side=more)
    assert both.costs(np.append(scores, np.ones(10))) == pytest.approx(alone)


# --- costs that leap


def floored(y_true, y_pred):
    """Precision, if seven tenths of the positives are found."""
    found = np.mean(y_pred[y_true == 1])
    precision = np.mean(y_true[y_pred == 1]) if np.any(y_pred) else 0.0
    return precision if found >= 0.7 else found - 1.0


def test_half_of_the_replicates_beyond_an_edge_is_a_leap():
    assert leaps(Judgement(0.0, 0.0, np.array([0.0, 1.0] * 10)))
    assert not leaps(Judgement(0.0, 0.5, np.array([0.0, 1.0] * 10)))
    assert not leaps(Judgement(0.0, 0.0, np.zeros(0)))


@pytest.mark.parametrize("limit", [None, 200])
@pytest.mark.parametrize("alone", [True, False])
def test_a_floor_under_recall_is_kept_on_new_rows(limit, alone):
    kept = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = table(rng, 4500)
        train, judges, test = slice(0, 600), slice(600, 1000), slice(1000, None)
        clf = MetricClassifier(
            floored, greater_is_better=True, max_metric_calls=limit, random_state=0
        )
        more = {} if alone else {"X_val": X[judges], "y_val": y[judges]}
        clf.fit(X[train], y[train], **more)
        kept.append(floored(y[test], clf.predict(X[test])) > 0.0)
    assert np.mean(kept) > 0.6


def test_the_function_itself_is_asked_for_leaps_where_its_formula_is_rough(rng):
    jury, scores = learned(f1, rng)
    calls = jury.ledger.calls
    assert jury.steadied(scores - 0.8) == 0.0
    assert jury.ledger.calls == calls
    jury.guess.formula.smooth = False
    assert jury.steadied(scores - 0.8) == 0.0  # it has none
    assert jury.ledger.calls > calls


def test_a_constant_has_no_formula_worth_learning(rng):
    assert learned(lambda y_true, y_pred: 0.5, rng)[0] is None
