"""Without any extra: the core imports and fits, and what needs one says in one line how to get it.

The packages are hidden from a process of its own, as if they had never been installed.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Packages with a name of their own on import, and those that nothing of ours asks for.
IMPORTED_AS = {"scikit-learn": "sklearn"}
FURTHER = {"polars", "fastparquet", "IPython"}
# Extras for working on the project: no feature of the package needs them.
FOR_US = {"all", "docs", "test"}
# Packages of the command line, each taken away alone.
COMMANDS = ("rich", "pandas", "skrub", "skops", "pyarrow")

HIDE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            return None
        return self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

HIDDEN = set(sys.argv.pop(1).split(","))
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""

CORE = """
import importlib, io, json, contextlib, warnings
import numpy as np
import anymetric

late = HIDDEN | {"lightgbm"}  # imported only when trees are trained
found = {"imported": sorted(late & {name.partition(".")[0] for name in sys.modules})}
found["names"] = [name for name in anymetric.__all__ if getattr(anymetric, name) is None]
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
noisy = X[:, 0] + 0.5 * rng.normal(size=200)
y = (noisy > 0.5).astype(int)
query = np.repeat(np.arange(20), 10)
clf = anymetric.MetricClassifier("f1", random_state=0).fit(X, y)
reg = anymetric.MetricRegressor("median_absolute_error", random_state=0).fit(X, noisy)
ranker = anymetric.MetricRanker("average_precision", random_state=0).fit(X, y)
by_query = anymetric.MetricRanker(
    "ndcg@5", surrogates=[anymetric.surrogates.Pairwise()], random_state=0
).fit(X, y, query=query)
found["scores"] = {
    "classifier": clf.score(X, y),
    "regressor": 1.0 - reg.score(X, noisy),
    "ranker": ranker.score(X, y),
    "by query": by_query.score(X, y, query=query),
}

def command():
    from anymetric.__main__ import main
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        assert main(["--version"]) == 2
    raise anymetric.errors.MissingExtra(told.getvalue().rstrip("\\n"))

def download():
    from pathlib import Path
    from anymetric.datasets import store
    store._download("http://127.0.0.1:1/rows.gz", Path("rows.gz"))

def pairs():
    from anymetric.datasets.similarities import similarities
    from anymetric.datasets.sites import Site
    similarities([Site("1", "7", "a", ("cole",), ("412",))] * 2, np.array([[0, 1]]))

def figures():
    importlib.import_module("anymetric.paper.plots").pyplot()

def torch():
    model = anymetric.TorchModel(lambda d: None)
    anymetric.MetricClassifier("f1", model=model, random_state=0).fit(X, y)

def study():
    importlib.import_module("anymetric.cli.studies").optuna.create_study()

def onnx():
    line = anymetric.MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    line.to_onnx()

def estimators():
    importlib.import_module("anymetric.exports.onnx.estimators").inlined(None, "X", None, {})

FEATURES = {
    "onnx": onnx,
    "skl2onnx": estimators,
    "optuna": study,
    "cma": lambda: anymetric.baselines.CMAES("f1", random_state=0).fit(X, y),
    "torch": torch,
    "matplotlib": lambda: anymetric.DescentDisplay.from_estimator(clf),
    "matplotlib figures": figures,
    "typer": command,
    "pooch": download,
    "rapidfuzz": pairs,
    "openpyxl": lambda: importlib.import_module("anymetric.cli.reading")._read_excel("rows.xlsx"),
    "psycopg": lambda: anymetric.store.open_store("postgresql://localhost/runs"),
    "distributed": lambda: importlib.import_module("anymetric.engines.distributed").client_of(),
    "dask": lambda: anymetric.engines.DaskCollection(X, y, None).parts,
    "pyarrow": lambda: importlib.import_module("anymetric.engines.parquet").arrow(),
    "sqlalchemy": lambda: importlib.import_module("anymetric.store.postgres").sqlalchemy.text,
}
found["told"] = {}
for name, feature in FEATURES.items():
    try:
        feature()
    except anymetric.errors.MissingExtra as error:
        found["told"][name] = str(error)
