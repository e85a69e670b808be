"""Find: from noisy and clean rows to suspects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.sample import dealt
from anymetric.data import Data, stacked
from anymetric.metrics import Metric
from anymetric.problem import Problem
from anymetric.suspects.features import unlike
from anymetric.suspects.gains import NO_GAIN, UNKNOWN, Gain, Trial, cost_of, resampled
from anymetric.suspects.labels import FOLDS, Coded, Labels, judge_labels
from anymetric.suspects.models import SoftLinear, SoftModel, SoftTrees, standardised
from anymetric.suspects.table import SUSPECT, Part, Suspects

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Trees need rows; models are trained on so many at most, and score the rest.
ROWS_FOR_TREES, TRAINED = 300, 40_000
# The ridge of linear models, in units of one row.
RIDGE = 10.0
# Of a source whose labels say less than this, the source is the reason; others must say more.
CHANCE, BETTER = 0.2, 0.3
# Gains are measured for so many slices and sources, those with most wrong rows; each has to have
# so many.
MEASURED, WORTH_A_TRIAL = 12, 5.0


@dataclass(frozen=True, eq=False)
class Search:
    """What a search for suspects reads, and how it goes.

    Attributes
    ----------
    train : Data
        Noisy rows; ``groups`` and ``source`` are read if they are among the metadata.
    valid : Data or None
        Clean rows.
    codes : sequence of float
        The value of y for each class.
    names : sequence
        What the user calls the classes.
    metric : Metric or None
        What gains are measured in; None where it cannot be called.
    labels : pair or Classes
        As in `Problem`.
    categorical : sequence of int
    rng : Generator
    """

    train: Data
    valid: Data | None
    codes: Sequence[float] | Floats64
    names: Sequence[Any] | NDArray[Any]
    metric: Metric | None
    labels: Any
    rng: np.random.Generator
    categorical: Sequence[int] = ()

    def __call__(self) -> Suspects:
        """Find the suspects."""
        labels, unlikely = self.judged, self.unlikely
        n, noisy = len(self.train), self.coded.noisy
        wrong = labels.wrong(noisy)
        probability = 1.0 - (1.0 - wrong) * (1.0 - unlikely)
        names = np.asarray(self.names)
        suspect = probability >= SUSPECT
        reason = np.where(unlikely > wrong, "features", "label")
        reason = np.where(self.chance & (reason == "label"), "source", reason)
        fix, drop = np.zeros(n), np.zeros(n)
        slices = self._parts(self.slices, probability, self._right(labels))
        for part, rows in slices:
            each = probability[rows] / max(part.expected, 1e-300)
            fix[rows], drop[rows] = part.gain_fix * each, part.gain_drop * each
        sources = self._parts(self.sources, probability, self._informed(labels))
        return Suspects(
            probability,
            np.where(suspect, reason, ""),
            names[noisy],
            names[labels.true.argmax(axis=1)],
            fix,
            drop,
            by_slice=ordered(slices),
            by_source=ordered(sources),
            anchored=self.valid is not None,
            metric="" if self.metric is None else self.metric.name,
            side={k: self.train.side[k] for k in ("groups", "source") if k in self.train.side},
        )

    @cached_property
    def coded(self) -> Coded:
        """Labels, cells of group and source, folds and weights as numbers."""
        codes, n = np.asarray(self.codes), len(self.train)
        noisy = np.searchsorted(codes, self.train.y)
        clean = np.searchsorted(codes, [] if self.valid is None else self.valid.y)
        cells = np.zeros(n, dtype=np.intp)
        for name in ("groups", "source"):
            if name in self.train.side:
                values, own = np.unique(self.train.side[name], return_inverse=True)
                cells = cells * len(values) + own
        found, cells = np.unique(cells, return_inverse=True)
        fold = np.concatenate([dealt(y.astype(float), self.rng, FOLDS) for y in (noisy, clean)])
        weights = np.concatenate([d.weights for d in (self.train, self.valid) if d is not None])
        if n > TRAINED:
            weights[self.rng.permutation(n)[TRAINED:]] = 0.0
        return Coded(noisy, cells, clean, len(codes), len(found), fold, weights)

    @cached_property
    def judged(self) -> Labels:
        """The labels, weighed against what clean rows and other rows say."""
        return judge_labels(self.models, self.coded)

    @cached_property
    def unlikely(self) -> Floats64:
        """The probability that a row's features are of a kind that the clean rows lack."""
        if self.valid is None:
            return np.zeros(len(self.train))
        both = stacked(self.train.X, self.valid.X)
        model: SoftModel = self.linear
        if not sparse.issparse(both):
            model = SoftTrees(both, self.categorical, trees=40, leaves=7)
        coded = self.coded
        return unlike(model, len(self.train), len(self.valid), coded.fold, coded.weights)

    @cached_property
    def linear(self) -> SoftLinear:
        """The linear model of all rows."""
        return SoftLinear(standardised(self.both, self.categorical), RIDGE)

    @cached_property
    def both(self) -> Any:
        """The features of all rows, noisy ones first; the group is one of them."""
        X = self.train.X
        return X if self.valid is None else stacked(X, self.valid.X)

    @property
    def models(self) -> list[SoftModel]:
        """Lines, and trees where the table is dense and has rows for them."""
        if sparse.issparse(self.both) or self.both.shape[0] < ROWS_FOR_TREES:
            return [self.linear]
        return [self.linear, SoftTrees(self.both, self.categorical)]

    @cached_property
    def trial(self) -> Trial | None:
        """What measures gains; None where there are no clean rows or no metric to call."""
        if self.valid is None or self.metric is None:
            return None
        problem = Problem(self.train, "logistic", self.metric, self.valid, labels=self.labels)
        coded, labels = self.coded, self.judged
        keep = (1.0 - labels.wrong(coded.noisy)) * (1.0 - self.unlikely)
        return Trial(
            SoftLinear(self.linear.X, RIDGE),
            coded.noisy,
            labels.true,
            keep,
            coded.weights[: len(self.train)],
            cost_of(self.metric, problem),
            resampled(len(self.valid), self.rng, self.metric.black_box),
        )

    @cached_property
    def slices(self) -> dict[str, NDArray[np.bool_]]:
        """The rows of each class and group."""
        groups, noisy = self.train.side.get("groups"), self.coded.noisy
        found = {}
        for code, name in enumerate(self.names):
            own = noisy == code
            if groups is None:
                found[f"class={name}"] = own
                continue
            for group in np.unique(groups):
                found[f"class={name}, groups={group}"] = own & (groups == group)
        return {name: own for name, own in found.items() if own.any()}

    @cached_property
    def sources(self) -> dict[str, NDArray[np.bool_]]:
        """The rows of each source."""
        column = self.train.side.get("source")
        return {} if column is None else {str(s): column == s for s in np.unique(column)}

    @property
    def chance(self) -> NDArray[np.bool_]:
        """Rows of sources whose labels are hardly better than chance, while others are."""
        found = np.zeros(len(self.train), dtype=bool)
        told = self._informed(self.judged)
        for name, rows in self.sources.items():
            if told[name] < min(CHANCE, max(told.values()) - BETTER):
                found |= rows
        return found

    def _informed(self, labels: Labels) -> dict[str, float]:
        each = labels.noise.informed[self.coded.slices]
        return {name: float(each[rows].mean()) for name, rows in self.sources.items()}

    def _right(self, labels: Labels) -> dict[str, float]:
        right = 1.0 - labels.wrong(self.coded.noisy)
        return {name: float(right[rows].mean()) for name, rows in self.slices.items()}

    def _parts(
        self,
        masks: dict[str, NDArray[np.bool_]],
        probability: Floats64,
        informed: dict[str, float],
    ) -> list[tuple[Part, NDArray[np.bool_]]]:
        """Describe the rows of each mask; measure gains where rows are wrong."""
        expected = {name: float(probability[rows].sum()) for name, rows in masks.items()}
        most = sorted(expected, key=lambda name: -expected[name])[:MEASURED]
        found = []
        for name, rows in masks.items():
            gain = NO_GAIN if self.trial is not None else UNKNOWN
            if self.trial is not None and name in most and expected[name] >= WORTH_A_TRIAL:
                gain = self.trial.gain(rows)
            suspects = int(np.sum(probability[rows] >= SUSPECT))
            counts = int(rows.sum()), expected[name], suspects, informed[name]
            found.append((part_of(name, counts, gain), rows))
        return found


def part_of(name: str, counts: tuple[int, float, int, float], gain: Gain) -> Part:
    """Return a part with its gain."""
    return Part(name, *counts, gain.fix, gain.drop, gain.fix_error, gain.drop_error)


def ordered(parts: list[tuple[Part, Any]]) -> tuple[Part, ...]:
    """Return parts, those with the largest share of wrong rows first."""
    return tuple(sorted((part for part, _ in parts), key=lambda part: -part.share))
