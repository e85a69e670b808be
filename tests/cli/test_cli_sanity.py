"""What looks wrong in the rows is said before anyone is proud of a result."""

import numpy as np
import pandas as pd
import pytest

from anymetric.cli import sanity
from anymetric.cli.roles import Roles, Sample
from anymetric.cli.schema import Schema
from anymetric.cli.targets import Target

from .conftest import ASK, people


def sampled(table, target="y", groups=(), name="rows.csv"):
    roles = Roles(target, groups)
    schema = Schema.of(table, roles)
    sample = Sample.of(schema.read(table), roles, name, schema.features)
    return Sample(sample.X, sample.y, sample.groups, name=name, schema=schema)


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = (x + rng.normal(size=n) > 0.0).astype(int)
    return pd.DataFrame({"x": x, "z": rng.choice(list("abc"), n), "y": y})


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.arange(400) + 17, True),
        ([f"A-{k:04d}" for k in range(400)], True),
        (np.random.default_rng(0).normal(size=400), False),
        ([f"note {k} of many" for k in range(400)], False),
        (np.arange(400) // 2, False),
    ],
)
def test_ids_and_row_numbers_are_warned_of(values, found):
    told = list(sanity.ids(sampled(rows().assign(who=values))))
    assert told == ([] if not found else told[:1])
    assert bool(told) == found


def leak_of(table, target="y"):
    sample = sampled(table, target)
    codes = sample.y.to_numpy()
    return list(sanity.leaks(sample, codes, len(np.unique(codes)) < 10))


def test_a_column_that_decides_the_target_is_spoken_of():
    table, rng = rows(), np.random.default_rng(1)
    honest = leak_of(table)
    copies = {
        "a code": table["y"].map({0: "no refund", 1: "refunded"}),
        "a number": np.where(table["y"] == 1, rng.integers(1, 9, 400), 0),
        "a gap": pd.Series(np.where(table["y"] == 1, rng.normal(size=400), np.nan)),
        "a date": pd.Timestamp("2020-01-01") + pd.to_timedelta(table["y"] * 500, "D"),
    }
    assert honest == []
    for name, leak in copies.items():
        (said,) = leak_of(table.assign(leak=leak))
        assert "'leak' alone nearly decides the target" in said, name


def test_a_column_that_decides_a_number_is_spoken_of():
    table = rows().assign(
        price=lambda t: np.exp(t["x"] + np.random.default_rng(2).normal(size=400))
    )
    assert leak_of(table, "price") == []
    (said,) = leak_of(table.assign(cents=lambda t: 100.0 * t["price"] + 3.0), "price")
    assert "'cents'" in said


def test_groups_of_a_handful_and_rows_that_are_shared_are_warned_of():
    train, test = rows(), pd.concat([rows(100, seed=5), rows()[:40]])
    assert list(sanity.shared(sampled(train), sampled(rows(100, seed=5)))) == []
    (said,) = sanity.shared(sampled(train), sampled(test, name="test.csv"))
    assert said.startswith("40 of 140 rows of test.csv are also in rows.csv")
    few = rows().assign(z=["d"] * 3 + [None] * 5 + ["e"] * 392)
    (said,) = sanity.small_groups(sampled(few, groups=("z",)))
    assert "d (3), missing (5)" in said


def test_a_table_whose_rows_repeat_by_themselves_is_no_alarm():
    rng = np.random.default_rng(0)
    few = [pd.DataFrame(rng.integers(0, 2, (300, 3)), columns=list("aby")) for _ in range(2)]
    assert list(sanity.shared(*map(sampled, few))) == []


def test_a_model_that_flags_nobody_or_everybody_is_spoken_of():
    target = Target(("no", "yes"))
    assert "none of 3 rows 'yes'" in sanity.one_sided(-np.ones(3), target)
    assert "all of 3 rows 'yes'" in sanity.one_sided(np.ones(3), target)
    assert sanity.one_sided(np.array([1.0, -1.0]), target) == ""
    assert sanity.one_sided(-np.ones(3), Target()) == ""


def test_warnings_come_before_training_and_missing_groups_are_a_group(told, tmp_path):
    table = people()
    table["sex"] = table["sex"].where(np.arange(400) % 40 > 0)
    table["paid"] = (table["income"] == "high").map({True: "3", False: "0"})
    table.to_csv(tmp_path / "rows.csv", index=False)
    ask = [*ASK[:-2], "--drop", "note", "--run", tmp_path / "run"]
    code, out, err = told("fit", tmp_path / "rows.csv", *ask)
    assert code == 0, err
    notes = err.split("anymetric: ")[0]
    for said in ("'id' has another value in every row", "'paid' alone nearly", "missing (10)"):
        assert f"{said}" in notes, said
    assert "group_mean_f1" in out


@pytest.mark.parametrize(("label", "what"), [(1, "recall and F1"), (0, "false positive rates")])
def test_groups_of_one_class_are_named_with_what_is_then_the_same_for_all(label, what):
    table = rows().assign(z=["a", "b"] * 200)
    table.loc[table.z == "b", "y"] = 1 - label
    (said,) = sanity.one_class_groups(sampled(table, groups=("z",)), Target((0, 1)))
    assert said.startswith("in rows.csv no row of the group b (200 rows) is " + str(label))
    assert f"{what} there are 0 for every model" in said
    assert not list(sanity.one_class_groups(sampled(rows(), groups=("z",)), Target((0, 1))))
