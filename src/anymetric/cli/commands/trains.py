"""Commands that train: fit and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anymetric.cli import options as o
from anymetric.cli.app import app, command_line, ending
from anymetric.cli.voice import Voice


@app.command()
@ending
def fit(
    path: o.Rows,
    target: o.Target,
    metric: o.Metric = None,
    group: o.Group = None,
    valid: o.Valid = None,
    test: Annotated[
        Path | None,
        typer.Option(
            help="Rows for the final table. Without them a fifth of the rows is held out for it: "
            "of those in --valid where there are 50, else of the training rows.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    source: o.Source = "",
    side: o.Side = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    number: o.Number = None,
    category: o.Category = None,
    text: o.Text = None,
    date: o.Date = None,
    encoding: o.Encoding = "",
    allow_unknown: o.AllowUnknown = False,
    positive: o.Positive = None,
    task: o.Task = o.Kind.AUTO,
    greater: o.Greater = None,
    metric_command: o.MetricCommand = None,
    metric_told: o.MetricTold = None,
    metric_reads: o.MetricReads = None,
    command_format: o.CommandFormat = None,
    command_field: o.CommandField = None,
    command_timeout: o.CommandTimeout = None,
    command_retries: o.CommandRetries = None,
    command_env: o.CommandEnv = None,
    command_slots: o.CommandSlots = None,
    command_shell: o.CommandShell = False,
    method: o.Training = o.Method.AUTO,
    model: o.Families = o.Family.AUTO,
    subject_to: o.SubjectTo = None,
    group_thresholds: o.GroupThresholds = False,
    budget: o.Budget = None,
    max_seconds: o.Seconds = None,
    holdout: Annotated[
        bool,
        typer.Option(
            "--holdout/--no-holdout",
            help="Whether to hold rows out for the final table.",
            rich_help_panel=o.TRAINING,
        ),
    ] = True,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--no-refit",
            help="Whether to train the saved model again on all rows, after the table. By default "
            "yes, unless that takes calls of a metric that has a budget.",
            rich_help_panel=o.TRAINING,
            show_default=False,
        ),
    ] = None,
    seed: o.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A copy of the model.", rich_help_panel=o.SAYING),
    ] = None,
    force: o.Force = False,
    run: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the run; by default anymetric-runs/TIME-METRIC. The same command "
            "goes on with a run that was cut off.",
            rich_help_panel=o.SAYING,
        ),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Train a model for a metric, and compare it with baselines.

    A target of more than two labels trains as many classes. Numbers, categories, text, dates and
    missing values are turned into features by skrub. The final table is of rows that no method
    saw, with standard errors.

    [dim]anymetric fit train.csv --target income --metric group_mean_f1 --group sex[/dim]
    """
    from anymetric.cli.black_box import black_box
    from anymetric.cli.fit import Fit
    from anymetric.cli.targets import Task

    voice = Voice(quiet, json)
    box = black_box(
        metric_command,
        metric_told,
        metric,
        reads=metric_reads and metric_reads.value,
        form=command_format and command_format.value,
        field=command_field,
        timeout=command_timeout,
        retries=command_retries,
        env=tuple(command_env or ()),
        slots=command_slots,
        shell=command_shell,
    )
    asked = Fit(
        path,
        roles(target, group, source, side, drop, keep, kinds(number, category, text, date)),
        box.name if box else str(metric),
        valid=valid,
        test=test,
        positive=positive,
        task=Task(task.value),
        greater=greater,
        method=method.value,
        model=model.value,
        subject_to=tuple(subject_to or ()),
        group_thresholds=group_thresholds,
        budget=budget,
        max_seconds=max_seconds,
        holdout=holdout,
        refit=refit,
        out=out,
        force=force,
        run=run,
        seed=seed,
        command=command_line(),
        encoding=encoding,
        lenient=allow_unknown,
        box=box,
    )
    voice.document(asked(voice))


