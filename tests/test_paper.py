"""The paper's experiments: their cells, their resumption, and what tables and page say."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from anymetric.data import Data
from anymetric.datasets import Dataset, load_compas
from anymetric.errors import DataError, MissingExtra
from anymetric.ledger import Ledger
from anymetric.metrics import as_metric
from anymetric.paper import cells, markup, page, plots, run, tables
from anymetric.paper.claims import claims_of
from anymetric.paper.experiments import EXPERIMENTS, STANDS_FOR, Entry
from anymetric.paper.known import Psi, error_at_k, estimator, geometric_mean, known_problem
from anymetric.paper.methods import METHODS
from anymetric.paper.published import PUBLISHED
from anymetric.paper.samples import Parts, group_0, scaled_numbers, whole
from anymetric.paper.scales import SCALES, Scale, Screened
from anymetric.paper.store import Cell, Row, Store
from anymetric.paper.tables import Line, lines_of
from anymetric.paper.tasks import FAIR, LEVELS, TASKS, made, noisy
from anymetric.problem import Problem
from anymetric.surrogates import per_class
from anymetric.tuning import Tuned

TINY = Scale(
    "tiny", outer_iterations=2, probes=12, iterations=3, steps=1, sigmas=2, says="Tiny & <small>."
)
FULL = SCALES["full"]


def toy(seed, groups, n=240, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.4).astype(np.int64)
    side = {"proxy": (X[:, 1] > 0).astype(np.int64), "clean_y": y}
    return Dataset("toy", X, y, rng.choice(groups, size=n), [f"x{k}" for k in range(d)], side)


@pytest.fixture
def small(monkeypatch):
    """Give every task few rows of its own kind, add the tiny scale, and draw nothing."""
    made.cache_clear()
    monkeypatch.setattr(page, "draw", lambda *given: None)
    for name, task in TASKS.items():
        groups = ["Female", "Male"] if task.spec == "group_mean_f1" else ["all"]
        groups = ["Female", "Male"] if name == "adult_notebook" else groups
        d = 2 if name == "simulated" else 3

        def make(seed, groups=groups, d=d):
            return Parts(*(toy(10 * seed + part, groups, d=d) for part in range(3)))

        monkeypatch.setitem(TASKS, name, replace(task, make=make, file=""))
    monkeypatch.setitem(SCALES, "tiny", TINY)
    yield
    made.cache_clear()


def paper(out, *more):
    return run.main(["--out", str(out), "--scale", "tiny", *more])


def fabricated(folder, scale=FULL, seeds=(0, 1), value=0.5):
    """Store a row for every cell of every experiment, without any work."""
    spread = {seed: value + 0.001 * seed for seed in seeds}
    for cell in run.asked_for(EXPERIMENTS, scale, seeds):
        detail = json.dumps({"line": [1.0, 1.0, 0.5]}) if cell.task == "simulated" else ""
        number = spread[cell.seed]
        row = Row(
            *cell, number, number, number, number, 1.5, 7.0, detail, "numpy <2> & more", "now"
        )
        cells.store_of(folder, cell.experiment).append(row)


KINDS = sorted({(e.name, entry.method) for e in EXPERIMENTS.values() for entry in e.entries})


@pytest.mark.parametrize(("experiment", "method"), KINDS)
def test_every_method_of_every_experiment_runs(experiment, method, small):
    entries = [e for e in EXPERIMENTS[experiment].entries if e.method == method]
    cell = entries[0].cell(0, TINY)
    row = cells.measure(cell, TINY)
    assert row.error == ""
    assert row.cell == cell
    assert np.isfinite([row.value, row.cost, row.seconds]).all()
    assert row.seconds > 0.0
    assert "code " in row.versions
    assert np.isfinite(row.calls) or method == "optimum"


def test_the_stored_value_is_the_metric_on_the_test_rows(small):
    row = cells.measure(Cell("table3", "compas_noise0", "post_shift", 3, "any"), TINY)
    test = TASKS["compas_noise0"].parts(3).test
    valid = TASKS["compas_noise0"].parts(3).valid
    train = TASKS["compas_noise0"].parts(3).train
    fitted = cells.METHODS["post_shift"].fit(
        cells.Job(TASKS["compas_noise0"], made("compas_noise0", 3), TINY, 3)
    )
    score = fitted.estimator.score
    assert row.value == pytest.approx(score(test.X, test.y, groups=test.groups))
    assert row.validation_value == pytest.approx(score(valid.X, valid.y, groups=valid.groups))
    assert row.train_value == pytest.approx(score(train.X, train.y, groups=train.groups))


def test_a_run_is_resumed_and_computes_nothing_twice(small, tmp_path, monkeypatch, capsys):
    assert paper(tmp_path, "--only", "table2", "--seeds", "0,1") == 0
    rows = Store(tmp_path / "table2.csv", Row).rows()
    assert len(rows) == 10
    assert all(row.good for row in rows.values())
    told = capsys.readouterr().err
    assert "[10/10]" in told
    assert "left" in told
    whole = (tmp_path / "table2.csv").read_bytes()
    (tmp_path / "table2.csv").write_bytes(whole[:-30])  # a killed run: the last line lost its end
    computed, measure = [], cells.measure
    monkeypatch.setattr(cells, "measure", lambda *a: computed.append(a[0]) or measure(*a))
    assert paper(tmp_path, "--only", "table2", "--seeds", "0,1") == 0
    assert len(computed) == 1
    assert paper(tmp_path, "--only", "table2", "--seeds", "0,1") == 0
    assert paper(tmp_path, "--page") == 0
    assert len(computed) == 1


def test_a_killed_cell_loses_one_point_of_its_grid(small, tmp_path, monkeypatch):
    cell = Cell("table2", "simulated", "proposed", 0, "tiny")
    whole = cells.measure(cell, TINY)
    taken, run_point = [], Tuned.run

    def dies(tuned, *given):
        if len(taken) == 1:
            raise KeyboardInterrupt
        taken.append(tuned.sigmas)
        return run_point(tuned, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Tuned, "run", dies)
        with pytest.raises(KeyboardInterrupt):
            cells.work(cell, tmp_path, TINY)
    assert not Store(tmp_path / "table2.csv", Row).done()
    again = []
    monkeypatch.setattr(Tuned, "run", lambda t, *given: again.append(t) or run_point(t, *given))
    row = cells.work(cell, tmp_path, TINY)
    assert len(again) == 1
    assert (row.value, json.loads(row.detail)["line"]) == (
        whole.value,
        json.loads(whole.detail)["line"],
    )
    assert not (tmp_path / "points").exists()


def test_only_the_methods_asked_for_run(small, tmp_path):
    asked = ["--only", "table2", "--methods", "post*", "optimum", "--seeds", "0"]
    assert paper(tmp_path, *asked) == 0
    done = Store(tmp_path / "table2.csv", Row).done()
    assert {cell.method for cell in done} == {"post_shift", "optimum"}


def test_an_unknown_method_is_refused_with_a_near_one(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main(["--quick", "--out", str(tmp_path), "--methods", "post_shif"])
    assert "Did you mean post_shift" in capsys.readouterr().err


def test_renewing_computes_what_other_code_made_and_only_that(small, tmp_path):
    store = cells.store_of(tmp_path, "table2")
    old = Row("table2", "simulated", "logistic", 0, "any", 0.9, 0.9, seconds=1.0, versions="old")
    store.append(old)
    asked = ["--only", "table2", "--methods", "logistic", "--seeds", "0"]
    assert paper(tmp_path, *asked) == 0
    assert store.rows()[old.cell].versions == "old"
    assert paper(tmp_path, *asked, "--renew") == 0
    renewed = store.rows()[old.cell]
    assert renewed.current
    assert renewed.value != old.value
    assert paper(tmp_path, *asked, "--renew") == 0
    assert store.rows()[old.cell] == renewed


def test_experiments_share_cells():
    def of(*names):
        return run.asked_for(names, FULL, [0])

    table6 = set(of("table6"))
    assert len({cell for cell in table6 if cell.experiment == "table6"}) == 5
    assert {cell for cell in table6 if cell.experiment == "table3"} <= set(of("table3"))
    clean = {cell for cell in of("noise") if cell.task.endswith("noise0")}
    assert len(clean & set(of("table3"))) == 4 * 7
    every = of(*EXPERIMENTS)
    assert len(every) == len(set(every))


def test_scales_do_not_mix(small, tmp_path):
    fabricated(tmp_path, FULL)
    rows = page.all_rows(tmp_path)
    quick = lines_of(EXPERIMENTS["table3"], rows, SCALES["quick"])
    assert "proposed" not in {line.entry.method for line in quick}
    assert "post_shift" in {line.entry.method for line in quick}


def test_a_failing_cell_is_reported_stored_and_tried_again(small, tmp_path, monkeypatch, capsys):
    asked = ["--only", "notebook", "--seeds", "0"]
    broken = replace(METHODS["logistic"], make=lambda job: 1 / 0)
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "logistic", broken)
        assert paper(tmp_path, *asked) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert len(Store(tmp_path / "notebook.csv", Row).done()) == 4
    assert paper(tmp_path, *asked) == 0
    assert len(Store(tmp_path / "notebook.csv", Row).done()) == 5


def test_missing_data_are_reported_and_the_others_still_run(small, tmp_path, monkeypatch, capsys):
    def read(source):
        raise DataError(f"{source.path} is nowhere. Set ANYMETRIC_DATA.")

    business = replace(TASKS["business_proxy"], file="business_sites/early_childhood_sites.csv")
    monkeypatch.setitem(TASKS, "business_proxy", business)
    monkeypatch.setattr(run, "read", read)
    assert paper(tmp_path, "--only", "table5", "--seeds", "0") == 1
    told = capsys.readouterr().err
    assert "Left out of table5" in told
    assert "Set ANYMETRIC_DATA" in told
    assert {cell.task for cell in Store(tmp_path / "table5.csv", Row).done()} == {"adult_proxy"}
    table = (tmp_path / "table5.md").read_text(encoding="utf-8")
    assert "| Adult " in table
    assert "| Business " not in table


def test_an_unknown_experiment_is_refused_with_a_near_one(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main(["--quick", "--out", str(tmp_path), "--only", "tabel2"])
    assert "Did you mean table2" in capsys.readouterr().err


def test_no_results_are_reported(tmp_path, capsys):
    assert run.main(["--page", "--out", str(tmp_path / "none")]) == 1
    assert "no results" in capsys.readouterr().err


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fabricated(folder)
    assert run.finish(folder, FULL) == 0
    return folder


class Loads(HTMLParser):
    """Collects what a browser would fetch, and the text between the tags."""

    def __init__(self):
        super().__init__()
        self.fetched, self.seen, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "href", "data")]

    def handle_data(self, data):
        self.seen.append(data)


def test_the_page_has_every_table_and_loads_nothing(finished):
    text = (finished / "index.html").read_text(encoding="utf-8")
    loads = Loads()
    loads.feed(text)
    assert all(place.startswith(("#", "data:image/")) for place in loads.fetched)
    assert len([place for place in loads.fetched if place.startswith("data:")]) == 4
    assert "script" not in loads.tags
    assert not re.search(r"url\(|@import|http", text)
    seen = "".join(loads.seen)
    for experiment in EXPERIMENTS.values():
        assert experiment.words.title in seen
    claims = len(claims_of(page.all_rows(finished), FULL))
    assert loads.tags.count("table") == len(EXPERIMENTS) + claims
    assert "viewport" in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_escapes_text(finished):
    text = (finished / "index.html").read_text(encoding="utf-8")
    assert "numpy &lt;2&gt; &amp; more" in text
    assert "<2>" not in text
    entry = Entry("<b>bold</b>", "a & b", "table3", "adult_noise0", "logistic")
    table = markup.table_html([Line(entry, (0.5,))])
    assert "&lt;b&gt;bold&lt;/b&gt;" in table
    assert "a &amp; b" in table


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_markdown_has_the_papers_figure_and_ours(name, finished):
    text = (finished / f"{name}.md").read_text(encoding="utf-8")
    lines = [line.split("|") for line in text.splitlines() if line.startswith("| ")][2:]
    entries = EXPERIMENTS[name].entries
    assert len(lines) == len(entries)
    for fields, entry in zip(lines, entries, strict=True):
        _, row, column, paper_says, ours, error, difference, *_ = (text.strip() for text in fields)
        assert (row, column) == (entry.row, entry.column)
        assert float(ours) == pytest.approx(0.5005)
        assert float(error) == pytest.approx(0.0005)
        if entry.paper is None:
            assert (paper_says, difference) == ("–", "–")
        else:
            assert float(paper_says) == entry.paper
            assert float(difference.rstrip(" *")) == pytest.approx(0.5005 - entry.paper, abs=1e-4)
            assert difference.endswith("*") == (abs(0.5005 - entry.paper) > 0.001)


def test_figures_far_from_the_papers_are_marked_with_a_reason(finished):
    for name in PUBLISHED:
        words = EXPERIMENTS[name].words
        assert words.reason
        assert words.reason in (finished / f"{name}.md").read_text(encoding="utf-8")
    text = (finished / "index.html").read_text(encoding="utf-8")
    marked = [e for x in EXPERIMENTS.values() for e in x.entries if e.paper is not None]
    assert len(re.findall('<tr class="(?:new )?far">', text)) == len(marked)
    assert "0.3151 (analytic)" in text


def test_the_page_says_what_is_missing(small, tmp_path):
    store = cells.store_of(tmp_path, "table3")
    store.append(Row("table3", "adult_noise0", "logistic", 0, "any", 0.6, 0.4))
    text = page.write(tmp_path, FULL).read_text(encoding="utf-8")
    assert "<p>27 figures have no results yet.</p>" in text
    assert f"No results yet: {EXPERIMENTS['table1'].words.title}" in text
    assert EXPERIMENTS["table2"].words.title in text


def test_one_seed_has_no_error_and_no_result():
    line = Line(Entry("a", "b", "table3", "adult_noise0", "logistic", 0.1), (0.9,))
    assert not line.far
    assert line.texts()[4] == "–"


def test_figures_are_written_in_both_formats(finished):
    for name in ("hyperplanes", "noise", "k", "estimators"):
        assert (finished / f"{name}.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")
        assert (finished / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_tables_and_page_are_still_written(tmp_path, monkeypatch, capsys):
    def pyplot():
        raise MissingExtra("The figures need matplotlib: pip install 'anymetric[plot]'.")

    fabricated(tmp_path, seeds=(0,))
    monkeypatch.setattr(plots, "pyplot", pyplot)
    assert run.finish(tmp_path, FULL) == 0
    assert "anymetric[plot]" in capsys.readouterr().err
    assert (tmp_path / "table3.md").exists()
    assert "<img" not in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_every_published_figure_has_its_entry():
    for name, rows in PUBLISHED.items():
        figures = sorted(figure for row in rows.values() for figure in row.values())
        shown = [
            entry.paper for entry in EXPERIMENTS[name].entries if entry.method not in STANDS_FOR
        ]
        assert sorted(figure for figure in shown if figure is not None) == figures


def test_full_settings_are_the_papers():
    method = FULL.method((0.05, 0.1), (0.1,))
    descent = method.descent
    assert (descent.iterations, descent.gradient.m, descent.projection.iterations) == (
        250,
        1000,
        100,
    )
    assert descent.projection.step == 1.0
    assert (method.steps, method.sigmas) == ((0.05, 0.1), (0.1,))
    assert {experiment.seeds for experiment in EXPERIMENTS.values()} == {1, 5, 10}


def test_a_screened_grid_takes_its_winner_to_full_length():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    problem = Problem(Data(X, np.sign(X[:, 0])), per_class("hinge"), as_metric("error"))
    scale = replace(SCALES["screened"], outer_iterations=6, probes=8, iterations=3, screen=2)
    method = scale.method((0.1, 1.0), (0.1, 0.5))
    assert isinstance(method, Screened)
    ledger = Ledger(problem)
    solution = method.run(ledger, [np.zeros(3)], rng)
    assert solution.calls == ledger.calls
    assert solution.summary.chosen["step"] in (0.1, 1.0)
    assert len(solution.summary.tried) == 4
    assert solution.cost <= min(point["cost"] for point in solution.summary.tried)


@pytest.mark.parametrize("kind", ["smooth", "max"])
def test_known_slopes_are_those_of_psi(kind):
    u = np.array([0.3, 0.9, 0.5])
    numeric = approx_fprime(u, lambda v: float(Psi(kind).of(v)), 1e-7)
    assert Psi(kind).slopes(u) == pytest.approx(numeric, abs=1e-5)


def test_psi_as_a_metric_is_psi_of_the_profile():
    problem = known_problem("smooth", np.random.default_rng(0))
    theta = np.random.default_rng(1).normal(size=problem.size)
    assert float(problem.cost(theta)) == pytest.approx(geometric_mean(problem.profile(theta)))


def test_the_estimation_error_grows_with_sigma():
    small_, large = (error_at_k(5, s, np.random.default_rng(0), points=1) for s in (0.001, 0.01))
    assert 0.0 < small_ < large < 1e-2


@pytest.mark.parametrize("name", ["finite_differences", "interpolation", "two_step", "subspace"])
def test_an_estimator_makes_the_calls_it_is_given(name):
    problem = known_problem("smooth", np.random.default_rng(0))
    ledger = Ledger(problem)
    here = ledger.evaluate(np.zeros(problem.size))
    before = ledger.calls
    estimator(name, 16).estimate(ledger, here, np.random.default_rng(0))
    assert ledger.calls - before == 16


def test_noise_is_in_group_0_of_the_training_rows_only():
    clean, noisy_ = noisy("compas", 0.0).make(0), noisy("compas", 0.4).make(0)
    changed = np.any(clean.train.X != noisy_.train.X, axis=1)
    assert set(clean.train.groups[changed]) == {group_0(clean.train)} == {"Male"}
    assert changed[clean.train.groups == "Male"].mean() == pytest.approx(0.4, abs=0.01)
    assert np.array_equal(clean.test.X, noisy_.test.X)
    assert np.array_equal(clean.valid.X, noisy_.valid.X)


def test_group_0_of_businesses_is_chains():
    assert group_0(toy(0, ["non_chain", "chain"])) == "chain"


def test_the_figure_multiplies_data_sets_levels_and_methods():
    entries = EXPERIMENTS["noise"].entries
    methods = {entry.method for entry in entries}
    assert len(entries) == len(FAIR) * len(LEVELS) * len(methods)
    assert {"logistic", "post_shift", "relaxed_fm", "gen_rates", "proposed"} <= methods
    quick = EXPERIMENTS["noise"].at(SCALES["quick"])
    assert {entry.task.rpartition("noise")[2] for entry in quick} == {"0", "40", "100"}


def test_tables_of_different_code_say_so():
    rows = [Row("k", "K=2", "sigma=0.01", s, "any", versions=f"code {s}") for s in range(2)]
    assert tables.made_with(rows) == ["1 rows made with code 0.", "1 rows made with code 1."]


def test_a_page_shows_the_scale_of_its_rows_and_a_quick_run_has_a_folder_of_its_own(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    store = cells.store_of(tmp_path / "results", "table2")
    store.append(Row("table2", "simulated", "proposed", 0, "screened", 0.6, 0.4))
    store.append(Row("table2", "simulated", "post_shift", 0, "any", 0.6, 0.4))
    assert run.scale_of(run.parser().parse_args(["--page"])).name == "screened"
    assert run.main(["--quick", "--only", "table2", "--methods", "post_shift"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["results", "results-quick"]


def test_table_1_counts_rows_and_features():
    found = {
        method: cells.measure(Entry("", "", "table1", "compas_noise0", method).cell(0, TINY), TINY)
        for method in ("rows", "features")
    }
    assert {method: row.value for method, row in found.items()} == {"rows": 6172, "features": 31}


def test_numbers_are_standardised_and_indicators_left_alone():
    raw = whole(load_compas)
    before, after = raw(0), scaled_numbers(raw)(0)
    indicator = np.isin(before.train.X, (0.0, 1.0)).all(axis=0)
    np.testing.assert_array_equal(after.test.X[:, indicator], before.test.X[:, indicator])
    np.testing.assert_allclose(after.train.X[:, ~indicator].std(axis=0), 1.0)
    shift = before.train.X[:, ~indicator].mean(axis=0)
    np.testing.assert_allclose(
        after.valid.X[:, ~indicator] * before.train.X[:, ~indicator].std(axis=0) + shift,
        before.valid.X[:, ~indicator],
        atol=1e-12,
    )
