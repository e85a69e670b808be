"""Training: our own method and the baselines, fitted one after the other with their progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anymetric.cli.baselines import OURS, Rows, Setting, allowance, fit_ours, fitted
from anymetric.cli.catalogue import Entry
from anymetric.cli.faults import UserError
from anymetric.cli.progress import Course, told
from anymetric.cli.voice import Voice
from anymetric.metrics.metered import Metered
from anymetric.metrics.subjects import about
from anymetric.report import Run


def train_ours(
    setting: Setting,
    train: Rows,
    valid: Rows | None,
    voice: Voice,
    meter: Metered,
    keep: Callable[..., None] | None = None,
) -> tuple[Any, float]:
    """Fit our own method; return the model and its seconds.

    `keep` is given the state of the run after each answer and each iteration.
    """
    course, began = Course.of(OURS, setting), time.perf_counter()
    with told(voice, course) as show:

        def tell() -> None:
            show()
            if keep is not None:
                keep(course)

        def answered(question: Any, answer: Any) -> None:
            course.call(question.about, answer.value)
            tell()

        meter.record = answered
        try:
            ours = fit_ours(setting, train, valid, course, tell)
        finally:
            meter.record = lambda question, answer: None
            if keep is not None:
                keep(course, now=True)
    seconds = time.perf_counter() - began
    voice.note(
        f"{OURS}: {len(ours.history_)} iterations, {ours.n_metric_calls_} metric calls, "
        f"{seconds:.1f} s. {ours.validation_}"
    )
    return ours, seconds


def train_baselines(
    setting: Setting,
    makers: dict[str, Entry],
    ours: Any,
    train: Rows,
    valid: Rows | None,
    voice: Voice,
    where: str = "",
) -> tuple[dict[str, Any], dict[str, float]]:
    """Fit the baselines; return the models and their seconds, without those that failed."""
    models, seconds = dict[str, Any](), dict[str, float]()
    for name, entry in makers.items():
        model = entry.make(allowance(setting, ours))
        try:
            with about(method=name), told(voice, Course(f"{where}{name}")):
                seconds[name] = fitted(model, train, valid, setting.target)
        except UserError as error:
            voice.note(f"Note: {name} is left out of the table: {error}")
            continue
        models[name] = model
    return models, seconds


@dataclass(frozen=True, eq=False)
class Done:
    """What a run came to.

    Attributes
    ----------
    found : Run
    models : dict from name to fitted estimator
        The trained one first, then the baselines.
    chosen : str
        Which of them is saved.
    """

    found: Run
    models: dict[str, Any]
    chosen: str

    @property
    def model(self) -> Any:
        """The estimator that is saved."""
        return self.models[self.chosen]

    @property
    def ours(self) -> Any:
        """The estimator that was trained for the metric, or on purpose."""
        return next(iter(self.models.values()))
