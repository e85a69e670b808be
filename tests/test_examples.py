"""Examples: each runs by itself, draws its picture, and is not below its baseline."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib import image

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_is_one_example_for_each_kind_of_user():
    assert [path.name[0] for path in EXAMPLES] == ["1", "2", "3", "4", "5", "6", "7", "8"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_draws_and_is_not_below_its_baseline(path, tmp_path):
    picture = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, str(path), str(picture)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "ANYMETRIC_DATA": ""},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    drawn = image.imread(picture)
    assert min(drawn.shape[:2]) > 300
    assert drawn.std() > 0.05, "an empty picture"
    last = done.stdout.splitlines()[-1]
    said = re.fullmatch(r"anymetric against [a-z ]+: ([-+]\d+\.\d+)", last)
    assert said, last
    assert float(said[1]) >= 0.0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
