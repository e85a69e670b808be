"""Hooks: what MkDocs shows beside `docs/`: what commands and the library make."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from anymetric import MetricClassifier
from anymetric.baselines import BalancedLogistic, LogisticBaseline, TunedThreshold
from anymetric.datasets import load_compas, split
from anymetric.report import gather, page

# The paper's figures and its own page are written by `anymetric paper`; they are shown in place.
SHOWN = ("*.svg", "index.html")
# A link on a line of its own, which a code host shows as one: here the table itself, untitled.
TABLE = re.compile(r"^( *)\[Table: [^\]]*\]\(\.\./(\S+\.md)\)$", re.MULTILINE)
# Figures outside of `docs/`, which a code host finds there; `on_files` brings them to the site.
FIGURE = re.compile(r"(!\[[^\]]*\]\()\.\./(?=results/)")
BASELINES = {
    "logistic regression": LogisticBaseline,
    "balanced": BalancedLogistic,
    "tuned threshold": TunedThreshold,
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the figures of `results/` and an example of the report to the site."""
    results = Path(config.config_file_path).parent / "results"
    for path in sorted(path for pattern in SHOWN for path in results.glob(pattern)):
        files.append(File.generated(config, f"results/{path.name}", abs_src_path=str(path)))
    files.append(File.generated(config, "report-example.html", content=report()))
    return files


def on_page_markdown(markdown: str, config: MkDocsConfig, **_: Any) -> str:
    """Put tables where a page asks for them, so that what is shown never drifts."""
    root = Path(config.config_file_path).parent
    shown = TABLE.sub(lambda asked: indent(table(root / asked[2]), asked[1]), markdown)
    return FIGURE.sub(r"\1", shown)


def table(path: Path) -> str:
    """Return a table made by a command, or say that it is still to be made."""
    if not path.is_file():
        return f"*`{path.name}` has not been made in this checkout yet.*"
    _, _, body = path.read_text(encoding="utf-8").partition("\n")
    # Its own sections are sentences, too long for a menu.
    body = re.sub(r"^#+ (.+)$", r"**\1**", body.strip(), flags=re.MULTILINE)
    return f'<div class="results" markdown>\n\n{body}\n\n</div>'


@cache
def report() -> str:
    """Return the report of a run on COMPAS, as the library makes it today."""
    compas = load_compas()
    rows = split(compas, random_state=0)
    X, y, sex = compas.X, compas.y, compas.groups
    fitted = {
        name: model("group_mean_f1", random_state=0).fit(
            X[rows.train], y[rows.train], groups=sex[rows.train]
        )
        for name, model in {"anymetric": MetricClassifier, **BASELINES}.items()
    }
    run = gather(
        fitted.pop("anymetric"),
        X[rows.test],
        y[rows.test],
        groups=sex[rows.test],
        baselines=fitted,
        asked={
            "data": "COMPAS, shipped with anymetric",
            "metric": "group_mean_f1",
            "groups": "sex",
        },
        feature_names=compas.feature_names,
    )
    return page(run)
