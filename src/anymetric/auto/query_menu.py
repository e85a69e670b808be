"""Blends by query: what is tried of each family, and which of it is best so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from anymetric.auto.average import Judged
from anymetric.auto.blends import Blend, Served
from anymetric.auto.kitchens import QueryKitchen
from anymetric.auto.pool import LINEAR

# Ridge, in units of one row; of a large sample the first will do.
STRENGTHS = (30.0, 300.0, 3000.0)
# More rows than this are enough to train on without those that judge.
LARGE = 20_000


def plain_blends(kitchen: QueryKitchen, family: str = LINEAR) -> Iterator[Blend]:
    """Yield every surrogate alone and all in equal parts; linear models with each ridge."""
    names = kitchen.problem.names
    K = len(names)
    rows = [*zip(names, np.eye(K), strict=True)]
    rows += [("all", np.full(K, 1.0 / K))] if K > 1 else []
    if family != LINEAR:
        yield from (Blend(f"{name}, {family}", weights, family=family) for name, weights in rows)
        return
    large = len(kitchen.problem.train) > LARGE
    for strength in STRENGTHS[:1] if large or kitchen.few else STRENGTHS:
        for name, weights in rows:
            yield Blend(f"{name}, {strength:g}", weights, strength)


def blend_of(judged: Judged) -> Blend:
    """Return the blend that a judged candidate was trained on."""
    assert isinstance(judged.candidate, Served)
    return judged.candidate.blend


def ranked(judged: Sequence[Judged], family: str = LINEAR) -> list[Blend]:
    """Return the blends of a family, the best on average over the replicates first."""
    own = [one for one in judged if blend_of(one).family == family]
    costs = [float(np.mean(np.append(j.tuned.replicates, j.tuned.cost))) for j in own]
    return [blend_of(own[k]) for k in np.argsort(costs, kind="stable")]


def distinct(blends: Sequence[Blend]) -> list[Blend]:
    """Keep the first of those with equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = (Blend("", np.ones(1), strength) for strength in (3.0, 30.0))
    >>> [blend.strength for blend in distinct([one, two])]
    [3.0]
    """
    kept: list[Blend] = []
    for blend in blends:
        if not any(np.array_equal(blend.weights, other.weights) for other in kept):
            kept.append(blend)
    return kept


def nearest(judged: Sequence[Judged], blend: Blend) -> Served | None:
    """Return the candidate of the most alike blend of its family; None if there is none."""
    served = [j.candidate for j in judged if isinstance(j.candidate, Served)]
    own = [one for one in served if one.blend.family == blend.family]
    return min(own, key=lambda one: blend.distance(one.blend), default=None)
