"""Fit: a model for the metric, a table against what else could be done, and a page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from anymetric.cli.asked import (
    check_columns,
    check_thresholds,
    find_metric,
    for_target,
    ranks,
    task_of,
)
from anymetric.cli.contenders import OURS, Rows, Setting, allowance, fit_ours, fitted, heard, rivals
from anymetric.cli.faults import Stopped, UserError, need
from anymetric.cli.limits import find_limits, limit_line, told_limits
from anymetric.cli.models import TableModel, dump_model
from anymetric.cli.progress import Course, told
from anymetric.cli.roles import Roles
from anymetric.cli.rows import Division, check_judged, read_sample
from anymetric.cli.runs import check_free, run_folder, run_name
from anymetric.cli.sanity import one_sided, warn
from anymetric.cli.schema import guessed, read_as
from anymetric.cli.tables import check_out, whole
from anymetric.cli.targets import Target, Task, read_target
from anymetric.cli.voice import Voice, measured, number
from anymetric.metrics import MacroByGroup, Metric, MetricError
from anymetric.report import Run, gather, page
from anymetric.report.words import families, headline
from anymetric.solution import Status


@dataclass(frozen=True)
class Fit:
    """What `anymetric fit` was asked for.

    Examples
    --------
    >>> Fit(Path("rows.csv"), Roles("income"), "f1").seed
    0
    """

    path: Path
    roles: Roles
    metric: str
    valid: Path | None = None
    test: Path | None = None
    positive: str | None = None
    task: Task = Task.AUTO
    greater: bool | None = None
    method: str = "auto"
    model: str = "auto"
    subject_to: tuple[str, ...] = ()
    group_thresholds: bool = False
    budget: int | None = None
    max_seconds: float | None = None
    holdout: bool = True
    out: Path | None = None
    run: Path | None = None
    seed: int = 0
    command: str = ""
    encoding: str = ""
    lenient: bool = False

    def __call__(self, voice: Voice) -> dict[str, Any]:
        """Read, train, judge, save and tell; return all of it as plain values."""
        folder = self.run or run_name(self.metric, datetime.now())
        check_free(folder)
        if self.out is not None:
            check_out(self.out, self.path, self.valid, self.test)
        setting, division = self.read(voice)
        with heard(voice):
            schema = division.train.schema
            features, train, valid, test = division.vectors(self.seed, setting.target, schema)
            check_judged(setting.metric, test, setting.target, division.words)

            def whole_model(ours: Any) -> TableModel:
                asked = self.roles, setting.target, self.metric, self.greater
                return TableModel(features, ours, *asked)

            with self._keeping(folder, whole_model) as trained:
                ours, took = train_ours(setting, train, valid, voice)
                trained.append(ours)
                if ours.status_ is Status.FAULTS:
                    raise UserError(ours.summary_.failure)
                judged = {"groups": train.groups is not None, "valid": valid is not None}
                makers = rivals(setting, **judged, short=True)
                models, seconds = train_rivals(setting, makers, ours, train, valid, voice)
                models, seconds = {OURS: ours, **models}, {OURS: took, **seconds}
                beyond = "; the metric is called for its errors too, beyond any --budget"
                voice.note(
                    f"Judging all methods on {division.words}{beyond if setting.called else ''} ..."
                )
                model = whole_model(ours)
                run = self._gather(model, models, test, division, seconds)
        with run_folder(folder) as scratch:
            self._write(scratch, model, run, division, test)
        if line := one_sided(model.of_matrix(test.X, test.groups), setting.target):
            voice.note(line)
        limits = told_limits(ours, test, model.target.words(test.y))
        return self._tell(voice, run, folder, division, setting, limits)

    def _check_files(self) -> None:
        """Refuse the training file itself as the rows that judge or test."""
        for option, path in (("--valid", self.valid), ("--test", self.test)):
            if path is not None and path.resolve() == self.path.resolve():
                raise UserError(
                    f"{option} {path} is the file that trains: leave it out. Rows are held out to "
                    "test, and are cross-validated."
                )

    @contextmanager
    def _keeping(
        self, folder: Path, whole_model: Callable[[Any], TableModel]
    ) -> Iterator[list[Any]]:
        """Keep what was trained, or the best so far, where the user or a metric ends the work."""
        trained: list[Any] = []
        try:
            yield trained
        except (UserError, MetricError, KeyboardInterrupt) as cut:
            ours = trained[0] if trained else best_before(cut)
            if ours is None:
                raise
            with run_folder(folder) as scratch:
                self._write_model(scratch, whole_model(ours))
            what = "the model" if trained else "the best model so far"
            kept = f"{what} is kept: {folder / 'model.skops'}"
            if isinstance(cut, KeyboardInterrupt):
                raise Stopped(f"Stopped in {'judging' if trained else 'training'}; {kept}") from cut
            raise UserError(f"{cut}\n{kept[:1].upper()}{kept[1:]}") from cut

    def read(self, voice: Voice) -> tuple[Setting, Division]:
        """Read the files; return what is asked of every method, and the rows."""
        metric = find_metric(self.metric, self.greater, self.roles.side)
        read = partial(read_sample, encoding=self.encoding, lenient=self.lenient)
        sample = read(self.path, self.roles, voice)
        others = [
            None if path is None else read(path, self.roles, voice, sample.schema)
            for path in (self.valid, self.test)
        ]
        self._check_files()
        task = task_of(metric, self.task)
        target = read_target(sample.y, task, self.positive, sample.name, ranks(metric))
        if others[0] is not None and target.labels is not None:
            seen = set(target.codes(others[0].y, others[0].name).tolist())
            if len(seen) == 1:
                label = target.labels[int(seen.pop())]
                voice.note(f"Note: all rows of {others[0].name} have the label {label!r}.")
        means = self._means(metric, target, sample.name, voice)
        division = Division.of(sample, others[0], others[1], target, self.holdout, self.seed)
        voice.note(
            f"{sample.name}: {len(sample):,} rows, {sample.X.shape[1]} columns to learn from. "
            f"{target.sentence}"
        )
        voice.columns(guessed(sample.schema))
        warn(sample, others, target, voice)
        asked = self.method, self.budget, self.seed, self.model, self.group_thresholds
        groups, side = bool(self.roles.groups), self.roles.side
        limits = tuple(find_limits(self.subject_to, groups, side))
        return Setting(means, target, *asked, self.max_seconds, limits), division

    def _means(self, metric: Metric, target: Target, name: str, voice: Voice) -> Metric:
        """Return what the metric means for the target, and has all its columns for."""
        column = f"Column {self.roles.target!r} of {name}"
        means = for_target(metric, target, ":" not in self.metric, column)
        check_columns(means, bool(self.roles.groups), self.roles.side)
        if self.group_thresholds:
            check_thresholds(means, target, bool(self.roles.groups))
        if target.many and self.roles.groups and isinstance(metric, MacroByGroup):
            said = f"of many classes, {metric.name} is the mean over classes, not groups"
            voice.note(f"Note: {said}.")
        if ":" not in self.metric and find_metric(self.metric, self.greater).name != metric.name:
            voice.note(f"Note: with queries, {self.metric} is their mean: {metric.name}.")
        return means

    def _gather(
        self,
        model: TableModel,
        models: dict[str, Any],
        test: Rows,
        division: Division,
        seconds: dict[str, float],
    ) -> Run:
        return gather(
            models[OURS],
            test.X,
            model.target.words(test.y),
            baselines={name: rival for name, rival in models.items() if name != OURS},
            groups=test.groups,
            side=test.side or None,
            asked=self._asked() | {"columns": read_as(model.schema)},
            rows=division.what,
            honest=division.honest,
            feature_names=model.feature_names,
            names={
                "target": self.roles.target,
                "groups": " and ".join(self.roles.groups) or "groups",
                "source": self.roles.source or "source",
            },
            seconds=seconds,
            random_state=self.seed,
        )

    def _asked(self) -> dict[str, Any]:
        """Return what was asked, as a page shows it: nothing that was left alone."""
        roles = asdict(self.roles)
        roles["group"] = ", ".join(roles.pop("groups"))
        roles["kinds"] = ", ".join(f"{column}: {kind}" for column, kind in self.roles.kinds)
        asked = {"file": str(self.path), "metric": self.metric, **roles}
        asked |= {"valid": self.valid, "test": self.test, "positive": self.positive}
        asked |= {"method": self.method, "budget": self.budget, "seed": self.seed}
        asked["model"] = "" if self.model == "auto" else self.model
        asked["seconds"] = self.max_seconds
        asked["subject to"] = self.subject_to
        asked["group thresholds"] = "yes" if self.group_thresholds else ""
        asked["command"] = self.command
        joined = {k: ", ".join(v) if isinstance(v, tuple) else v for k, v in asked.items()}
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in joined.items()
            if value not in (None, "")
        }

    def _write(
        self, scratch: Path, model: TableModel, run: Run, division: Division, test: Rows
    ) -> None:
        self._write_model(scratch, model)
        run.save(scratch / "run.json")
        (scratch / "report.html").write_text(page(run), encoding="utf-8")
        scores(model, division, test).to_csv(scratch / "scores.csv", index=False)

    def _write_model(self, scratch: Path, model: TableModel) -> None:
        dump_model(model, scratch / "model.skops")
        if self.out is not None:
            with whole(self.out) as copy:
                copy.write_bytes((scratch / "model.skops").read_bytes())

    def _tell(
        self,
        voice: Voice,
        run: Run,
        folder: Path,
        division: Division,
        setting: Setting,
        limits: list[dict[str, Any]],
    ) -> dict[str, Any]:
        found = run.diagnosis
        verdict = found.get("says") or f"No diagnosis: {found.get('absent', 'none was made')}"
        title = f"{run.metric['name']} on {division.words}"
        better = "greater" if run.metric["greater_is_better"] else "lower"
        voice.table(HEAD, lines(run), f"{title} ({better} is better)")
        voice.line(f"On these rows: {headline(run)}")
        for limit in limits:
            voice.line(limit_line(limit))
            if limit["certificate"]:
                voice.line(f"The certificate: {limit['certificate']}")
        voice.line(f"The diagnosis: {verdict}")
        if won := families(run):
            voice.line(f"The models: {won}")
        saved = {
            name: str(folder / file)
            for name, file in (
                ("model", "model.skops"),
                ("report", "report.html"),
                ("run", "run.json"),
                ("scores", "scores.csv"),
            )
        }
        if self.out is not None:
            saved["copy"] = str(self.out)
        model = saved.get("copy", saved["model"])
        voice.line(f"Saved: {folder}/ (model, run and scores); the model: {model}")
        voice.line(f"The page: {saved['report']}")
        return {
            "metric": run.metric["name"],
            "greater_is_better": run.metric["greater_is_better"],
            "target": {"column": self.roles.target, "labels": setting.target.labels},
            "rows": {
                "train": len(division.train),
                "valid": None if division.valid is None else len(division.valid),
                "table": len(division.test),
                "words": division.words,
                "honest": division.honest,
            },
            "table": run.methods,
            "limits": limits,
            "verdict": {
                "name": found.get("verdict"),
                "says": verdict,
                "families": found.get("families", {}),
            },
            "slices": run.worth.get("slices", []),
            "columns": guessed(division.train.schema),
            "saved": saved,
        }


HEAD = ("", "value", "our lead", "seconds", "calls")


def lines(run: Run) -> list[list[str]]:
    """Return a run's table as text, ours last.

    Examples
    --------
    >>> lines(Run({"name": "f1"}, {}, [{"name": "anymetric", "value": 0.5, "calls": 3}]))
    [['anymetric', '0.5000', '', '-', '3']]
    """
    ours = run.methods[0]
    return [
        [
            row["name"],
            measured(row.get("value"), row.get("error")),
            "" if row is ours else measured(row.get("lead"), row.get("lead_error"), sign=True),
            number(row.get("seconds"), 1),
            "-" if row.get("calls") is None else f"{row['calls']:,}",
        ]
        for row in [*run.methods[1:], ours]
    ]


def best_before(cut: BaseException) -> Any | None:
    """Return the model that was the best when training was cut short; None if none was judged.

    Examples
    --------
    >>> best_before(KeyboardInterrupt()) is None
    True
    """
    ours = getattr(cut.__cause__ if isinstance(cut, UserError) else cut, "best", None)
    return ours if ours is not None and math.isfinite(ours.cost_) else None


def train_ours(
    setting: Setting, train: Rows, valid: Rows | None, voice: Voice
) -> tuple[Any, float]:
    """Fit our own method; return the model and its seconds."""
    course, began = Course(OURS), time.perf_counter()
    with told(voice, course) as tell:
        ours = fit_ours(setting, train, valid, course, tell)
    seconds = time.perf_counter() - began
    voice.note(
        f"{OURS}: {len(ours.history_)} turns, {ours.n_metric_calls_} metric calls, "
        f"{seconds:.1f} s. {ours.validation_}"
    )
    return ours, seconds


def train_rivals(
    setting: Setting,
    makers: dict[str, Any],
    ours: Any,
    train: Rows,
    valid: Rows | None,
    voice: Voice,
    where: str = "",
) -> tuple[dict[str, Any], dict[str, float]]:
    """Fit the rivals; return the models and their seconds, without those that failed."""
    models, seconds = dict[str, Any](), dict[str, float]()
    for name, make in makers.items():
        model = make(allowance(setting, ours))
        try:
            with told(voice, Course(f"{where}{name}")):
                seconds[name] = fitted(model, train, valid, setting.target)
        except UserError as error:
            voice.note(f"Note: {name} is left out of the table: {error}")
            continue
        models[name] = model
    return models, seconds


def scores(model: TableModel, division: Division, test: Rows) -> Any:
    """Return the rows of the table with score and prediction, and their number in the file."""
    found = model.of_matrix(test.X, test.groups, test.side)
    columns: dict[str, Any] = {"row": division.test.rows + 1, "target": division.test.y}
    if test.groups is not None:
        columns["group"] = test.groups
    columns |= model.columns_of(found)
    if model.calls:
        columns["prediction"] = model.decide(found)
    return need("pandas").DataFrame(columns)
