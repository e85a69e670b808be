"""scikit-learn's own checks of an estimator: all of them, none skipped."""

import json
import os
import subprocess
import sys

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor

NAMES = ("MetricRanker", "MetricClassifier", "MetricRegressor")
CODE = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
from anymetric.estimators import {name}

warnings.simplefilter("ignore")
found = check_estimator({name}(), on_fail=None, on_skip=None)
wrong = [r for r in found if r["status"] != "passed"]
told = [(r["check_name"], r["status"], repr(r["exception"])) for r in wrong]
print(json.dumps([len(found), told]))
"""


@pytest.fixture(scope="module")
def checks():
    """All three at once: a machine with several cores is done with them sooner."""
    # The check of array API input is skipped unless SciPy is told so before it is imported.
    env = {**os.environ, "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"}
    running = {
        name: subprocess.Popen(
            [sys.executable, "-c", CODE.format(name=name)], env=env, stdout=subprocess.PIPE
        )
        for name in NAMES
    }
    yield running
    for process in running.values():
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", NAMES)
def test_every_check_of_scikit_learn_passes_and_none_is_skipped(name, checks):
    out, _ = checks[name].communicate(timeout=300)
    count, wrong = json.loads(out.splitlines()[-1])
    assert wrong == []
    assert count >= 45


@pytest.mark.parametrize(
    "check",
    [
        check_sample_weight_equivalence_on_dense_data,
        check_sample_weight_equivalence_on_sparse_data,
    ],
)
@pytest.mark.parametrize("estimator", [MetricRanker, MetricClassifier, MetricRegressor])
def test_a_row_of_weight_two_is_two_rows_for_descent_too(estimator, check):
    fitted = estimator(method="descent")
    assert check(estimator.__name__, clone(fitted)) is None
