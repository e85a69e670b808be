"""Tasks: the rows, the metric and the surrogates of each experiment, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from anymetric import tuning
from anymetric.datasets import (
    Dataset,
    load_adult,
    load_adult_noisy_labels,
    load_adult_proxy,
    load_business_pairs,
    load_business_proxy,
    load_compas,
    load_credit_default,
    load_protein_homology,
    load_simulated,
)
from anymetric.metrics import Metric, as_metric
from anymetric.paper.samples import (
    Maker,
    Parts,
    drawn,
    noisy_features,
    proxy_labels,
    scaled_numbers,
    whole,
)
from anymetric.surrogates import PrecisionAtRecall, per_class, per_class_and_group

# Section 6.2: the share of group 0's training rows that are corrupted.
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
BUSINESS = "business_sites/early_childhood_sites.csv"
PROTEIN = "protein_homology/bio_train.dat"


@dataclass(frozen=True)
class Task:
    """What is to be optimised, on which rows, with which surrogates of the paper's.

    Parameters
    ----------
    name : str
    label : str
        For tables.
    spec : str
        The metric.
    make : Maker
    surrogates : function from a loss to surrogates
        The paper's.
    steps, sigmas : sequences of float
        The paper's grid.
    loss : str
        The paper's, where a method does not ask for another.
    batch : int, optional
        Rows that follow the perturbations.
    standardize : bool
        Whether the paper's algorithm sees standardised features: where those of the data that
        stand in for the paper's are far from zeros and ones.
    ranking : bool
    file : str
        The data file that must be there, if it is not shipped.
    pace : float
        Seconds of an iteration with 1000 perturbations, about: for the estimate of the time left.

    Examples
    --------
    >>> TASKS["compas_noise0"].metric.name
    'group_mean_f1'
    """

    name: str
    label: str
    spec: str
    make: Maker
    surrogates: Callable[[Any], Any]
    steps: Sequence[float] = tuning.FMEASURE_STEPS
    sigmas: Sequence[float] = tuning.FMEASURE_SIGMAS
    loss: str = "hinge"
    batch: int | None = None
    standardize: bool = False
    ranking: bool = False
    file: str = ""
    pace: float = 1.0

    @cached_property
    def metric(self) -> Metric:
        """The metric itself."""
        return as_metric(self.spec)

    def parts(self, seed: int) -> Parts:
        """Return the rows of a seed: the same for every method."""
        return made(self.name, seed)


@lru_cache(maxsize=1)
def made(name: str, seed: int) -> Parts:
    """Return a task's rows; the last ones are cached."""
    return TASKS[name].make(seed)


def notebook(seed: int) -> Parts:
    """Return the authors' notebook's rows: seed 0 draws the very ones that it draws."""
    task = load_adult_noisy_labels(random_state="notebook" if seed == 0 else seed)
    train, valid, test = (by_workforce(part) for part in (task.train, task.validation, task.test))
    return Parts(train, valid, test, replace(train, y=train.side["clean_y"]))


def by_workforce(rows: Dataset) -> Dataset:
    """Return the rows in the notebook's two groups, in its order: private workforce and the rest.

    Examples
    --------
    >>> sorted(set(by_workforce(load_adult()).groups.tolist()))
    ['private', 'rest']
    """
    private = rows.side["workforce"] == "private"
    return replace(rows, groups=np.where(private, "private", "rest"))


def quantiles(loss: str) -> list[PrecisionAtRecall]:
    """Return the surrogates of section 6.3; they have no loss to choose.

    Examples
    --------
    >>> [surrogate.recall for surrogate in quantiles("hinge")]
    [0.25, 0.5, 0.75]
    """
    return [PrecisionAtRecall(recall) for recall in (0.25, 0.5, 0.75)]


def business() -> Dataset:
    """Return business pairs without the address, which all but gives the label away."""
    return load_business_pairs(features="no_address")


def business_proxy() -> Dataset:
    """Return the proxy task without the address, and without the phone, which is the proxy."""
    return load_business_proxy(features="no_address_no_phone")


_FAIR = {
    "business": Task(
        "business",
        "Business",
        "group_mean_f1",
        scaled_numbers(whole(business)),
        per_class_and_group,
        file=BUSINESS,
        pace=0.11,
    ),
    "compas": Task(
        "compas",
        "COMPAS",
        "group_mean_f1",
        scaled_numbers(whole(load_compas)),
        per_class_and_group,
        pace=0.085,
    ),
    "adult": Task(
        "adult", "Adult", "group_mean_f1", whole(load_adult), per_class_and_group, pace=0.72
    ),
    "credit": Task(
        "credit",
        "Default",
        "group_mean_f1",
        whole(load_credit_default),
        per_class_and_group,
        pace=0.55,
    ),
}
FAIR = tuple(_FAIR)


def noisy(name: str, level: float) -> Task:
    """Return a task of section 6.2 with so much noise.

    Examples
    --------
    >>> noisy("adult", 0.4).name
    'adult_noise40'
    """
    task = _FAIR[name]
    make = noisy_features(task.make, level) if level else task.make
    return replace(task, name=f"{name}_noise{round(100 * level)}", make=make)


_OTHERS = (
    Task(
        "simulated",
        "Simulated",
        "gmean",
        drawn(lambda seed: load_simulated(random_state=seed)),
        per_class,
        pace=0.04,
    ),
    Task(
        "protein",
        "Protein homology",
        "prbep",
        whole(load_protein_homology, "ranking"),
        quantiles,
        tuning.RANKING_STEPS,
        tuning.RANKING_SIGMAS,
        batch=100,
        standardize=True,
        ranking=True,
        file=PROTEIN,
        pace=5.4,
    ),
    Task(
        "adult_proxy",
        "Adult",
        "error",
        proxy_labels(whole(load_adult_proxy)),
        per_class,
        tuning.PROXY_STEPS,
        tuning.PROXY_SIGMAS,
        pace=0.68,
    ),
    Task(
        "business_proxy",
        "Business",
        "error",
        proxy_labels(whole(business_proxy)),
        per_class,
        tuning.PROXY_STEPS,
        tuning.PROXY_SIGMAS,
        file=BUSINESS,
        pace=0.12,
    ),
    Task(
        "adult_notebook",
        "Adult, 30 % of the positive labels flipped",
        "gmean",
        notebook,
        per_class_and_group,
        loss="sigmoid",
        pace=2.1,
    ),
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (*_OTHERS, *(noisy(name, level) for name in FAIR for level in LEVELS))
}
