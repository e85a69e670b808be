"""The house rules that a machine can check: layers, docstrings, a light import."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import anymetric

ROOT = Path(anymetric.__file__).parent

# From the ground up: a module may import its own layer and those before it.
LAYERS = (
    {"blocks", "data", "errors", "losses", "metrics", "recommendation", "store", "threads"},
    {"certificates", "surrogates", "models", "engines", "rules", "calibration"},
    {"problem"},
    {"batches", "ledger", "recorded"},
    {"gradients", "multinomial", "projections", "solvers", "theory", "starts"},
    {"history", "method", "solution", "summary"},
    {
        "auto",
        "boosting",
        "descent",
        "diagnosis",
        "exports",
        "networks",
        "notebook",
        "span",
        "starts_classes",
        "surprises",
        "suspects",
        "tuning",
    },
    {"explaining"},
    {"estimators"},
    {"runs"},
    {"datasets"},
    {"baselines", "displays", "report"},
    {"demo", "paper", "cli", "__main__", "__init__"},
)
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
# Anyone above the estimators may use the data sets, which know nothing of the method.
LEAVES = {"datasets": {"data", "errors"}}

# What importing anymetric must not bring, unless scikit-learn itself does.
HEAVY = ("cvxpy", "dask", "lightgbm", "matplotlib", "pandas", "polars", "pyarrow", "torch")


def parts_of(path):
    return path.relative_to(ROOT).with_suffix("").parts


def imported(path):
    """Yield the part of anymetric that each import of a file names, wherever it stands."""
    package = ("anymetric", *parts_of(path)[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            names = [base] if len(base) > 1 else [[*base, alias.name] for alias in node.names]
        else:
            continue
        yield from (name[1] for name in names if name[0] == "anymetric" and len(name) > 1)


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(parts_of(path)))
def test_imports_point_down(path):
    part = parts_of(path)[0]
    assert part in HEIGHT, f"{part} stands on no layer: add it to LAYERS in {Path(__file__).name}"
    allowed = {name for name, height in HEIGHT.items() if height <= HEIGHT[part]}
    allowed = LEAVES.get(part, allowed) | {part, "__version__"}
    wrong = sorted(set(imported(path)) - allowed)
    assert not wrong, f"{'.'.join(parts_of(path))} imports upwards: {wrong}"


def test_an_upward_import_would_be_seen(tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "high.py"
    path.write_text(
        "from ..descent import Descent\nfrom . import linear\n"
        "def f():\n    import anymetric.paper.run\n    from anymetric import cli\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert sorted(imported(path)) == ["cli", "descent", "models", "paper"]


def public_names():
    """Return every name that a package exports, once."""
    below = pkgutil.walk_packages([str(ROOT)], "anymetric.")
    packages = ["anymetric", *(info.name for info in below if info.ispkg)]
    named = {}
    for package in packages:
        module = importlib.import_module(package)
        for public in getattr(module, "__all__", ()):
            thing = getattr(module, public)
            if described(thing):
                named.setdefault(id(thing), pytest.param(thing, id=f"{package}.{public}"))
    return list(named.values())


def described(thing):
    """Whether it is ours, and of a kind that carries a docstring of its own."""
    ours = (getattr(thing, "__module__", "") or "").startswith("anymetric")
    return ours and (inspect.isclass(thing) or inspect.isfunction(thing))


@pytest.mark.parametrize("thing", public_names())
def test_every_public_name_has_a_docstring_with_an_example(thing):
    text = inspect.getdoc(thing)
    assert text, "no docstring"
    assert text.splitlines()[0].rstrip().endswith((".", "?", ":")), "the first line is a sentence"
    assert doctest.DocTestParser().get_examples(text), "no example"


@pytest.mark.parametrize("module", ["anymetric", "anymetric.estimators"])
def test_import_is_light(module):
    code = (
        "import sys, sklearn.callback, sklearn.metrics, sklearn.utils.fixes\n"
        "before = set(sys.modules)\n"
        f"import {module}\n"
        f"print(*sorted((set(sys.modules) - before) & {set(HEAVY)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []
