"""Compare: every method on many splits of the rows, paired."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from anymetric.cli.baselines import (
    METHODS,
    OURS,
    Setting,
    baselines_for,
    fit_ours,
    notes_of_warnings,
)
from anymetric.cli.black_box import BlackBox
from anymetric.cli.budget import LEAST, Plan
from anymetric.cli.faults import UserError, hint, need
from anymetric.cli.fit import Fit
from anymetric.cli.progress import Course, told
from anymetric.cli.roles import Roles, Sample
from anymetric.cli.rows import Division, check_judged, dealt, some_out, with_every_class
from anymetric.cli.tables import check_kind, check_out, write_table
from anymetric.cli.targets import Target, Task
from anymetric.cli.training import train_baselines
from anymetric.cli.voice import Voice, measured, number
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.metered import Metered
from anymetric.recorded import Recorded
from anymetric.report.sample import Sample as Judged
from anymetric.report.table import ROUNDING, differences
from anymetric.store import open_store

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compare:
    """What `anymetric compare` was asked for.

    Examples
    --------
    >>> Compare(Path("rows.csv"), Roles("income"), "f1").folds
    5
    """

    path: Path
    roles: Roles
    metric: str
    valid: Path | None = None
    positive: str | None = None
    task: Task = Task.AUTO
    greater: bool | None = None
    method: str = "auto"
    model: str = "auto"
    subject_to: tuple[str, ...] = ()
    group_thresholds: bool = False
    budget: int | None = None
    folds: int = 5
    repeats: int | None = None
    only: tuple[str, ...] = ()
    short: bool = False
    out: Path | None = None
    force: bool = False
    seed: int = 0
    encoding: str = ""
    lenient: bool = False
    box: BlackBox | None = None

    def __call__(self, voice: Voice) -> dict[str, Any]:
        """Read, split, train and evaluate; print and return the results."""
        if self.out is not None:
            check_out(self.out, self.path, self.valid, force=self.force)
            check_kind(self.out)
        setting, sample, valid = self._read(voice)
        makers = self._makers(setting, sample.groups is not None, valid is not None)
        whole = sample if valid is None else valid
        splits = list(self._splits(whole, setting.target))
        if setting.target.many and valid is None:
            codes = setting.target.codes(whole.y, whole.name)
            splits = [with_every_class(codes, rest, out) for rest, out in splits]
        check_splits(splits, whole)
        setting, total = self._shared(setting, len(splits), len(makers) + 1, voice)
        rows = []
        with notes_of_warnings(voice), answered_by(Metered(Recorded(open_store()), total)):
            for k, (rest, out) in enumerate(splits):
                one = replace(setting, seed=self.seed + k)
                kept, test = whole.take(rest), whole.take(out)
                train, judges = (kept, None) if valid is None else (sample, kept)
                division = Division(train, judges, test, f"rows of split {k + 1}")
                row = one_split(one, division, makers, voice, f"split {k + 1} of {len(splits)}")
                rows.append((row, len(out) / len(rest)))
                # Who fails on one split cannot be paired with the others.
                makers = {name: make for name, make in makers.items() if name in row}
        scores = Scores(setting.metric.greater_is_better, [OURS, *makers])
        for row, ratio in rows:
            scores.add(row, ratio)
        if self.out is not None:
            write_table(scores.frame(), self.out)
        return self._tell(scores, len(splits), voice)

    def _read(self, voice: Voice) -> tuple[Setting, Sample, Sample | None]:
        asked = Fit(
            self.path,
            self.roles,
            self.metric,
            valid=self.valid,
            positive=self.positive,
            task=self.task,
            greater=self.greater,
            method=self.method,
            model=self.model,
            subject_to=self.subject_to,
            group_thresholds=self.group_thresholds,
            budget=self.budget,
            holdout=False,
            seed=self.seed,
            encoding=self.encoding,
            lenient=self.lenient,
            box=self.box,
        )
        setting, division = asked.read(voice)
        return setting, division.train, division.valid

    def _shared(
        self, setting: Setting, splits: int, methods: int, voice: Voice
    ) -> tuple[Setting, int | None]:
        """Share the budget out between the splits, and say so."""
        budget = self.budget
        if budget is None and self.box is not None:
            budget = splits * max(self.box.calls, LEAST * methods)
        if budget is None or not setting.called:
            return setting, None
        plan = Plan.of(budget // splits, methods)
        if not plan.compares:
            raise UserError(
                f"--budget {budget} is too little to compare {methods} methods on {splits} splits: "
                f"give {splits * LEAST * methods}, fewer splits, or --only some methods."
            )
        voice.note(f"Budget of {setting.metric.name}: {budget} calls; on each split {plan}.")
        return replace(setting, plan=plan), budget

    def _makers(self, setting: Setting, groups: bool, valid: bool) -> dict[str, Any]:
        if setting.method not in METHODS:
            raise UserError(
                f"--method {setting.method} is a baseline, and all of them are compared: leave it "
                "out, or choose some with --only."
            )
        makers = baselines_for(setting, groups=groups, valid=valid, short=self.short)
        for name in self.only:
            if name not in makers:
                end = hint(name, makers) or f" There are: {', '.join(map(repr, makers))}."
                raise UserError(f"No method here is called {name!r} (--only).{end}")
        return {name: make for name, make in makers.items() if not self.only or name in self.only}

    def _splits(
        self, sample: Sample, target: Target
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the rows that stay and the rows that test."""
        rng = np.random.default_rng(self.seed)
        if self.repeats is not None:
            for _ in range(self.repeats):
                yield some_out(sample, target, rng)
            return
        fold = dealt(sample, target, self.folds, rng)
        for k in range(self.folds):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _tell(self, scores: Scores, splits: int, voice: Voice) -> dict[str, Any]:
        how = f"{splits} random splits" if self.repeats else f"{splits} folds"
        better = "greater" if scores.greater else "lower"
        title = f"{self.metric} over {how} ({better} is better)"
        found = scores.summary()
        head = ["", "mean", "improvement", "mean rank", "seconds"]
        rows = [
            [
                row["name"],
                measured(row["value"], row["error"]),
                ""
                if row["name"] == OURS
                else measured(row["improvement"], row["improvement_error"], sign=True),
                number(row["rank"], 1),
                number(row["seconds"], 1),
            ]
            for row in sorted(found, key=lambda row: row["rank"])
        ]
        voice.table(head, rows, title)
        voice.line("Differences are paired; their errors count that splits share training rows.")
        if self.out is not None:
            voice.line(f"Every value: {self.out}")
        return {"metric": self.metric, "splits": splits, "methods": found}


