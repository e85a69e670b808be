"""Records: what is proposed, what is trained, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.losses import Loss
from anymetric.models import Scorer
from anymetric.rules import FittedRule

Floats64 = NDArray[np.float64]
LINEAR = "linear"
# Above this strength a proposal means smaller models for families other than linear ones.
SMALL = 50.0


@dataclass(frozen=True)
class Weighting:
    """The weights of rows in training, as settings that do not hold the rows.

    Attributes
    ----------
    rows : {"train", "valid", "both", "all"}
        Which sample trains; "all" where there is only one. Validation rows are cross-fitted.
    share : float
        The validation rows' part of the whole weight, where both train.
    importance : float
        Power of the density ratio between validation and training rows.
    balance : float
        Degree of class balancing: 0 for none, 1 for equal weights.
    only : (column, value, bool) or None
        Only rows with this value of a column or, with False, only those with others.
    amounts : (column, class) or None
        Rows of a class (-1, 1; 0 for both) weigh by a column of amounts.
    cells : tuple of (class, group, factor)
        Factors of the rows of a class in a group.
    half : (class, 0 or 1) or None
        Of a class only one of two clusters.
    relative : bool
        Rows weigh by one over the size of their target: errors count by their share of it.

    Examples
    --------
    >>> Weighting(importance=1.0, balance=1.0).name
    'train importance-weighted, balanced'
    >>> Weighting("both", share=0.5).name
    'train + valid 0.5'
    """

    rows: str = "train"
    share: float = 0.0
    importance: float = 0.0
    balance: float = 0.0
    only: tuple[str, Any, bool] | None = None
    amounts: tuple[str, int] | None = None
    cells: tuple[tuple[float, Any, float], ...] = ()
    half: tuple[float, int] | None = None
    relative: bool = False

    @property
    def name(self) -> str:
        """Its name in reports."""
        parts = ["train" if self.rows == "both" else self.rows]
        if self.importance:
            parts[0] += " importance-weighted"
        if self.rows == "both":
            parts[0] += f" + valid {self.share:.2g}"
        if self.only is not None:
            column, value, chosen = self.only
            parts.append(f"{column} {value}" if chosen else f"{column} not {value}")
        if self.amounts is not None:
            rows = {-1: "negatives ", 1: "positives ", 0: ""}[self.amounts[1]]
            parts.append(f"{rows}by {self.amounts[0]}")
        parts += [f"class {y:+g} of {group} x {factor:g}" for y, group, factor in self.cells]
        if self.half is not None:
            parts.append(f"half {self.half[1] + 1} of class {self.half[0]:+g}")
        if self.relative:
            parts.append("relative")
        if self.balance:
            parts.append("balanced" if self.balance == 1.0 else "half balanced")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Proposal:
    """What to train: weights of the rows, a loss, a family, a strength of regularisation.

    Attributes
    ----------
    weighting : Weighting
    strength : float
        Ridge, in units of one effective row; other families read above `SMALL` as "smaller".
    loss : Loss, optional
        Other than the family's usual one.
    family : str
    surrogates : array of shape (K,), optional
        Weights of the problem's surrogates, where they train in place of a loss by row.
    note : str
        What else the name says.

    Examples
    --------
    >>> Proposal(Weighting(), 100.0).name
    'train, ridge 100'
    """

    weighting: Weighting
    strength: float = 10.0
    loss: Loss | None = None
    family: str = LINEAR
    surrogates: Floats64 | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """Its name in reports."""
        parts = [] if self.family == LINEAR else [f"{self.family}:"]
        named = [self.note] if self.surrogates is not None else [self.weighting.name, self.note]
        size = "small" if self.strength > SMALL else ""
        size = f"ridge {self.strength:g}" if self.family == LINEAR else size
        loss = "" if self.loss is None else label_of(self.loss)
        parts.append(", ".join(part for part in (*named, loss, size) if part))
        return " ".join(parts)

    @property
    def about(self) -> dict[str, Any]:
        """What there is to list of it.

        Examples
        --------
        >>> Proposal(Weighting()).about
        {'family': 'linear', 'weighting': 'train', 'strength': 10.0}
        """
        what = self.note if self.surrogates is not None else self.weighting.name
        found = {"family": self.family, "weighting": what, "strength": self.strength}
        return found if self.loss is None else {**found, "loss": label_of(self.loss)}

    @property
    def plain(self) -> bool:
        """Whether this is an unweighted fit with the usual loss."""
        usual = self.loss is None or self.loss.name == "squared"
        return usual and self.weighting in (Weighting(), Weighting("all"))


def label_of(loss: Loss) -> str:
    """Return a loss's name with its settings.

    Examples
    --------
    >>> from anymetric.losses import Huber, Squared
    >>> label_of(Huber(0.2)), label_of(Squared())
    ('huber(0.2)', 'squared')
    """
    settings = [f"{getattr(loss, one.name):g}" for one in fields(loss)]  # type: ignore[arg-type]
    return f"{loss.name}({', '.join(settings)})" if settings else loss.name


@dataclass(frozen=True, eq=False)
class Candidate:
    """A line of the predictions table: a trained proposal and its out-of-fold scores.

    Attributes
    ----------
    proposal : Proposal
    scorer : Scorer
        The model of all rows that the proposal lets train.
    valid : array of shape (n_valid, C)
        Out-of-fold scores of the validation rows.
    state : object
        What the family wants to remember: to begin another fit from, for instance.
    """

    proposal: Proposal
    scorer: Scorer
    valid: Floats64
    state: Any = None


@dataclass(frozen=True, eq=False)
class Assessment:
    """What scores cost at the best setting of the decision rule.

    Attributes
    ----------
    offsets : array of shape (C,)
        What the rule adds to the scores.
    cost : float
        On the validation rows.
    resampled : array of shape (B,)
        On bootstrap resamples of them.
    scores : array of shape (n, C)
        With the offsets; where these have many parameters, with offsets tuned on other rows.
    scale : float
        What the rule multiplies scores with, before it adds the offsets.
    rule : FittedRule or None
        The decision rule for these scores, where it reads metadata; None where they are
        decided for above zero.
    nearby : array of shape (B,), optional
        The mean cost on resamples over settings of the rule near the chosen one: candidates are
        compared by it, for it has less noise than the cost at one setting.
    about : mapping
        What was assessed, for lists of the open questions.

    Examples
    --------
    >>> import numpy as np
    >>> Assessment(np.zeros(1), 0.3, np.array([0.1, 0.2]), np.zeros((2, 1))).mean.__round__(6)
    0.2
    """

    offsets: Floats64
    cost: float
    resampled: Floats64
    scores: Floats64
    scale: float = 1.0
    rule: FittedRule | None = None
    nearby: Floats64 | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean cost over the rows and their resamples."""
        return float(np.mean(np.append(self.compared, self.cost)))

    @property
    def compared(self) -> Floats64:
        """The costs on resamples by which candidates are compared."""
        return self.resampled if self.nearby is None else self.nearby

    def gain(self, other: Assessment) -> tuple[float, float]:
        """Return by how much this costs less than another, and the standard error of that."""
        gain = other.compared - self.compared
        return float(gain.mean()), float(gain.std())


