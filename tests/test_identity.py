"""Names of arrays, tables and functions: equal where they are, and nowhere else."""

import datetime
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer

from anymetric import CommandMetric, MetricClassifier
from anymetric.errors import LedgerError
from anymetric.estimators._ledger import fingerprint
from anymetric.metrics import as_metric
from anymetric.metrics.digests import digest
from anymetric.metrics.evaluations import Question
from anymetric.metrics.identity import identity
from anymetric.store import open_store

DIFFERENT = [
    None,
    "None",
    0,
    0.0,
    -0.0,
    False,
    "0",
    b"0",
    np.float64(0.0),
    (),
    {},
    {"a": 1},
    {1: "a"},
    {"1": "a"},
    ["a", 1],
    ["mapping 1", "a", 1],
    [["a"], 1],
    [["a", 1]],
    np.zeros(0),
    np.zeros((0, 1)),
    np.zeros(1),
    np.array(0.0),
    np.zeros((1, 1)),
    np.zeros(1, "f4"),
    np.zeros(1, int),
    np.zeros(1, bool),
    np.array([-0.0]),
    np.array([np.nan]),
    np.array([None]),
    np.array([None, "a"], dtype=object),
    np.array(["None", "a"]),
    np.array(["a", "b"]),
    np.array(["a, 'b"]),
    np.array([b"a", b"b"]),
    np.array([0, 1], "M8[s]"),
    np.array([0, 1], "M8[ms]"),
    np.array([datetime.date(2020, 1, 1)], dtype=object),
    np.array([np.arange(3), None], dtype=object),
    np.array([np.arange(3) + 1, None], dtype=object),
    sparse.csr_array(np.eye(2)),
    sparse.csr_array(np.eye(3)),
    np.eye(2),
    pd.DataFrame({"a": [1, 2]}),
    pd.DataFrame({"b": [1, 2]}),
    pd.DataFrame({"a": [1.0, 2.0]}),
    pd.DataFrame({"a": [1, 2], "b": [1, 2]}),
    pd.DataFrame({"a": ["x", "y"]}),
    pd.DataFrame({"a": pd.Categorical(["x", "y"])}),
    pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["y", "x"])}),
    pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["x", "y", "z"])}),
    pd.DataFrame({"a": pd.Categorical(["x", "y"], ordered=True)}),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    pd.Series([1, 2]),
    pl.DataFrame({"a": [1, 3]}),
    pl.DataFrame({"a": ["x", "y"]}),
    pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical}),
    pa.table({"a": [1, 5]}),
    pa.table({"a": [1, 4]}),
    pa.table({"a": list(range(5000))}),
    pa.table({"a": [*range(2500), 0, *range(2501, 5000)]}),
]


def test_things_that_differ_have_different_names():
    names = [digest(one) for one in DIFFERENT]
    same = [(k, j) for k in range(len(names)) for j in range(k) if names[k] == names[j]]
    assert same == []
    assert digest({"a": 1}) != digest("mapping 1", "a", 1)
    assert digest("a", "b") != digest("ab") != digest(["a", "b"])


