"""Fit: a model for the metric, a table of it beside baselines, and a report."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from anymetric.cli import stored
from anymetric.cli.asked import (
    check_columns,
    check_thresholds,
    find_metric,
    for_target,
    ranks,
    task_of,
)
from anymetric.cli.baselines import Setting, notes_of_warnings
from anymetric.cli.black_box import BlackBox
from anymetric.cli.faults import UserError, stopping
from anymetric.cli.limits import find_limits
from anymetric.cli.outcome import Outcome
from anymetric.cli.roles import Roles
from anymetric.cli.rows import Division, check_judged, read_sample
from anymetric.cli.runs import MODEL, RunFolder, at_work, check_free
from anymetric.cli.sanity import warn
from anymetric.cli.schema import guessed
from anymetric.cli.tables import check_new, check_out
from anymetric.cli.targets import Target, Task, read_target
from anymetric.cli.voice import Voice
from anymetric.cli.work import Answers, Work
from anymetric.estimators._ledger import of_setting
from anymetric.metrics import Metric
from anymetric.recorded import waiting


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
    refit: bool | None = None
    out: Path | None = None
    force: bool = False
    run: Path | None = None
    seed: int = 0
    command: str = ""
    encoding: str = ""
    lenient: bool = False
    box: BlackBox | None = None

    def __call__(self, voice: Voice, answers: Answers | None = None) -> dict[str, Any]:
        """Read, train, compare, save and show; return all of it as plain values.

        Parameters
        ----------
        voice : Voice
        answers : Answers, optional
            Who answers for the metric: by default it is called or, if it is told, asked for.
        """
        if self.run is not None:
            check_free(self.run)
        if self.out is not None:
            check_out(self.out, self.path, self.valid, self.test, force=True)
        setting, division = self.read(voice)
        done = None
        with stopping(), notes_of_warnings(voice):
            parts = division.vectors(self.seed, setting.target, division.train.schema)
            check_judged(setting.metric, parts[-1], setting.target, division.words)
            told = self.fingerprint(setting, division)
            with at_work(RunFolder.open(self.run, self.metric, self.settings(), told)) as run:
                if self.out is not None and not (self.force or (run.path / MODEL).exists()):
                    check_new(self.out)
                work = Work(self, run, setting, division, *parts)
                try:
                    done = work(voice, answers or self.answers)
                except KeyboardInterrupt as stop:
                    if not waiting(stop) or answers is not None:
                        raise
                    run.made.clear()  # it is there to stay
                    count = len(run.store.open_keys())
        if done is None:
            return self._ask(voice, run.path, count)
        outcome = Outcome(done, run.path, division, setting, self.roles.target, self.out)
        outcome.show(voice)
        return outcome.plain()

    def _ask(self, voice: Voice, folder: Path, count: int) -> dict[str, Any]:
        """Say that a run waits for answers, and how to give them."""
        voice.line(f"Run: {folder}. {count} question{'s' if count != 1 else ''} to answer:")
        voice.line(f"  anymetric ask {folder}               hands out the next question")
        voice.line(f"  anymetric tell {folder} KEY VALUE    answers it")
        voice.line(f"  anymetric best {folder}              writes the best model so far")
        return {"run": str(folder), "questions": count}

    @property
    def answers(self) -> Answers:
        """Who answers for the metric."""
        return Answers.ASKED if self.box is not None and self.box.told else Answers.CALLED

    @property
    def named(self) -> bool:
        """Whether the metric is one by name, not a function of the user's or a black box."""
        return self.box is None and ":" not in self.metric

    def found(self) -> Metric:
        """Return the metric that was asked for."""
        if self.box is not None:
            return self.box.metric(self.greater)
        return find_metric(self.metric, self.greater, self.roles.side)

    def settings(self) -> dict[str, Any]:
        """Return what was asked as plain values, with the folder that paths start from."""
        asked = json.loads(json.dumps(asdict(self), default=str))
        return {**asked, "home": str(Path.cwd())}

    @classmethod
    def of_settings(cls, asked: dict[str, Any]) -> Fit:
        """Read what `settings` wrote."""
        known = {part.name for part in fields(cls)}
        found = {name: value for name, value in asked.items() if name in known}
        for name in ("path", "valid", "test", "out", "run"):
            found[name] = None if found.get(name) is None else Path(found[name])
        found["roles"] = Roles(**tupled(found["roles"]))
        found["subject_to"] = tuple(found.get("subject_to", ()))
        found["task"] = Task(found["task"])
        found["box"] = None if found.get("box") is None else BlackBox(**tupled(found["box"]))
        return cls(**found)

    def fingerprint(self, setting: Setting, division: Division) -> dict[str, Any]:
        """Return what a run is of: settings, and hashes of its rows."""
        asked = self.settings()
        idle = ("path", "valid", "test", "out", "force", "run", "home", "command", "box", "roles")
        told = {name: value for name, value in asked.items() if name not in idle}
        told |= {f"--{name}": value for name, value in asked["roles"].items()}
        if self.box is None:
            told["metric"] = of_setting(setting.metric)  # type: ignore[no-untyped-call]
        else:
            told |= {f"metric {name}": value for name, value in self.box.fingerprint().items()}
        for name in ("train", "valid", "test"):
            part = getattr(division, name)
            told[f"{name} rows"] = None if part is None else part.fingerprint()
        return json.loads(json.dumps(told, default=str))  # type: ignore[no-any-return]

    def _check_files(self) -> None:
        """Refuse the training file itself as validation or test rows."""
        for option, path in (("--valid", self.valid), ("--test", self.test)):
            if path is not None and path.resolve() == self.path.resolve():
                raise UserError(
                    f"{option} {path} is the file that trains: leave it out. Rows are held out to "
                    "test, and are cross-validated."
                )

    def read(self, voice: Voice) -> tuple[Setting, Division]:
        """Read the files; return what is asked of every method, and the rows."""
        metric = self.found()
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
        if sample.stored is not None:
            voice.note(stored.told(sample))
        voice.columns(guessed(sample.schema))
        warn(sample, others, target, voice)
        asked = self.method, self.budget, self.seed, self.model, self.group_thresholds
        groups, side = bool(self.roles.groups), self.roles.side
        limits = tuple(find_limits(self.subject_to, groups, side))
        return Setting(means, target, *asked, self.max_seconds, limits), division

    def _means(self, metric: Metric, target: Target, name: str, voice: Voice) -> Metric:
        """Return what the metric means for the target, and has all its columns for."""
        column = f"Column {self.roles.target!r} of {name}"
        means = for_target(metric, target, self.named, column)
        check_columns(means, bool(self.roles.groups), self.roles.side)
        if self.group_thresholds:
            check_thresholds(means, target, bool(self.roles.groups))
        if self.roles.groups and self.metric.startswith("macro_"):
            over = self.metric.replace("macro_", "group_mean_", 1)
            voice.note(f"Note: {self.metric} is the mean over classes; over groups it is {over}.")
        if self.named and find_metric(self.metric, self.greater).name != metric.name:
            voice.note(f"Note: with queries, {self.metric} is their mean: {metric.name}.")
        return means

    def shown(self) -> dict[str, Any]:
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
        if self.box is not None and self.box.command:
            asked["metric command"] = self.box.command
        joined = {k: ", ".join(v) if isinstance(v, tuple) else v for k, v in asked.items()}
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in joined.items()
            if value not in (None, "")
        }


def tupled(values: dict[str, Any]) -> dict[str, Any]:
    """Return values as frozen parts have them: lists as tuples.

    Examples
    --------
    >>> tupled({"groups": ["sex"], "source": ""})
    {'groups': ('sex',), 'source': ''}
    """
    return {name: _tuple(value) for name, value in values.items()}


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
