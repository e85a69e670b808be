"""Options: what commands share, said once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

ROLES, TRAINING, SAYING = "Columns", "Training", "Output"
BOX = "A program or a person as the metric"


class Method(StrEnum):
    """Ways to train: ours, those of the paper, and baselines.

    Examples
    --------
    >>> Method("threshold").name
    'THRESHOLD'
    """

    AUTO = "auto"
    DESCENT = "descent"
    PAPER = "paper"
    NOTEBOOK = "notebook"
    LOGISTIC = "logistic"
    BALANCED = "balanced"
    THRESHOLD = "threshold"
    BALANCED_THRESHOLD = "balanced-threshold"
    CLASS_WEIGHTS = "class-weights"
    GROUP_THRESHOLDS = "group-thresholds"
    ROW_RULE = "row-rule"
    CONSTANT = "constant"
    RIDGE = "ridge"
    QUANTILE = "quantile"
    LOG_RIDGE = "log-ridge"
    LIGHTGBM = "lightgbm"
    LIGHTGBM_ROW_RULE = "lightgbm-row-rule"
    LAMBDARANK = "lambdarank"
    CLEAN = "clean"
    CLEAN_LIGHTGBM = "clean-lightgbm"
    BOTH = "both"


class Family(StrEnum):
    """Kinds of models to train.

    Examples
    --------
    >>> [family.value for family in Family]
    ['auto', 'linear', 'boosted']
    """

    AUTO = "auto"
    LINEAR = "linear"
    BOOSTED = "boosted"


class Reads(StrEnum):
    """What a program or a person is shown.

    Examples
    --------
    >>> Reads("scores").name
    'SCORES'
    """

    DECISIONS = "decisions"
    SCORES = "scores"
    PROBABILITIES = "probabilities"


class Form(StrEnum):
    """How a table of predictions is written.

    Examples
    --------
    >>> [form.value for form in Form]
    ['csv', 'jsonl', 'parquet']
    """

    CSV = "csv"
    LINES = "jsonl"
    PARQUET = "parquet"


class Kind(StrEnum):
    """How a target is read.

    Examples
    --------
    >>> Kind("auto").name
    'AUTO'
    """

    AUTO = "auto"
    CLASSES = "classification"
    NUMBERS = "regression"


Rows = Annotated[
    Path,
    typer.Argument(
        metavar="ROWS",
        help="CSV, TSV, JSON lines, Excel, Parquet, Arrow or Feather; 'part-*.parquet' for many.",
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model that `anymetric fit` saved: model.skops.")
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="The column to predict.", rich_help_panel=ROLES)
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        "-m",
        help="What to train for: a name (see `anymetric metrics`), a scikit-learn scorer, or "
        "your own function as module:function, called with the labels of the file.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="Another metric than the model's own; may be repeated."),
]
MetricCommand = Annotated[
    str | None,
    typer.Option(
        "--metric-command",
        help="A program as the metric: 'awk -f score.awk {predictions}'. It gets a table of "
        "predictions, as a file or without {predictions} as its standard input, and prints a "
        "number. No shell reads it unless --command-shell is given.",
        rich_help_panel=BOX,
    ),
]
MetricTold = Annotated[
    str | None,
    typer.Option(
        "--metric-told",
        metavar="NAME",
        help="Somebody answers: `anymetric ask RUN` hands questions out, `anymetric tell RUN KEY "
        "VALUE` takes the answers.",
        rich_help_panel=BOX,
    ),
]
MetricReads = Annotated[
    Reads | None,
    typer.Option(
        "--metric-reads",
        help="What the program or person is shown; decisions by default.",
        rich_help_panel=BOX,
    ),
]
CommandFormat = Annotated[
    Form | None,
    typer.Option("--command-format", help="Of the table; csv by default.", rich_help_panel=BOX),
]
CommandField = Annotated[
    str | None,
    typer.Option(
        "--command-field",
        metavar="NAME",
        help="The program prints JSON, with the number in this field; by default its last line is "
        "the number.",
        rich_help_panel=BOX,
    ),
]
CommandTimeout = Annotated[
    float | None,
    typer.Option(
        "--command-timeout",
        metavar="SECONDS",
        min=0.001,
        help="Stop the program after this time; an hour by default.",
        rich_help_panel=BOX,
    ),
]
CommandRetries = Annotated[
    int | None,
    typer.Option(
        "--command-retries",
        min=0,
        help="How often to start a failing program again, each time after a longer pause.",
        rich_help_panel=BOX,
    ),
]
CommandEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--command-env",
        metavar="NAME=VALUE",
        help="A variable of the program's environment, or a NAME to pass on; may be repeated. "
        "PATH, HOME, TMPDIR, language and time zone are passed on.",
        rich_help_panel=BOX,
    ),
]
CommandSlots = Annotated[
    int | None,
    typer.Option(
        "--command-slots",
        min=1,
        help="How many programs may run at the same time; one by default.",
        rich_help_panel=BOX,
    ),
]
CommandShell = Annotated[
    bool,
    typer.Option("--command-shell", help="Let /bin/sh read the command.", rich_help_panel=BOX),
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run of `anymetric fit`.")
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        "-g",
        help="A column of groups, for metrics by group; several are crossed. It stays a feature "
        "unless --drop names it too.",
        rich_help_panel=ROLES,
    ),
]
Source = Annotated[
    str,
    typer.Option(
        help="The column with the source of each training row; no feature.",
        rich_help_panel=ROLES,
    ),
]
Side = Annotated[
    list[str] | None,
    typer.Option(
        "--side",
        help="A column of metadata, passed to the metric by its name; no feature unless --keep "
        "names it too.",
        rich_help_panel=ROLES,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop", help="A column that is no feature, such as an id.", rich_help_panel=ROLES
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", help="A metadata or source column to learn from as well.", rich_help_panel=ROLES
    ),
]


def _kind(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", help=f"A column to read as {what}.", rich_help_panel=ROLES)


Number = Annotated[list[str] | None, _kind("number", "numbers, where the guess is wrong")]
Category = Annotated[list[str] | None, _kind("category", "categories, such as codes")]
Text = Annotated[list[str] | None, _kind("text", "free text")]
Date = Annotated[list[str] | None, _kind("date", "dates")]
Encoding = Annotated[
    str,
    typer.Option(
        help="The encoding of text files: utf-8, latin-1, ...; detected by default.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
AllowUnknown = Annotated[
    bool,
    typer.Option(
        "--allow-unknown",
        help="Read any number of unknown or unreadable values as missing.",
        rich_help_panel=ROLES,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="The positive label, against all others; by default the second of two in sorted "
        "order.",
        rich_help_panel=ROLES,
    ),
]
Task = Annotated[
    Kind,
    typer.Option(help="How to read the target, where the metric fits both.", rich_help_panel=ROLES),
]
Greater = Annotated[
    bool | None,
    typer.Option(
        "--greater-is-better/--lower-is-better",
        help="The direction of a function whose name does not end in _score, _error or _loss.",
        show_default=False,
    ),
]
Valid = Annotated[
    Path | None,
    typer.Option(
        help="Validation rows; they may be few and clean. Without them the training rows are "
        "cross-validated.",
        rich_help_panel=TRAINING,
    ),
]
Training = Annotated[
    Method,
    typer.Option(
        "--method",
        help="How to train: auto compares with baselines and saves the recommended model; "
        "threshold, lightgbm, ridge and the like train that baseline and save it.",
        metavar="NAME",
        show_choices=False,
        rich_help_panel=TRAINING,
    ),
]
Families = Annotated[
    Family,
    typer.Option(
        "--model",
        help="What to train: linear models, boosted trees, or whichever is better.",
        rich_help_panel=TRAINING,
    ),
]
SubjectTo = Annotated[
    list[str] | None,
    typer.Option(
        "--subject-to",
        help="A limit to keep, such as 'recall>=0.8' or 'gap(recall)<=0.05'; may be repeated.",
        rich_help_panel=TRAINING,
    ),
]
GroupThresholds = Annotated[
    bool,
    typer.Option(
        "--group-thresholds",
        help="A threshold for each group, where that improves the metric beyond noise; new rows "
        "must then have the group column.",
        rich_help_panel=TRAINING,
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The most calls of your metric in all: training, baselines and final table; by "
        "default 100 of a command, 40 of a person. Of a ready-made metric it limits the training.",
        rich_help_panel=TRAINING,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        min=0.001,
        help="Train no further candidate after this time; the best so far is kept.",
        rich_help_panel=TRAINING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="The seed of everything that is random.", rich_help_panel=TRAINING),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace a file that is there.", rich_help_panel=SAYING),
]
TrustMetric = Annotated[
    bool,
    typer.Option(
        "--trust-metric",
        help="Import the module of the function that the model was trained for, and run it.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on standard output.", rich_help_panel=SAYING),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=SAYING)
]
