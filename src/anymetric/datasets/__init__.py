"""Datasets: the paper's data, its splits and its corruptions, one loader for each.

Adult, COMPAS and credit default are shipped. The others are read from the folder named by
``ANYMETRIC_DATA``, from the cache folder (``ANYMETRIC_CACHE``, or ``~/.cache/anymetric``), or
are downloaded where they are published.
"""

from anymetric.datasets.adult import (
    NoisyLabels,
    load_adult,
    load_adult_noisy_labels,
    load_adult_proxy,
)
from anymetric.datasets.business import load_business_pairs, load_business_proxy
from anymetric.datasets.compas import load_compas
from anymetric.datasets.corruptions import corrupt_features, flip_labels
from anymetric.datasets.credit import load_credit_default
from anymetric.datasets.dataset import Dataset
from anymetric.datasets.kdd2008 import load_kdd_cup_2008
from anymetric.datasets.letor import load_letor_sample
from anymetric.datasets.protein import load_protein_homology
from anymetric.datasets.simulated import LinearOptimum, best_linear_gmean, load_simulated
from anymetric.datasets.splits import Split, split

__all__ = [
    "Dataset",
    "LinearOptimum",
    "NoisyLabels",
    "Split",
    "best_linear_gmean",
    "corrupt_features",
    "flip_labels",
    "load_adult",
    "load_adult_noisy_labels",
    "load_adult_proxy",
    "load_business_pairs",
    "load_business_proxy",
    "load_compas",
    "load_credit_default",
    "load_kdd_cup_2008",
    "load_letor_sample",
    "load_protein_homology",
    "load_simulated",
    "split",
]