@dataclass
class Scores:
    """The value of every method on every split.

    Examples
    --------
    >>> scores = Scores(True, ["anymetric", "plain"])
    >>> scores.add({"anymetric": (0.8, 1.0), "plain": (0.6, 1.0)}, 0.25)
    >>> scores.add({"anymetric": (0.9, 1.0), "plain": (0.8, 1.0)}, 0.25)
    >>> [round(scores.summary()[1][key], 4) for key in ("improvement", "improvement_error", "rank")]
    [0.15, 0.0612, 2.0]
    """

    greater: bool
    names: list[str]
    values: list[list[float]] = field(default_factory=list)
    seconds: list[list[float]] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def add(self, row: dict[str, tuple[float, float]], ratio: float) -> None:
        """Note one split: value and seconds of each method, and test rows over the others."""
        self.values.append([row[name][0] for name in self.names])
        self.seconds.append([row[name][1] for name in self.names])
        self.ratios.append(ratio)

    def error(self, values: Floats) -> Floats:
        """Return the error of the mean over splits that share rows (Nadeau and Bengio, 2003)."""
        if len(values) < 2:
            return np.full(values.shape[1], np.nan)
        share = 1.0 / len(values) + float(np.mean(self.ratios))
        errors = np.sqrt(share * values.var(axis=0, ddof=1))
        return np.where(errors <= ROUNDING * np.abs(values).max(axis=0), 0.0, errors)

    def summary(self) -> list[dict[str, Any]]:
        """Return one row a method: mean, improvement over it, their errors, mean rank, seconds."""
        values, sign = np.array(self.values), 1.0 if self.greater else -1.0
        leads = differences(sign, values[:, :1], values)
        ranks = rankdata(leads, axis=1).mean(axis=0)
        columns = {
            "value": values.mean(axis=0),
            "error": self.error(values),
            "improvement": leads.mean(axis=0),
            "improvement_error": self.error(leads),
            "rank": ranks,
            "seconds": np.array(self.seconds).mean(axis=0),
        }
        return [
            {"name": name, **{key: float(column[k]) for key, column in columns.items()}}
            for k, name in enumerate(self.names)
        ]

    def frame(self) -> Any:
        """Return every value as a table: split, method, value, seconds."""
        rows = [
            {"split": k + 1, "method": name, "value": value, "seconds": seconds}
            for k, (values, times) in enumerate(zip(self.values, self.seconds, strict=True))
            for name, value, seconds in zip(self.names, values, times, strict=True)
        ]
        return need("pandas").DataFrame(rows)


def one_split(
    setting: Setting, division: Division, makers: dict[str, Any], voice: Voice, words: str
) -> dict[str, tuple[float, float]]:
    """Train all methods on one split; return value and seconds of each that did not fail."""
    _, train, valid, test = division.vectors(setting.seed, setting.target, division.train.schema)
    check_judged(setting.metric, test, setting.target, division.words)
    course, began = Course(f"{words}, {OURS}"), time.perf_counter()
    with told(voice, course) as tell:
        ours = fit_ours(setting, train, valid, course, tell)
    took = time.perf_counter() - began
    models, seconds = train_baselines(setting, makers, ours, train, valid, voice, f"{words}, ")
    models, seconds = {OURS: ours, **models}, {OURS: took, **seconds}
    targets = setting.target.words(test.y)
    judged = Judged.of(models, test.X, targets, test.groups, test.side or None)
    values = dict(zip(judged.names, judged.values().tolist(), strict=True))
    voice.note(f"{words}: {', '.join(f'{name} {values[name]:.4f}' for name in list(values)[:4])}")
    return {name: (values[name], seconds[name]) for name in models}


def check_splits(splits: list[tuple[NDArray[Any], NDArray[Any]]], sample: Sample) -> None:
    """Refuse rows that are too few to be split."""
    if any(len(rest) == len(sample) or not len(out) for rest, out in splits):
        raise UserError(f"{sample.name} has {len(sample)} rows: too few for these splits.")
