"""The quality benchmark: what it stores, what it computes twice (nothing), what its tables say."""

import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from anymetric import Auto, baselines

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import ablation  # noqa: E402
from benchmarks.quality import cells, run  # noqa: E402
from benchmarks.quality.methods import METHODS, as_function  # noqa: E402
from benchmarks.quality.results import Results  # noqa: E402
from benchmarks.quality.samples import CORRUPTED_GROUP, bind, groups_of, strata  # noqa: E402
from benchmarks.quality.shown import shown  # noqa: E402
from benchmarks.quality.store import HEADER, Cell, Row, Store  # noqa: E402
from benchmarks.quality.table import report  # noqa: E402
from benchmarks.quality.tasks import TASKS  # noqa: E402

TINY = ["--tasks", "wine_balanced", "--methods", "logistic", "tuned_threshold", "--seeds", "0,1"]
TWO = {"logistic": [0.3], "tuned_threshold": [0.4]}, {"logistic": 1.0, "tuned_threshold": 1.0}
SMALL = ["simulated_gmean", "compas_noisy50", "compas_noisy50_v200", "wine_balanced"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results" / "quality.csv"


def quality(out, *more):
    return run.main([*TINY, "--out", str(out), *more])


def test_a_tiny_run_stores_every_cell_and_tables_both_methods(out, capsys):
    assert quality(out) == 0
    rows = Store(out).rows()
    assert set(rows) == {
        Cell("wine_balanced", m, s) for m in ("logistic", "tuned_threshold") for s in (0, 1)
    }
    for row in rows.values():
        assert row.good
        assert row.value == row.cost  # an error rate is its own cost
        assert 0.0 <= row.cost < 0.3
        assert row.seconds > 0.0
        assert row.calls >= 1
        assert "code " in row.versions
    told = capsys.readouterr()
    written = out.with_suffix(".md").read_text(encoding="utf-8")
    for text in (told.out, written):
        assert "| logistic" in text
        assert "| tuned_threshold" in text
    assert "[4/4]" in told.err
    assert "left" in told.err


def test_the_stored_cost_is_that_of_the_estimator_on_the_test_rows(out):
    quality(out)
    task = TASKS["wine_balanced"]
    parts = task.parts(1)
    answer = METHODS["tuned_threshold"].fit(task, parts, 1)
    row = Store(out).rows()[Cell("wine_balanced", "tuned_threshold", 1)]
    assert row.value == pytest.approx(answer.estimator.score(parts.test.X, parts.test.y))
    assert row.validation_value == pytest.approx(answer.estimator.validation_score_)


def test_a_second_run_computes_nothing(out, monkeypatch):
    quality(out)
    before = out.read_bytes()
    monkeypatch.setattr(cells, "measure", lambda cell, _: pytest.fail(f"{cell} computed twice"))
    assert quality(out) == 0
    assert quality(out, "--table") == 0
    assert out.read_bytes() == before


def test_a_cut_run_goes_on_where_it_was_cut(out, monkeypatch):
    quality(out)
    whole = out.read_bytes()
    out.write_bytes(whole[: len(whole) - 40])  # the last line lost its end
    assert len(Store(out).done()) == 3
    computed = []
    measure = cells.measure
    monkeypatch.setattr(cells, "measure", lambda cell, _: computed.append(cell) or measure(cell))
    assert quality(out) == 0
    assert len(computed) == 1
    assert len(Store(out).done()) == 4


def test_again_replaces_rows(out, monkeypatch):
    quality(out)
    row = {"cost": 9.0, "value": 9.0, "seconds": 1.0}
    monkeypatch.setattr(cells, "measure", lambda cell, _: Row(*cell, **row))
    quality(out, "--again")
    assert {row.cost for row in Store(out).rows().values()} == {9.0}


def test_a_failing_method_is_reported_stored_and_tried_again(out, monkeypatch, capsys):
    broken = replace(METHODS["logistic"], settings={"no_such": 'a "quoted", text\nin lines'})
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "logistic", broken)
        assert quality(out) == 1
    rows = Store(out).rows()
    assert "no_such" in rows[Cell("wine_balanced", "logistic", 0)].error
    assert rows[Cell("wine_balanced", "tuned_threshold", 0)].good
    assert "TypeError" in capsys.readouterr().err
    assert quality(out) == 0
    assert len(Store(out).done()) == 4


def test_an_unknown_name_is_refused_with_a_near_one(out, capsys):
    with pytest.raises(SystemExit):
        run.main(["--tasks", "wine_balancd", "--out", str(out)])
    assert "Did you mean wine_balanced" in capsys.readouterr().err


