"""scikit-learn's own checks of an estimator: all of them, none skipped."""

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
from anymetric.estimators import {name}

warnings.simplefilter("ignore")
found = check_estimator({name}(), on_fail=None, on_skip=None)
wrong = [(r["check_name"], r["status"], repr(r["exception"])) for r in found if r["status"] != "passed"]
print(json.dumps([len(found), wrong]))
"""


# The check of array API input is skipped unless SciPy is told so before it is imported.
@pytest.mark.parametrize("name", ["MetricClassifier", "MetricRanker", "MetricRegressor"])
def test_every_check_of_scikit_learn_passes_and_none_is_skipped(name):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(name=name)],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    count, wrong = json.loads(done.stdout.splitlines()[-1])
    assert wrong == []
    assert count >= 50