def test_things_that_are_equal_have_one_name():
    table = sparse.coo_array(([1.0, 2.0, 3.0], ([1, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert digest(table) == digest(table.tocsr()) == digest(sparse.csc_array(table))
    assert digest(np.arange(3, dtype=">i8")) == digest(np.arange(3, dtype="<i8"))
    assert digest(np.asfortranarray(np.eye(3))) == digest(np.eye(3))
    assert digest(np.arange(6)[::2]) == digest(np.array([0, 2, 4]))
    assert digest(np.array(["a"], "U1")) == digest(np.array(["a"], "U9"))
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    frame = pd.DataFrame({"a": [1, 2]})
    assert digest(frame) == digest(frame.set_axis([7, 8]))


@settings(max_examples=100, deadline=None)
@given(hn.arrays(hn.scalar_dtypes(), hn.array_shapes(max_dims=2, max_side=4)), st.data())
def test_any_change_of_an_array_changes_its_name(array, data):
    assert digest(array) == digest(array.copy())
    other = data.draw(hn.arrays(array.dtype, array.shape))
    texts = array.dtype.kind in "US"
    same = array.tolist() == other.tolist() if texts else array.tobytes() == other.tobytes()
    assert (digest(array) == digest(other)) == same


def test_what_has_no_name_says_so():
    with pytest.raises(TypeError, match="no name for <function"):
        digest(lambda: 0)


def f_beta(beta):
    def score(y_true, y_pred):
        return beta * float(np.mean(y_true == y_pred))

    return score


class Profit:
    def __init__(self, gain):
        self.gain, self.calls = gain, 0

    def __call__(self, y_true, y_pred):
        self.calls += 1
        return self.gain * float(np.mean(y_true == y_pred))


def both(y_true, y_pred, beta=1.0):
    return beta * float(np.mean(y_true == y_pred))


PAIRS = {
    "closure": (f_beta(1.0), f_beta(2.0)),
    "partial": (partial(both, beta=1.0), partial(both, beta=2.0)),
    "object": (Profit(1.0), Profit(2.0)),
    "method": (Profit(1.0).__call__, Profit(2.0).__call__),
    "lambdas on a line": (lambda y_true, y_pred: 1.0, lambda y_true, y_pred: 2.0),
    "scorer": (make_scorer(both, beta=1.0), make_scorer(both, beta=2.0)),
    "command": (
        CommandMetric(["wc", "-l"], greater_is_better=True),
        CommandMetric(["wc", "-c"], greater_is_better=True),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_metrics_of_one_name_are_two(name):
    one, other = PAIRS[name]
    assert identity(one) == identity(one) != identity(other)
    y, scores = np.array([1.0, -1.0]), np.array([1.0, -1.0])
    keys = []
    for metric in (one, other, one):
        bound = as_metric(metric, greater_is_better=True).bind(y, labels=(0, 1))
        keys.append(Question(bound, scores).key)
    assert keys[0] == keys[2] != keys[1]


def test_an_object_that_counts_its_calls_stays_what_it_was():
    profit = Profit(1.0)
    before = identity(profit)
    profit([1], [1])
    assert identity(profit) == before


def test_a_changed_closure_is_refused_with_the_difference(tmp_path):
    X, y = make_classification(120, 4, random_state=0)
    given = {"greater_is_better": True, "model": "linear", "ledger": tmp_path / "run.db"}
    given |= {"random_state": 0, "max_metric_calls": 20}
    MetricClassifier(f_beta(1.0), **given).fit(X, y)
    with pytest.raises(LedgerError, match=r"metric reads beta was 1\.0, and is now 2\.0"):
        MetricClassifier(f_beta(2.0), **given).fit(X, y)
    with pytest.raises(LedgerError, match="greater_is_better was 'True', and is now 'False'"):
        MetricClassifier(f_beta(1.0), **{**given, "greater_is_better": False}).fit(X, y)


def test_secrets_are_not_written_down():
    key = "hunter2-hunter2"

    def score(y_true, y_pred):
        return float(len(key))

    assert "hunter2" not in str(identity(score))
    metric = CommandMetric(["wc"], greater_is_better=True, env={"TOKEN": "hunter2"})
    assert "hunter2" not in str(identity(metric))
    other = CommandMetric(["wc"], greater_is_better=True, env={"TOKEN": "hunter3"})
    assert identity(metric) != identity(other)


def test_long_lists_are_reported_in_short():
    names = [f"name {k}" for k in range(10_000)]
    other = [*names[:-1], "another"]
    told, differs = (identity(lambda a, b, n=n: n) for n in (names, other))
    assert len(str(told)) < 600
    assert told != differs
    lists = (f_beta(list(range(100))), f_beta([*range(99), 0]))
    assert identity(lists[0]) != identity(lists[1])
    assert len(str(identity(lists[0]))) < 600


def test_settings_that_only_say_how_to_run_a_command_may_change(tmp_path):
    script = tmp_path / "score.awk"
    script.write_text("END { print 1 }")
    words = ["awk", "-f", str(script)]
    plain = identity(CommandMetric(words, greater_is_better=True))
    patient = CommandMetric(words, greater_is_better=True, timeout=9.0, retries=3, slots=2)
    assert identity(patient) == plain
    script.write_text("END { print 2 }")  # another script is another metric
    assert identity(CommandMetric(words, greater_is_better=True)) != plain


def test_settings_of_a_fit_are_distinguished(tmp_path):
    X, y = make_classification(50, 4, random_state=0)
    names = []
    for model in (
        LogisticRegression(C=1.0, class_weight={0: 1.0, 1: 2.0}),
        LogisticRegression(C=1.0, class_weight={0: 1.0, 1: 2.0000001}),
        LogisticRegression(C=2.0),
    ):
        told = fingerprint(MetricClassifier("f1", model=model), {"X": X, "y": y})
        names.append(digest(told))
    assert len(set(names)) == 3
    store = open_store()
    assert not store.begin(fingerprint(MetricClassifier("f1"), {"X": X, "y": y}))
    assert store.begin(fingerprint(MetricClassifier("f1", n_jobs=2), {"X": X, "y": y}))


CODE = """
import numpy as np
from anymetric.metrics.digests import digest
from anymetric.metrics.identity import identity
from functools import partial
LIMIT = 0.5
def helper(x):
    return x > LIMIT
def make(beta):
    def score(y_true, y_pred):
        return helper(beta)
    return score
class Odd:
    def __init__(self): self.names = {"b", "a", "c"}
    def __call__(self, a, b): return 1.0
things = [make(2.0), partial(make(2.0), y_pred=1), Odd(), lambda a, b: a, np.float32]
print(digest(identity(things)), digest(np.array([("a", 1), 2.5, None], object)))
"""


def test_another_process_finds_the_same_names(tmp_path):
    path = tmp_path / "names.py"
    path.write_text(textwrap.dedent(CODE))
    said = {
        subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(said) == 1
    path.write_text(CODE.replace("LIMIT = 0.5", "LIMIT = 0.6"))  # a helper's limit is the metric's
    again = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True
    ).stdout
    assert {again} != said