def test_parallel_writers_lose_no_row(out):
    code = (
        "import sys; from pathlib import Path; from benchmarks.quality.store import Row, Store\n"
        "for s in range(100): Store(Path(sys.argv[1])).append(Row('t', sys.argv[2], s, error='x'))"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(out), name], cwd=ROOT)
        for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines.count(",".join(HEADER)) == 1
    assert len(lines) == 301
    assert len(Store(out).rows()) == 300


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_method_names_an_estimator_and_applies_somewhere(method):
    assert method.kind == "ours" or hasattr(baselines, method.estimator)
    assert any(method.applies(task) for task in TASKS.values())


@pytest.mark.parametrize("name", SMALL)
def test_a_task_keeps_its_word(name):
    task = TASKS[name]
    parts = task.parts(3)
    assert (groups_of(parts.train) is not None) == task.grouped
    assert (parts.clean is not None) == task.corrupted
    assert task.metric.decides != task.ranking
    for sample in (parts.valid, parts.test):
        assert np.isfinite(bind(task.metric, sample).values(sample.X[:, 0]))
    remade = task.make(3)
    assert np.array_equal(remade.train.X, parts.train.X)
    assert np.array_equal(remade.test.y, parts.test.y)
    assert not np.array_equal(task.make(4).test.X, parts.test.X)


def test_only_one_groups_training_rows_are_corrupted():
    parts = TASKS["compas_noisy50"].parts(0)
    clean = TASKS["compas_macro_f1"].parts(0)
    changed = np.any(parts.train.X != parts.clean.X, axis=1)
    assert np.array_equal(parts.clean.X, clean.train.X)
    assert np.array_equal(parts.valid.X, clean.valid.X)
    assert np.array_equal(parts.test.X, clean.test.X)
    assert set(parts.train.groups[changed]) == {CORRUPTED_GROUP}
    assert changed[parts.train.groups == CORRUPTED_GROUP].mean() == pytest.approx(0.5, abs=0.01)


def test_few_clean_rows_have_every_class_of_every_group_in_its_share():
    every = strata(TASKS["compas_noisy50"].parts(0).valid)
    few = strata(TASKS["compas_noisy50_v200"].parts(0).valid)
    assert len(few) == 200
    share = np.bincount(every) / len(every)
    assert np.all(np.abs(np.bincount(few) - 200 * share) <= 1.0)


def hand_made(costs, seconds):
    return [
        Row("wine_balanced", method, seed, cost=cost, value=cost, seconds=seconds[method], calls=7)
        for method, own in costs.items()
        for seed, cost in enumerate(own)
    ]


def test_the_table_has_the_mean_its_error_the_rank_and_the_price():
    costs = {"logistic": [0.3, 0.5], "tuned_threshold": [0.1, 0.3], "lightgbm": [0.0, 0.0]}
    rows = hand_made(costs, {"logistic": 1.0, "tuned_threshold": 2.0, "lightgbm": 6.0})
    results = Results(rows)
    assert results.ranks("tuned_threshold") == {"wine_balanced": 1.0}
    assert results.ranks("logistic") == {"wine_balanced": 2.0}
    assert results.ranks("lightgbm") == {}  # not linear, not ranked
    assert results.ratios("lightgbm") == [3.0]
    assert results.calls("lightgbm") == [7]
    text = report(rows)
    assert "0.4000 ± 0.1000" in text
    assert "**0.2000 ± 0.1000**" in text  # the best linear one, though lightgbm is lower
    assert "**0.0000" not in text


def test_a_task_counts_once_in_the_price_however_many_seeds_it_has():
    costs = {"auto": [0.1] * 5, "tuned_threshold": [0.1, 0.2, 0.3, 0.4, 0.5]}
    slow = hand_made(costs, {"auto": 9.0, "tuned_threshold": 1.0})
    swift = [
        Row(task, method, 0, cost=0.1, value=0.1, seconds=seconds, calls=1)
        for task in ("digits_f1", "diabetes_f1")
        for method, seconds in (("auto", 2.0), ("tuned_threshold", 1.0))
    ]
    results = Results([*slow, *swift])
    assert sorted(results.ratios("auto")) == [2.0, 2.0, 9.0]
    assert sorted(results.calls("auto")) == [1, 1, 7]
    assert "median over tasks | 2.0 " in report([*slow, *swift])