print(json.dumps(found))
"""

COMMAND = """
from anymetric.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def optional():
    """Return the packages that the extras bring, by extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    return {
        extra: {named(line) for line in lines} for extra, lines in extras if extra not in FOR_US
    }


def named(requirement):
    name = requirement.partition(">")[0].partition("[")[0]
    return IMPORTED_AS.get(name, name)


def without(packages, script, *arguments, folder=None):
    """Run a script in a process in which these packages are not there."""
    line = [sys.executable, "-c", HIDE + script, ",".join(sorted(packages)), *arguments]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    setting = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        line, capture_output=True, text=True, cwd=folder, env=setting, timeout=300
    )


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """What a process without any extra found."""
    hidden = set().union(*optional().values(), FURTHER)
    done = without(hidden, CORE, folder=tmp_path_factory.mktemp("bare"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_core_imports_no_optional_package(bare):
    assert bare["imported"] == []


def test_every_public_name_is_there_without_extras(bare):
    assert bare["names"] == []


@pytest.mark.parametrize("kind", ["classifier", "regressor", "ranker", "by query"])
def test_estimators_learn_without_extras(bare, kind):
    assert bare["scores"][kind] > 0.6


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("onnx", "The ONNX export needs onnx: pip install 'anymetric[onnx]'."),
        ("skl2onnx", "The ONNX export needs skl2onnx: pip install 'anymetric[onnx]'."),
        ("optuna", "Exporting a study needs optuna: pip install 'anymetric[optuna]'."),
        ("cma", "CMAES needs cma: pip install 'anymetric[baselines]'."),
        ("torch", "TorchModel needs torch: pip install 'anymetric[torch]'."),
        ("matplotlib", "DescentDisplay.plot needs matplotlib: pip install 'anymetric[plot]'."),
        (
            "matplotlib figures",
            "Drawing the figures needs matplotlib: pip install 'anymetric[plot]'.",
        ),
        ("typer", "The command line needs typer: pip install 'anymetric[cli]'."),
        (
            "pooch",
            "Downloading http://127.0.0.1:1/rows.gz needs pooch: pip install 'anymetric[paper]'.",
        ),
        ("openpyxl", "Reading Excel files needs openpyxl: pip install 'anymetric[excel]'."),
        ("psycopg", "A ledger on PostgreSQL needs psycopg: pip install 'anymetric[postgres]'."),
        (
            "sqlalchemy",
            "A ledger on PostgreSQL needs sqlalchemy: pip install 'anymetric[postgres]'.",
        ),
        ("distributed", "Fitting on Dask needs distributed: pip install 'anymetric[dask]'."),
        ("dask", "Fitting on Dask needs dask: pip install 'anymetric[dask]'."),
        ("pyarrow", "ParquetRows needs pyarrow: pip install 'anymetric[cli]'."),
        ("rapidfuzz", "load_business_pairs needs rapidfuzz: pip install 'anymetric[paper]'."),
    ],
)
def test_a_missing_extra_is_reported_in_one_line(bare, feature, message):
    assert bare["told"].get(feature) == message


@pytest.mark.parametrize("package", COMMANDS)
def test_the_command_line_names_the_package_that_is_missing(package, tmp_path):
    rows = "".join(f"{k % 7},{'ab'[k % 2]},{int(k % 7 > 4)}\n" for k in range(60))
    (tmp_path / "rows.csv").write_text(f"x,c,y\n{rows}", encoding="utf-8")
    (tmp_path / "rows.parquet").write_bytes(b"")
    table = "rows.parquet" if package == "pyarrow" else "rows.csv"
    given = ["fit", table, "--target", "y", "--metric", "f1", "--out", "model.skops"]
    done = without({package}, COMMAND, *given, folder=tmp_path)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(f"The command line needs {package}: pip install 'anymetric[cli]'.")


def test_every_optional_package_is_hidden_by_some_test_here(bare):
    tried = {message.split(" needs ")[1].partition(":")[0] for message in bare["told"].values()}
    assert tried | set(COMMANDS) == set().union(*optional().values())