@app.command()
@ending
def compare(
    path: o.Rows,
    target: o.Target,
    metric: o.Metric = None,
    group: o.Group = None,
    valid: o.Valid = None,
    source: o.Source = "",
    side: o.Side = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    number: o.Number = None,
    category: o.Category = None,
    text: o.Text = None,
    date: o.Date = None,
    encoding: o.Encoding = "",
    allow_unknown: o.AllowUnknown = False,
    positive: o.Positive = None,
    task: o.Task = o.Kind.AUTO,
    greater: o.Greater = None,
    metric_command: o.MetricCommand = None,
    metric_reads: o.MetricReads = None,
    command_format: o.CommandFormat = None,
    command_field: o.CommandField = None,
    command_timeout: o.CommandTimeout = None,
    command_retries: o.CommandRetries = None,
    command_env: o.CommandEnv = None,
    command_slots: o.CommandSlots = None,
    command_shell: o.CommandShell = False,
    method: o.Training = o.Method.AUTO,
    model: o.Families = o.Family.AUTO,
    subject_to: o.SubjectTo = None,
    group_thresholds: o.GroupThresholds = False,
    budget: o.Budget = None,
    folds: Annotated[
        int,
        typer.Option(min=2, help="The number of folds.", rich_help_panel=o.TRAINING),
    ] = 5,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Instead of folds: how many times to hold out a fifth.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="A method to compare with, by name; may be repeated."),
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Only the methods of the table of `fit`.")
    ] = False,
    seed: o.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Every value, as a table.", rich_help_panel=o.SAYING),
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Compare all methods on many splits: paired differences with their errors, and ranks.

    With --valid the splits are made of its rows: the training rows always train.
    """
    from anymetric.cli.black_box import black_box
    from anymetric.cli.compare import Compare
    from anymetric.cli.targets import Task

    voice = Voice(quiet, json)
    box = black_box(
        metric_command,
        None,
        metric,
        reads=metric_reads and metric_reads.value,
        form=command_format and command_format.value,
        field=command_field,
        timeout=command_timeout,
        retries=command_retries,
        env=tuple(command_env or ()),
        slots=command_slots,
        shell=command_shell,
    )
    asked = Compare(
        path,
        roles(target, group, source, side, drop, keep, kinds(number, category, text, date)),
        box.name if box else str(metric),
        valid=valid,
        positive=positive,
        task=Task(task.value),
        greater=greater,
        method=method.value,
        model=model.value,
        subject_to=tuple(subject_to or ()),
        group_thresholds=group_thresholds,
        budget=budget,
        folds=folds,
        repeats=repeats,
        only=tuple(only or ()),
        short=short,
        out=out,
        force=force,
        seed=seed,
        encoding=encoding,
        lenient=allow_unknown,
        box=box,
    )
    voice.document(asked(voice))


def roles(
    target: str,
    group: list[str] | None,
    source: str,
    side: list[str] | None,
    drop: list[str] | None,
    keep: list[str] | None,
    kinds: tuple[tuple[str, str], ...] = (),
) -> Any:
    """Return the roles that options name, each column once."""
    from anymetric.cli.roles import Roles

    groups, sides, out, kept = (tuple(dict.fromkeys(x or ())) for x in (group, side, drop, keep))
    return Roles(target, groups, source, sides, out, kept, kinds)


def kinds(
    number: list[str] | None,
    category: list[str] | None,
    text: list[str] | None,
    date: list[str] | None,
) -> tuple[tuple[str, str], ...]:
    """Return what the user says that columns hold; one kind a column."""
    from anymetric.cli.faults import UserError

    named = {"number": number, "category": category, "text": text, "date": date}
    found: dict[str, str] = {}
    for kind, columns in named.items():
        for column in columns or ():
            if found.setdefault(column, kind) != kind:
                raise UserError(f"{column!r} is said to be a {found[column]} and a {kind}.")
    return tuple(found.items())
