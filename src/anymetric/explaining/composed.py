"""Composed: quotients, products, caps, limits and rounded values of other forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.forms import Form, Sum, short
from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class Quotient:
    """One sum over another: F-measures, Jaccard, smoothed precision.

    Examples
    --------
    >>> from anymetric.explaining.forms import Mistakes
    >>> found = Mistakes(1, 1, label="true positives")
    >>> Quotient(Sum(0.0, ((1.0, found),)), Sum(10.0, ((1.0, found),))).text()
    '(true positives) / (10 + true positives)'
    """

    top: Sum
    bottom: Sum

    @property
    def size(self) -> int:
        """That of both."""
        return self.top.size + self.bottom.size + 1

    def values(self, counts: Floats64) -> Floats64:
        """Return the quotient; 0 where both vanish."""
        top, bottom = self.top.values(counts), self.bottom.values(counts)
        return np.where(bottom < 0.0, ratio(-top, -bottom), ratio(top, bottom))

    def text(self) -> str:
        """Return it in words."""
        return f"({self.top.text()}) / ({self.bottom.text()})"


@dataclass(frozen=True)
class Power:
    """A product of rates, each to a power.

    Examples
    --------
    >>> from anymetric.explaining.forms import RateOf
    >>> Power(1.0, ((0.5, RateOf("recall")), (0.5, RateOf("precision")))).text()
    'recall^0.5 x precision^0.5'
    """

    factor: float
    terms: tuple[tuple[float, Form], ...]

    @property
    def size(self) -> int:
        """The numbers and the terms."""
        numbers = (self.factor != 1.0) + sum(power not in (1.0, 0.5) for power, _ in self.terms)
        return 1 + 2 * (len(self.terms) == 1) + numbers + sum(form.size for _, form in self.terms)

    def values(self, counts: Floats64) -> Floats64:
        """Return the product."""
        found = np.full(len(counts), self.factor)
        with np.errstate(divide="ignore", invalid="ignore"):  # a root of zero below the line
            for power, form in self.terms:
                found *= np.maximum(form.values(counts), 0.0) ** power
        return found

    def text(self) -> str:
        """Return it in words."""
        own = [] if self.factor == 1.0 else [short(self.factor)]
        for power, form in self.terms:
            name = f"({form.text()})" if " " in form.text() else form.text()
            own.append(name if power == 1.0 else f"{name}^{short(power)}")
        return " x ".join(own)


@dataclass(frozen=True)
class Capped:
    """A form that stops at a floor or at a cap.

    Examples
    --------
    >>> from anymetric.explaining.forms import RateOf
    >>> Capped(RateOf("recall"), high=0.9).text()
    'recall, at most 0.9'
    """

    of: Form
    low: float | None = None
    high: float | None = None

    @property
    def size(self) -> int:
        """That of the form, and the ends."""
        return self.of.size + (self.low is not None) + (self.high is not None) + 1

    def values(self, counts: Floats64) -> Floats64:
        """Return the values between the ends."""
        return np.clip(self.of.values(counts), self.low, self.high)

    def text(self) -> str:
        """Return it in words."""
        low = "" if self.low is None else f", at least {short(self.low)}"
        high = "" if self.high is None else f", at most {short(self.high)}"
        return f"{self.of.text()}{low}{high}"


@dataclass(frozen=True)
class Limit:
    """One form where a rate keeps a bound, another where it does not.

    Parameters
    ----------
    of : Form
    rate : Form
    bound : float
    at_least : bool
        Whether the rate must be at least the bound; otherwise at most.
    otherwise : Form

    Examples
    --------
    >>> from anymetric.explaining.forms import Constant, RateOf
    >>> Limit(RateOf("precision"), RateOf("recall"), 0.8, True, Constant(0.0)).text()
    'precision where recall >= 0.8, otherwise 0'
    """

    of: Form
    rate: Form
    bound: float
    at_least: bool
    otherwise: Form

    @property
    def size(self) -> int:
        """That of all parts, and the bound."""
        other = 2 if self.step is not None else self.otherwise.size
        return self.of.size + self.rate.size + other + 2

    @property
    def step(self) -> float | None:
        """By how much the value changes at the bound, where it is the same form beyond it."""
        other = self.otherwise
        same = isinstance(other, Sum) and other.terms == ((1.0, self.of),)
        return other.constant if same and isinstance(other, Sum) else None

    def kept(self, counts: Floats64) -> NDArray[np.bool_]:
        """Return where the bound is kept."""
        beyond = self.rate.values(counts) - self.bound
        return np.asarray(beyond >= -1e-12 if self.at_least else beyond <= 1e-12)

    def values(self, counts: Floats64) -> Floats64:
        """Return the values of one form or of the other."""
        kept = self.kept(counts)
        return np.where(kept, self.of.values(counts), self.otherwise.values(counts))

    def text(self) -> str:
        """Return it in words."""
        sign = ">=" if self.at_least else "<="
        where = f"{self.of.text()} where {self.rate.text()} {sign} {short(self.bound)}"
        if self.step is None:
            return f"{where}, otherwise {self.otherwise.text()}"
        return f"{where}, otherwise {short(abs(self.step))} {'less' if self.step < 0 else 'more'}"


@dataclass(frozen=True)
class Rounded:
    """A form in whole steps.

    Examples
    --------
    >>> from anymetric.explaining.forms import RateOf
    >>> Rounded(RateOf("F1"), 0.01).text()
    'F1, rounded to 0.01'
    """

    of: Form
    step: float
    down: bool = False

    @property
    def size(self) -> int:
        """That of the form, and the step."""
        return self.of.size + 1

    def values(self, counts: Floats64) -> Floats64:
        """Return the nearest step, or the one below."""
        steps = self.of.values(counts) / self.step
        return np.asarray((np.floor(steps + 1e-9) if self.down else np.rint(steps)) * self.step)

    def text(self) -> str:
        """Return it in words."""
        return f"{self.of.text()}, rounded {'down ' if self.down else ''}to {short(self.step)}"