@dataclass(eq=False)
class Predictions:
    """The table that all parts share: candidates x rows x outputs, with their proposals.

    Examples
    --------
    >>> len(Predictions())
    0
    """

    candidates: list[Candidate] = field(default_factory=list)
    assessments: list[Assessment] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.candidates)

    def add(self, candidate: Candidate, assessment: Assessment) -> None:
        """Write a line."""
        self.candidates.append(candidate)
        self.assessments.append(assessment)

    @property
    def scores(self) -> Floats64:
        """Out-of-fold scores, ``(candidates, rows, outputs)``."""
        return np.stack([one.valid for one in self.candidates])

    @property
    def best(self) -> int:
        """The line of the lowest mean cost."""
        return int(np.argmin([one.mean for one in self.assessments]))

    def cost_of(self, proposal: Proposal) -> float:
        """Return the mean cost of a proposal; infinite where it has no line.

        Examples
        --------
        >>> Predictions().cost_of(Proposal(Weighting()))
        inf
        """
        for candidate, one in zip(self.candidates[::-1], self.assessments[::-1], strict=True):
            if candidate.proposal is proposal:
                return float(one.mean)
        return float("inf")

    def of(self, family: str) -> list[int]:
        """Return the lines of a family."""
        return [k for k, one in enumerate(self.candidates) if one.proposal.family == family]

    def take(self, lines: list[int]) -> Predictions:
        """Return some lines."""
        assessments = [self.assessments[k] for k in lines]
        return Predictions([self.candidates[k] for k in lines], assessments)
