"""A run survives a file, whole or not at all."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetric.report import Run
from anymetric.report.run import plain

from .report_runs import KINDS, made

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(anything)
def test_plain_values_are_json_and_stay_as_they_are(value):
    once = plain(value)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert plain(once) == once


@given(asked=st.dictionaries(st.text(), anything, max_size=3))
def test_a_run_is_the_same_after_a_file(tmp_path_factory, asked):
    path = tmp_path_factory.mktemp("run") / "run.json"
    run = Run({"name": "f1"}, {"n": 2}, [{"name": "a", "value": np.float64(0.5)}], asked=asked)
    run.save(path)
    assert Run.load(path) == run


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_is_the_same_after_a_file(kind, tmp_path):
    run = made(kind)
    run.save(tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json") == run


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_a_number_that_is_not_finite_becomes_none(value):
    assert Run({}, {}, [{"value": value}]).methods == [{"value": None}]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    old = Run({"name": "old"}, {}, [])
    old.save(path)

    def full(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        Run({"name": "new"}, {}, []).save(path)
    assert Run.load(path) == old
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[1]", "holds no run"),
        ('{"format": "other"}', "holds no run"),
        ('{"format": "anymetric run", "version": 99}', "version 99"),
    ],
)
def test_a_file_that_is_no_run_is_refused_with_a_reason(tmp_path, text, said):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        Run.load(path)
