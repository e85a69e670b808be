"""Work: the steps of a fit in its folder, each kept as soon as it is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from anymetric.baselines.portable import portable
from anymetric.cli.baselines import (
    OURS,
    Rows,
    Setting,
    baselines_for,
    fitted,
    own_entry,
)
from anymetric.cli.budget import Plan
from anymetric.cli.catalogue import Entry
from anymetric.cli.faults import Stopped, UserError, full, need
from anymetric.cli.models import TableModel, dump_model
from anymetric.cli.progress import Course, told
from anymetric.cli.refit import Refitted, held_out, refit
from anymetric.cli.rows import Division
from anymetric.cli.runs import DONE, MODEL, RunFolder
from anymetric.cli.sanity import one_sided
from anymetric.cli.schema import read_as
from anymetric.cli.tables import whole
from anymetric.cli.training import Done, train_baselines, train_ours
from anymetric.cli.voice import Voice
from anymetric.metrics import MetricError
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.exchange import ROW
from anymetric.metrics.metered import Metered
from anymetric.metrics.subjects import about
from anymetric.recorded import Asking, Recorded, waiting
from anymetric.report import Run, gather, page
from anymetric.solution import Status
from anymetric.store.writers import Buffered

if TYPE_CHECKING:
    from anymetric.cli.fit import Fit


class Answers(Enum):
    """Who answers for a black box.

    Examples
    --------
    >>> Answers.ASKED.name
    'ASKED'
    """

    CALLED = "the metric is called"
    ASKED = "the answers come by ask and tell"
    KNOWN = "only what is known counts"


@dataclass(frozen=True, eq=False)
class Work:
    """What `anymetric fit` does once everything is read.

    A run is a pure function of its ledger: done again it takes the answers that are known, so
    that going on, asking and telling, and a look at the best so far are all the same work.
    """

    asked: Fit
    run: RunFolder
    setting: Setting
    division: Division
    features: Any
    train: Rows
    valid: Rows | None
    test: Rows

    def __call__(self, voice: Voice, answers: Answers) -> Done:
        """Train, compare, recommend and save."""
        own = own_entry(self.setting, self.train, self.valid)
        makers = self._makers()
        plan = self._plan(len(makers) + 1)
        setting = replace(self.setting, plan=plan)
        evaluations = self._evaluations(answers)
        meter = Metered(evaluations, None if plan is None else plan.total - plan.refit)
        if answers is Answers.CALLED:
            self._announce(voice, plan)
        train, valid, test = self._rows()
        with answered_by(meter), self._keeping(answers, evaluations) as trained:
            keep = self.run.keep_progress if answers is not Answers.KNOWN else None
            with about(method=OURS if own is None else own.name):
                ours, took = self._trained(setting, own, train, valid, voice, meter, keep)
            trained.append(self._kept(ours, answers))
            if plan is not None and not plan.compares:
                makers = {}
            name = OURS if own is None else own.name
            models, seconds = train_baselines(setting, makers, ours, train, valid, voice)
            models, seconds = {name: ours, **models}, {name: took, **seconds}
            voice.note(f"Evaluating all methods on {self.division.words} ...")
            with about(stage="test"):
                found = self._gather(models, test, seconds)
            chosen = self._chosen(found, name)
            model = trained[0] = self._kept(models[chosen], answers)
            meter.most = None if plan is None else plan.total
            known = found if chosen == name else replace(found, importances={})
            final = self._final(known, models[chosen], setting, seconds[chosen], voice)
            done = Done(replace(found, deployed=self._deployed(final)), models, chosen)
            if answers is not Answers.KNOWN:
                self._save(final.model)
                self._write(model, done.found, test)
                self.run.store.end("done")
        self._note(model, test, meter, plan, voice, answers)
        return done

    def _rows(self) -> tuple[Rows, Rows | None, Rows]:
        """Return the rows to train on, to validate and to compare on."""
        division = self.division
        train = self.numbered(self.train, division.train)
        valid = None if self.valid is None else self.numbered(self.valid, division.valid)
        return train, valid, self.numbered(self.test, division.test)

    def _trained(
        self,
        setting: Setting,
        own: Entry | None,
        train: Rows,
        valid: Rows | None,
        voice: Voice,
        meter: Metered,
        keep: Callable[..., None] | None,
    ) -> tuple[Any, float]:
        """Train what was asked for: our own method, or a baseline on purpose."""
        if own is None:
            return train_ours(setting, train, valid, voice, meter, keep)
        model = own.make(setting.calls)
        with told(voice, Course(own.name)):
            return model, fitted(model, train, valid, setting.target)

    def _kept(self, estimator: Any, answers: Answers) -> TableModel:
        """Return a fitted estimator as a model of tables, saved where answers are not rehearsed."""
        model = self.model(portable(estimator, self.setting.metric))
        if answers is not Answers.KNOWN:
            self._save(model)
        if getattr(estimator, "status_", None) is Status.FAULTS:
            raise UserError(estimator.summary_.failure)
        return model

    def _chosen(self, found: Run, own: str) -> str:
        """Return which model to save: the recommended one, unless a method was asked for.

        Only our own can be fitted to more rows than memory holds.
        """
        if self.setting.method != "auto" or self.division.train.stored is not None:
            return own
        return str(found.recommendation.get("model") or own)

    def _note(
        self,
        model: TableModel,
        test: Rows,
        meter: Metered,
        plan: Plan | None,
        voice: Voice,
        answers: Answers,
    ) -> None:
        """Warn of a model that flags nobody or everybody; say how many calls were made."""
        if line := one_sided(model.of_matrix(test.X, test.groups, test.side), model.target):
            voice.note(line)
        if self.setting.called and answers is Answers.CALLED:
            of = "" if plan is None else f" of {plan.total}"
            voice.note(f"{meter.calls}{of} calls of {self.setting.metric.name} in all.")

    def model(self, ours: Any) -> TableModel:
        """Return a fitted estimator with all that it takes to read a table."""
        asked = self.asked
        box = "" if asked.box is None else asked.box.command or f"what is told as {asked.box.told}"
        given = asked.roles, self.setting.target, asked.metric, asked.greater
        return TableModel(self.features, ours, *given, box=box)

    def _final(
        self, found: Run, estimator: Any, setting: Setting, seconds: float, voice: Voice
    ) -> Refitted:
        """Return the model to save, trained on all rows, with its importances if it was trained."""
        measured = dict(found.importances)
        if measured:
            measured |= {"metric": setting.metric.name, "on": self.division.words}
        model = replace(self.model(estimator), importances=measured)
        final = refit(self, model, setting, seconds, voice)
        carried = portable(final.model.estimator, setting.metric)
        return replace(final, model=replace(final.model, estimator=carried))

    def _deployed(self, final: Refitted) -> dict[str, Any]:
        saved = self.asked.out or self.run.path / MODEL
        labels = self.setting.target.labels
        where = {"model": str(saved), "file": str(self.asked.path), "proba": labels is not None}
        return where | {"refit": final.record}

    def _makers(self) -> dict[str, Entry]:
        given = {"groups": self.train.groups is not None, "valid": self.valid is not None}
        frugal = self.setting.called and (self.asked.box is not None or bool(self.asked.budget))
        return baselines_for(self.setting, self.train, **given, short=True, frugal=frugal)

    def _plan(self, methods: int) -> Plan | None:
        """Share out the budget; metrics that we compute ourselves cost nothing."""
        budget = self.asked.budget
        if budget is None and self.asked.box is not None:
            budget = self.asked.box.calls
        if budget is None or not self.setting.called:
            return None
        refits = bool(self.asked.refit) and held_out(self)
        return Plan.of(budget, methods, refit=refits)

    def _announce(self, voice: Voice, plan: Plan | None) -> None:
        known = self.run.recorded
        again = f", {known} evaluations known" if known else ""
        voice.note(f"Run: {self.run.path}{again}")
        if plan is not None:
            voice.note(f"Budget of {self.setting.metric.name}: {plan}.")
            if not plan.compares:
                voice.note("Note: too few calls for baselines: they are left out of the table.")

    def _evaluations(self, answers: Answers) -> Any:
        store = self.run.store
        if answers is Answers.CALLED:
            quick = self.asked.box is None  # a function in this process
            return Recorded(store, writer=Buffered(store) if quick else None)
        return Asking(store, poses=answers is Answers.ASKED)

    def numbered(self, rows: Rows, sample: Any) -> Rows:
        """Return rows with their numbers in the file, where a program or a person reads them."""
        if self.asked.box is None:
            return rows
        return replace(rows, side={ROW: sample.rows + 1, **rows.side})

    @contextmanager
    def _keeping(self, answers: Answers, evaluations: Any) -> Iterator[list[TableModel]]:
        """Keep what was trained, or the best so far, whatever ends the work."""
        trained: list[TableModel] = []
        try:
            with flushing(evaluations):
                yield trained
        except (UserError, MetricError, KeyboardInterrupt, OSError) as cut:
            if waiting(cut):
                ours = getattr(
                    cut, "best", None
                )  # before a first candidate is evaluated, a plain one
                cut.best_model = trained[0] if trained else ours and self.model(ours)  # type: ignore[union-attr]
                raise
            if answers is Answers.KNOWN:
                raise
            self._cut(cut, trained)

    def _cut(self, cut: BaseException, trained: list[TableModel]) -> None:
        """Save the best so far, and end with what was kept and where."""
        ours = best_before(cut)
        if isinstance(cut, KeyboardInterrupt):  # from the first answer on there is a model
            ours = getattr(cut, "best", None)
        with suppress(OSError, UserError):
            if not trained and ours is not None:
                self._save(self.model(ours))
        if not isinstance(cut, KeyboardInterrupt | OSError):
            self.run.store.end("failed")
        kept = self.run.kept(bool(trained))
        if isinstance(cut, KeyboardInterrupt):
            if not kept:
                raise cut
            raise Stopped(f"Stopped in {'evaluation' if trained else 'training'}; {kept}.") from cut
        if isinstance(cut, OSError) and not full(cut):
            raise cut
        what = "No space is left on the disk." if isinstance(cut, OSError) else str(cut)
        if not kept and not isinstance(cut, OSError):
            raise cut
        kept = kept or "nothing was kept"
        raise UserError(f"{what}\n{kept[:1].upper()}{kept[1:]}.") from cut

    def _gather(self, models: dict[str, Any], test: Rows, seconds: dict[str, float]) -> Run:
        asked, division = self.asked, self.division
        (name, ours), *others = models.items()
        return gather(
            portable(ours, self.setting.metric),
            test.X,
            self.setting.target.words(test.y),
            baselines=dict(others),
            groups=test.groups,
            side=test.side or None,
            asked=asked.shown() | {"columns": read_as(self.features.schema)},
            rows=division.what,
            held_out=division.held_out,
            feature_names=self.features.names,
            columns=self.features.blocks,
            names={
                "model": name,
                "target": asked.roles.target,
                "groups": " and ".join(asked.roles.groups) or "groups",
                "source": asked.roles.source or "source",
            },
            seconds=seconds,
            random_state=asked.seed,
        )

    def _save(self, model: TableModel) -> None:
        """Write the model, and its copy if one was asked for."""
        with whole(self.run.path / MODEL) as scratch:
            dump_model(model, scratch)
        if self.asked.out is not None:
            with whole(self.asked.out) as copy:
                copy.write_bytes((self.run.path / MODEL).read_bytes())

    def _write(self, model: TableModel, found: Run, test: Rows) -> None:
        """Write what a finished run has; the last file says that it is finished."""
        folder = self.run.path
        with whole(folder / "scores.csv") as scratch:
            scores(model, self.division, test).to_csv(scratch, index=False)
        with whole(folder / "report.html") as scratch:
            scratch.write_text(page(found), encoding="utf-8")
        found.save(folder / DONE)


@contextmanager
def flushing(evaluations: Any) -> Iterator[None]:
    """Let what is recorded late be recorded at the end, however it comes."""
    try:
        yield
    finally:
        getattr(evaluations, "flush", lambda: None)()


def best_before(cut: BaseException) -> Any | None:
    """Return the model that was the best when training was cut short; None if none was evaluated.

    Examples
    --------
    >>> best_before(KeyboardInterrupt()) is None
    True
    """
    ours = getattr(cut.__cause__ if isinstance(cut, UserError) else cut, "best", None)
    return ours if ours is not None and math.isfinite(ours.cost_) else None


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
