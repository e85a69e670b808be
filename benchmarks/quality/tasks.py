"""Tasks: a metric and a way to make its rows from a seed, by name.

Splits are 4/9 train, 2/9 validation, 1/3 test (60 : 20 : 20 for ranking). Only training rows are
ever corrupted; ``_v300`` leaves 300 of the clean validation rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from anymetric.datasets import (
    load_adult,
    load_adult_proxy,
    load_business_proxy,
    load_compas,
    load_credit_default,
    load_protein_homology,
    load_simulated,
)
from anymetric.metrics import Metric, Profit, as_metric

from . import sets
from .samples import (
    Maker,
    Parts,
    drawn,
    few_clean,
    noisy_features,
    noisy_labels,
    proxy_labels,
    whole,
)


@dataclass(frozen=True)
class Task:
    """What is to be optimised, on which rows.

    Parameters
    ----------
    name : str
    spec : str or Metric
    make : Maker
    grouped : bool
        The rows fall into groups.
    ranking : bool
        The metric reads the order of the rows, not decisions.
    corrupted : bool
        Training rows mislead; `Parts.clean` has them as they should be.
    """

    name: str
    spec: Any
    make: Maker
    grouped: bool = False
    ranking: bool = False
    corrupted: bool = False

    @cached_property
    def metric(self) -> Metric:
        """The metric itself."""
        return as_metric(self.spec)

    def parts(self, seed: int) -> Parts:
        """Return the rows of a seed: the same for every method."""
        return _made(self, seed)


@lru_cache(maxsize=2)
def _made(task: Task, seed: int) -> Parts:
    return task.make(seed)


compas, adult, credit = whole(load_compas), whole(load_adult), whole(load_credit_default)
protein = whole(load_protein_homology, "ranking")
bills = whole(sets.credit_with_bills)
wives = proxy_labels(whole(load_adult_proxy))
# The address all but gives the label away; the phone is the proxy.
phones = proxy_labels(whole(lambda: load_business_proxy(features="no_address_no_phone")))
compas_half, compas_most = noisy_features(compas, 0.5), noisy_features(compas, 0.8)
adult_half, credit_half = noisy_features(adult, 0.5), noisy_features(credit, 0.5)

# A bank may freeze a card before the bill falls due. That rescues half of a defaulter's open
# bill; every freeze costs 10,000 Taiwan dollars in fees lost and good will.
freeze = Profit(tp="saved", flag_cost=1.0)

# The mean over groups of the F-measure.
MEAN_F1 = "group_mean_f1"
_CLEAN = (
    Task("simulated_gmean", "gmean", drawn(lambda seed: load_simulated(random_state=seed))),
    Task("compas_macro_f1", MEAN_F1, compas, grouped=True),
    Task("adult_macro_f1", MEAN_F1, adult, grouped=True),
    Task("credit_macro_f1", MEAN_F1, credit, grouped=True),
    Task("credit_f2", "f2", credit, grouped=True),
    Task("credit_profit", freeze, bills, grouped=True),
    Task("credit_worst_group", "worst_group_error", credit, grouped=True),
    Task("adult_worst_group", "worst_group_balanced_error", adult, grouped=True),
    Task("protein_prbep", "prbep", protein, ranking=True),
    Task("protein_top1pct", "precision@1%", protein, ranking=True),
    Task("breast_cancer_f2", "f2", whole(sets.breast_cancer)),
    Task("digits_f1", "f1", whole(sets.digit_eight)),
    Task("wine_balanced", "balanced_error", whole(sets.second_wine)),
    Task("diabetes_f1", "f1", whole(sets.fast_diabetes)),
)
_SPOILT = (
    Task("compas_noisy50", MEAN_F1, compas_half, grouped=True, corrupted=True),
    Task(
        "compas_noisy50_v200",
        "group_mean_f1",
        few_clean(compas_half, 200),
        grouped=True,
        corrupted=True,
    ),
    Task(
        "compas_noisy80_v300",
        "group_mean_f1",
        few_clean(compas_most, 300),
        grouped=True,
        corrupted=True,
    ),
    Task("adult_noisy50", MEAN_F1, adult_half, grouped=True, corrupted=True),
    Task(
        "adult_noisy50_v500",
        "group_mean_f1",
        few_clean(adult_half, 500),
        grouped=True,
        corrupted=True,
    ),
    Task("credit_noisy50", MEAN_F1, credit_half, grouped=True, corrupted=True),
    Task(
        "credit_noisy50_v500",
        "group_mean_f1",
        few_clean(credit_half, 500),
        grouped=True,
        corrupted=True,
    ),
    Task("adult_noisy_labels", "gmean", noisy_labels, grouped=True, corrupted=True),
    Task("adult_proxy", "error", wives, corrupted=True),
    Task("adult_proxy_v300", "error", few_clean(wives, 300), corrupted=True),
    Task("business_proxy", "error", phones, grouped=True, corrupted=True),
    Task("business_proxy_v300", "error", few_clean(phones, 300), grouped=True, corrupted=True),
)

TASKS: dict[str, Task] = {task.name: task for task in (*_CLEAN, *_SPOILT)}
