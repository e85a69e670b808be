"""Certify: training rows order the thresholds, validation rows test them one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.certificates.certificate import Certificate, Claim
from anymetric.certificates.evidence import evidence
from anymetric.certificates.readers import Evidence
from anymetric.certificates.readings import Reading, first_true
from anymetric.certificates.sequence import Scored, denoised, fixed_sequence, thresholds, walk
from anymetric.metrics import Metric

Floats64 = NDArray[np.float64]
# A bound that training rows hold nowhere with a better chance than this has wrong labels to blame.
HOPELESS = 0.5
MOST_ROWS = 1e4  # times the rows that there are: beyond that, no number of rows is named


@dataclass(frozen=True, eq=False)
class Certified:
    """The certificate of every claim, and where the scores are cut.

    Examples
    --------
    >>> from anymetric.metrics import Precision
    >>> one = Certificate(Claim(Precision(), 0.8), True, 0.84, 0.8, 212, 1000, 0.07)
    >>> Certified((one,), 0.3).holds
    True
    """

    certificates: tuple[Certificate, ...]
    threshold: float

    @property
    def holds(self) -> bool:
        """Whether every claim is certified."""
        return all(one.certified for one in self.certificates)


def certify(
    claims: tuple[Claim, ...],
    train: Scored,
    valid: Scored,
    objective: Metric,
    *,
    most: int = 100,
) -> Certified:
    """Return the most useful threshold at which validation rows certify every claim.

    Thresholds and their order come from `train`, whose scores must be out of fold: no validation
    row chooses anything but among thresholds that are certified.

    Parameters
    ----------
    claims : tuple of Claim
    train, valid : Scored
        Rows with scores of models that they did not train.
    objective : Metric
        What makes a threshold useful.
    most : int
        Thresholds in the sequence, at most.

    Examples
    --------
    >>> from anymetric.metrics import Precision, Recall, Rows
    >>> rng = np.random.default_rng(0)
    >>> def sample(n):
    ...     y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    ...     return Scored(Rows(y, np.ones(n)), rng.normal(1.5 * y))
    >>> found = certify((Claim(Precision(), 0.8),), sample(2000), sample(1000), Recall())
    >>> print(*found.certificates)
    precision >= 0.80 at 90 %: 0.8... on ... flagged of 1,000 held-out rows
    """
    levels = thresholds(train.scores, most)
    readers = [evidence(claim.metric, valid.rows) for claim in claims]
    order = walk(
        predicted_safety(claims, train, len(valid.rows), levels, readers),
        values_at(objective, train, levels),
    )

    def p_value(k: int) -> float:
        return joint(claims, readings(readers, valid, levels[k]))

    passed = fixed_sequence(order, lambda k: p_value(k) <= 1.0)
    if not passed:
        return at(claims, readers, valid, float(levels[order[0]]), certified=False)
    use = values_at(objective, valid, levels[passed])
    best = passed[int(np.flatnonzero(use == use.max())[-1])]
    return at(claims, readers, valid, float(levels[best]), certified=True)


def certify_as_it_is(claims: tuple[Claim, ...], valid: Scored) -> Certified:
    """Certify decisions as they are: a sequence of one.

    Examples
    --------
    >>> from anymetric.metrics import Accuracy, Rows
    >>> y = np.tile([1.0, -1.0], 50)
    >>> found = certify_as_it_is((Claim(Accuracy(), 0.9),), Scored(Rows(y, np.ones(100)), y))
    >>> print(*found.certificates)
    accuracy >= 0.90 at 90 %: 1.00 on 50 flagged of 100 held-out rows
    """
    readers = [evidence(claim.metric, valid.rows) for claim in claims]
    holds = joint(claims, readings(readers, valid, 0.0)) <= 1.0
    return at(claims, readers, valid, 0.0, certified=holds)


def joint(claims: tuple[Claim, ...], found: list[Reading], scale: float = 1.0) -> float:
    """Return the largest p-value, each as a part of the risk of its claim.

    That some claim does not hold is refuted where each is: at one and below.
    """
    pairs = zip(claims, found, strict=True)
    return max(read.p_value(c.level, c.at_least, scale) / c.risk for c, read in pairs)


def readings(readers: list[Evidence], sample: Scored, threshold: float) -> list[Reading]:
    """Return what rows say at a threshold."""
    return [reader.read(sample.rows, sample.scores - threshold) for reader in readers]


def predicted_safety(
    claims: tuple[Claim, ...],
    train: Scored,
    rows: int,
    levels: Floats64,
    readers: list[Evidence],
) -> Floats64:
    """Return how surely so many rows like the training rows would certify, at each threshold."""
    scale = rows / len(train.rows)
    risk = max(claim.risk for claim in claims)

    def safety(sample: Scored) -> Floats64:
        found = [joint(claims, readings(readers, sample, level), scale) for level in levels]
        return -np.log(np.maximum(found, 1e-300))

    plain = safety(train)
    if plain.max() >= -np.log(HOPELESS / risk):
        return plain
    return safety(denoised(train))


def values_at(metric: Metric, sample: Scored, levels: Floats64) -> Floats64:
    """Return how good a metric is at each threshold: higher is better."""
    rows = sample.rows
    bound = metric.bind(rows.y, weights=rows.weights, side=rows.side, labels=rows.labels, X=rows.X)
    return np.array([-float(bound.costs(sample.scores - level)) for level in levels])


def at(
    claims: tuple[Claim, ...],
    readers: list[Evidence],
    valid: Scored,
    threshold: float,
    *,
    certified: bool,
) -> Certified:
    """Write the certificates of one threshold."""
    found = readings(readers, valid, threshold)
    made = [
        written(claim, reader, reading, valid, threshold, certified)
        for claim, reader, reading in zip(claims, readers, found, strict=True)
    ]
    return Certified(tuple(made), threshold)


def written(
    claim: Claim,
    reader: Evidence,
    reading: Reading,
    valid: Scored,
    threshold: float,
    certified: bool,
) -> Certificate:
    """Write one certificate."""
    labels, groups = valid.rows.labels, valid.rows.side.get("groups")
    two = valid.scores.ndim == 1 and bool(np.all(np.abs(valid.rows.y) == 1.0))
    return Certificate(
        claim,
        certified,
        reading.value,
        claim.level if certified else best_level(claim, reading),
        int(np.sum(valid.scores > threshold)) if two else None,
        len(valid.rows),
        reading.p_value(claim.level, claim.at_least),
        None if certified else rows_needed(claim, reading, len(valid.rows)),
        reader.approximate,
        threshold if two else None,
        tuple(labels or (-1.0, 1.0)) if two else None,
        () if groups is None else tuple(np.unique(groups).tolist()),
    )


def best_level(claim: Claim, reading: Reading) -> float:
    """Return the highest level that the rows certify at the claim's risk, or the lowest."""
    width = 1.0
    sign = -1.0 if claim.at_least else 1.0  # levels to certify grow easier along the search

    def certain(move: float) -> bool:
        return reading.p_value(reading.value + sign * move, claim.at_least) <= claim.risk

    while not certain(width) and width < 1e9:
        if claim.at_least and reading.value - width <= 0.0 <= reading.value:
            return 0.0
        width *= 2.0
    return reading.value + sign * first_true(certain, 0.0, width, 40)


def rows_needed(claim: Claim, reading: Reading, rows: int) -> int | None:
    """Return how many rows like these would certify, to two digits; None if no number would."""
    certain: Callable[[float], bool] = lambda log_scale: (  # noqa: E731
        reading.p_value(claim.level, claim.at_least, float(np.exp(log_scale))) <= claim.risk
    )
    ahead = reading.value - claim.level
    most = np.log(MOST_ROWS)
    if (ahead if claim.at_least else -ahead) <= 0.0 or not certain(most):
        return None
    needed = rows * float(np.exp(first_true(certain, 0.0, most, 40)))
    digits = 10.0 ** max(0, int(np.floor(np.log10(needed))) - 1)
    return int(np.ceil(needed / digits) * digits)
