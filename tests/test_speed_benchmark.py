"""The speed benchmark: the same path twice, measured slopes, a failure only where paths differ."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.speed import baselines, limits, notebook, run, scaling, timing
from benchmarks.speed.table import Table


@pytest.fixture(scope="module")
def work():
    """Some rows of the notebook's work."""
    whole = notebook.Work.load()
    train, test = (part.take(np.arange(600)) for part in (whole.train, whole.test))
    return notebook.Work(train, whole.valid, test)


def test_plain_numpy_and_paper_mode_walk_the_same_path(work):
    path = notebook.plain_path(work, 3)
    walked = np.array([iteration.theta for iteration in notebook.paper_iterations(work, 3)])
    np.testing.assert_allclose(walked, path, atol=1e-9)
    assert np.ptp(path, axis=0).max() > 0.01


def test_the_notebook_table_has_a_row_for_each_way(work):
    table, known = notebook.measure(work, 2, 1, grid=False)
    names = [row[0] for row in table.rows]
    assert names[0] == "plain NumPy, 2 iterations (scaled up from 1)"
    assert names[1:3] == ["paper mode, 2 iterations", "default, a whole fit"]
    assert known["apart"] < notebook.APART
    assert 0.0 < known["cost"] < 1.0
    assert known["ratio"] > 0.0


def test_the_notes_of_the_default_are_in_order(work):
    watched = notebook.Watched(lambda model, theta: float(theta[-1]))
    work.fit(watched)
    seconds = [seconds for seconds, _ in watched.seen]
    assert len(seconds) > 3
    assert seconds == sorted(seconds)


def test_baselines_answer_on_the_test_rows(work):
    known = {"default": 1.0, "cost": 0.2, "scores": work.test.y}
    table = baselines.measure(work, known, 50)
    assert len(table.rows) == 4
    for name, _, cost, gap in table.rows[1:3]:
        assert 0.0 <= float(cost) <= 1.0, name
        assert gap.startswith(f"{float(cost):+.4f}"), "the true labels cost nothing"


def test_an_evolution_says_how_many_evaluations_it_made_and_why_it_stopped(work):
    pytest.importorskip("cma")
    told = baselines.evolved(50)(work).said
    made = int(told.split()[1])
    assert 50 <= made < 100
    assert "(maxfevals)" in told


def test_a_difference_has_the_error_of_its_resamples(work):
    same = baselines.difference(work, work.test.X[:, 0] - 0.5, work.test.X[:, 0] - 0.5, 20)
    assert same == (0.0, 0.0)
    gap, error = baselines.difference(work, -work.test.y, work.test.y, 20)
    assert gap == 1.0
    assert error < 1e-9
    gap, error = baselines.difference(work, work.test.X[:, 57] - 0.5, work.test.y, 50)
    assert 0.0 < error < 0.2


def test_the_slope_of_a_power_is_its_exponent():
    sizes = [10.0, 100.0, 1000.0]
    assert timing.slope(sizes, [0.5 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_memory_is_what_the_work_held_at_most():
    held = timing.allocated(lambda: np.ones(1 << 20).sum() + np.ones(1 << 19).sum())
    assert held == pytest.approx(8.0, abs=0.5)


def test_jittered_rows_are_near_adult_and_all_different():
    X = scaling.jittered(40_000, 150)
    assert X.shape == (40_000, 150)
    assert X.dtype == np.float32
    assert abs(float(X[:1000].mean()) - 0.107) < 0.02
    assert len(np.unique(X[:, 0])) > 30_000


def test_the_limits_are_positive_and_the_shares_are_of_them(monkeypatch):
    each = timing.best_of_each
    monkeypatch.setattr(limits, "best_of_each", lambda works: each(works, rounds=1))
    table = limits.measure(2000, d=10, m=20)
    assert [row[0] for row in table.rows] == ["float32"] * 4 + ["float64"] * 4
    for row in table.rows:
        assert row[4] == f"{100 * row[2] / row[3]:.0f} %"


def test_the_estimate_holds_no_matrix_of_all_scores():
    problem = limits.problem_of(np.random.default_rng(0).standard_normal((20_000, 20)))
    thetas = np.random.default_rng(1).standard_normal((1000, 21))
    problem.profile(thetas[:2])
    held = timing.allocated(lambda: problem.profile(thetas))
    assert held < 20.0  # the scores alone would be 153 MB


@pytest.mark.parametrize(("apart", "code"), [(1e-9, 0), (1e-3, 1)])
def test_a_run_fails_only_where_the_paths_part(apart, code, tmp_path, monkeypatch, capsys):
    table = Table("Times", ["what", "seconds"], [["one", 0.5], ["two", 1234.5]], ["A note."])
    monkeypatch.setattr(notebook.Work, "load", classmethod(lambda cls: None))
    monkeypatch.setattr(
        notebook, "measure", lambda *args, **settings: (table, {"apart": apart, "ratio": 1.0})
    )
    monkeypatch.setattr(baselines, "measure", lambda *args: table)
    out = tmp_path / "speed.md"
    assert run.main(["--only", "notebook", "--out", str(out)]) == code
    page = out.read_text(encoding="utf-8")
    assert page.startswith("# Speed\n")
    assert "| two  | 1,234   |" in page
    assert "scikit-learn" in page
    assert ("differ" in capsys.readouterr().err) == bool(code)


def test_a_quick_run_leaves_the_page_alone(monkeypatch):
    table = Table("Times", ["what"], [["one"]])
    monkeypatch.setattr(limits, "measure", lambda n: table)
    monkeypatch.setattr(run, "OUT", Path("/nowhere/speed.md"))
    assert run.main(["--quick", "--only", "limits"]) == 0
