"""Samples: the makers of the paper's experiments, and those of this benchmark only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets import load_adult_noisy_labels
from anymetric.paper.samples import (
    CORRUPTED_GROUP,
    Kind,
    Maker,
    Parts,
    bind,
    drawn,
    groups_of,
    noisy_features,
    proxy_labels,
    side_of,
    strata,
    whole,
)

__all__ = [
    "CORRUPTED_GROUP",
    "Kind",
    "Maker",
    "Parts",
    "bind",
    "drawn",
    "evenly",
    "few_clean",
    "groups_of",
    "noisy_features",
    "noisy_labels",
    "proxy_labels",
    "side_of",
    "strata",
    "whole",
]


def few_clean(make: Maker, rows: int) -> Maker:
    """Keep only so many validation rows, evenly from every class of every group."""

    def cut(seed: int) -> Parts:
        parts = make(seed)
        kept = evenly(strata(parts.valid), rows, np.random.default_rng([seed, 2]))
        return replace(parts, valid=parts.valid.take(kept))

    return cut


def noisy_labels(seed: int) -> Parts:
    """Return the authors' notebook's setting with rows and flips of this seed."""
    task = load_adult_noisy_labels(random_state=seed)
    clean = replace(task.train, y=task.train.side["clean_y"])
    return Parts(task.train, task.validation, task.test, clean)


def evenly(values: NDArray[Any], rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return so many row numbers with every value in its share, to within a row."""
    if rows > len(values):
        raise ValueError(f"{rows} rows are needed; there are {len(values)}.")
    order = rng.permutation(len(values))
    order = order[np.argsort(values[order], kind="stable")]
    places = (np.arange(rows) + rng.random()) * (len(values) / rows)
    return np.sort(order[places.astype(np.intp)])