def test_rows_of_different_code_are_distinguished():
    old, new = (replace(row, versions=f"code {k}") for k, row in enumerate(hand_made(*TWO)))
    assert "1 rows made with code 0" in report([old, new])
    assert "1 rows made with code 1" in report([old, new])


def test_ranks_compare_the_seeds_that_all_linear_methods_have():
    costs = {"logistic": [0.3, 0.9], "tuned_threshold": [0.4]}
    results = Results(hand_made(costs, {"logistic": 1.0, "tuned_threshold": 1.0}))
    assert results.ranks("logistic") == {"wine_balanced": 1.0}


@pytest.mark.parametrize(("cost", "so"), [(0.3, "yes"), (0.39, "yes"), (0.5, "**no**")])
def test_what_must_be_seen_is_held_against_the_numbers(cost, so):
    costs = {"auto": [cost, cost], "tuned_threshold": [0.3, 0.4], "balanced": [0.6, 0.7]}
    found = shown(Results(hand_made(costs, dict.fromkeys(costs, 1.0))))
    said = {what: result for what, _, result in found}
    assert said["never behind tuned_threshold by more than one"] == so
    assert said["best mean rank"] == ("yes" if cost < 0.35 else "**no**")
    assert said["fitting at most 20 times as long as tuned_threshold, median over tasks"] == "yes"


@pytest.mark.parametrize(("calls", "so"), [(97, True), (201, False)])
def test_fits_of_few_calls_are_the_same_with_a_limit(calls, so):
    costs = {"auto": [0.3, 0.3], "tuned_threshold": [0.3, 0.4]}
    rows = hand_made(costs, dict.fromkeys(costs, 1.0))
    corrupted = [replace(row, task="compas_noisy50", calls=calls) for row in rows]
    said = [numbers for what, numbers, _ in shown(Results(corrupted)) if "ready-made" in what]
    assert said == ([f"all of it: no fit took more than {calls} calls"] if so else [])


def test_tasks_without_the_default_are_left_out_of_what_must_be_seen():
    costs = {"auto": [0.3, 0.3], "tuned_threshold": [0.3, 0.4]}
    rows = hand_made(costs, dict.fromkeys(costs, 1.0))
    others = [replace(row, task="digits_f1") for row in rows if row.method == "tuned_threshold"]
    assert shown(Results([*rows, *others]))[:2] == shown(Results(rows))[:2]


def test_a_hidden_metric_shows_nothing_but_its_value():
    task = TASKS["compas_noisy50"]
    parts = task.parts(0)
    hidden = as_function(task.metric)
    y, groups = parts.valid.y, parts.valid.groups
    decided = np.random.default_rng(0).permutation(y)
    expected = task.metric.bind(2.0 * y - 1.0, side={"groups": groups}).values(decided - 0.5)
    assert hidden.function(y, decided, groups=groups) == pytest.approx(float(expected))


def ablated(out, *more):
    line = ["--tasks", "wine_balanced", "--seeds", "0,1", "--out", str(out), *more]
    return ablation.main(line)


def test_the_ablation_takes_every_ingredient_away_once_and_computes_nothing_twice(
    out, monkeypatch, capsys
):
    assert ablated(out) == 0
    written = out.with_suffix(".md").read_text(encoding="utf-8")
    assert all(f"− {name}" in written for name in ablation.REMOVED)
    monkeypatch.setattr(cells, "measure", lambda cell, _: pytest.fail(f"{cell} computed twice"))
    assert ablated(out) == 0
    assert written in capsys.readouterr().out


def test_every_switch_of_the_default_is_in_the_ablation():
    """Whatever is on by default, and needs nothing from the user, can be taken away."""
    switches = {"use_validation", "selection", "transfer", "importance_weighting", "decision"}
    assert switches < {field.name for field in fields(Auto)}
    assert {name for flags in ablation.REMOVED.values() for name in flags} == switches


def test_rises_are_paired_by_seed():
    """Far apart from seed to seed, the same between methods: only pairing sees the rise."""
    costs = {0: 0.1, 1: 0.5, 2: 0.9}
    rows = [Row("wine_balanced", ablation.FULL, s, cost=c) for s, c in costs.items()]
    name = next(iter(ablation.REMOVED))
    rises = dict(zip(costs, (0.010, 0.011, 0.012), strict=True))
    rows += [Row("wine_balanced", name, s, cost=c + rises[s]) for s, c in costs.items()]
    text = ablation.report(rows)
    assert "**+0.0110 ± 0.0006**" in text
    assert "1 / 0" in text
