"""The wheel, as a stranger gets it: small, well formed, and working in an empty environment."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 4_000_000

FIT = """
from anymetric import MetricClassifier
from anymetric.datasets import load_compas, split

data = load_compas()
rows = split(data, random_state=0)
model = MetricClassifier("group_mean_f1", max_metric_calls=20, random_state=0)
model.fit(data.X[rows.train], data.y[rows.train], groups=data.groups[rows.train])
print(model.score(data.X[rows.test], data.y[rows.test], groups=data.groups[rows.test]))
"""
LACKING = """
import importlib.util
extras = ("pandas", "matplotlib", "typer", "torch")
print([name for name in extras if importlib.util.find_spec(name)])
"""


def run(*command, **options):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env=clean, **options
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    made = run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def stranger(wheel, tmp_path_factory):
    home = tmp_path_factory.mktemp("empty")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    installed = run(
        python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, cwd=home
    )
    assert installed.returncode == 0, installed.stderr
    return python


def test_wheel_and_sdist_are_well_formed(built):
    checked = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(built.iterdir()))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert len(list(built.iterdir())) == 2


def test_wheel_is_small_and_holds_the_data_but_no_tests(wheel):
    assert wheel.stat().st_size < LIMIT
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("py.typed") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_wheel_alone_fits_a_model(stranger):
    found = run(stranger, "-c", FIT, cwd=stranger.parent)
    assert found.returncode == 0, found.stderr
    assert 0.5 < float(found.stdout) < 1.0


def test_wheel_alone_brings_no_extra_and_says_how_to_get_one(stranger):
    assert run(stranger, "-c", LACKING, cwd=stranger.parent).stdout.strip() == "[]"
    asked = run(stranger.with_name("anymetric"), "--help", cwd=stranger.parent)
    assert asked.returncode == 2
    assert "pip install 'anymetric[cli]'" in asked.stderr
    assert "Traceback" not in asked.stderr
