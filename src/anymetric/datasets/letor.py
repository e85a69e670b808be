"""LETOR sample: LightGBM's small learning-to-rank example."""

from __future__ import annotations

import io
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.datasets import load_svmlight_file

from anymetric.datasets.dataset import Dataset, no_groups
from anymetric.datasets.store import SOURCES, read

_FEATURES = 300
_PARTS = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}
_DESCRIPTION = (
    "A row is a document for a query; positive: relevance at or above a threshold. "
    "LightGBM's lambdarank example; MIT licence."
)


def load_letor_sample(
    subset: Literal["train", "test", "all"] = "train", *, relevant: int = 3, sparse: bool = False
) -> Dataset:
    """Load the LETOR sample: documents of 201 + 50 queries, relevance 0 to 4, 300 features.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        3,005 rows, 768 rows, or both; in ``"all"`` the test queries are numbered after the
        training ones.
    relevant : int
        The lowest relevance that counts as positive: 3 makes 9.7 % of the training rows so.
    sparse : bool
        Return X as a csr_array: a third of the values are other than 0.

    Returns
    -------
    Dataset
        No groups; metadata columns ``query`` and ``relevance``.

    Examples
    --------
    >>> load_letor_sample()
    Dataset('letor_sample', 3005 x 300, 9.68 % positive, groups: all)
    """
    if subset not in _PARTS:
        raise ValueError(f"subset must be one of {sorted(_PARTS)}; got {subset!r}.")
    matrices, relevances, sizes = zip(*(_part(name) for name in _PARTS[subset]), strict=True)
    relevance = np.concatenate(relevances)
    queries = np.concatenate(sizes)
    X = sp.csr_array(sp.vstack(matrices))
    side = {"query": np.repeat(np.arange(queries.size), queries), "relevance": relevance}
    y = (relevance >= relevant).astype(np.int64)
    names = [f"feature_{k}" for k in range(1, _FEATURES + 1)]
    groups = no_groups(len(y))
    matrix = X if sparse else X.toarray()
    return Dataset("letor_sample", matrix, y, groups, names, side, _DESCRIPTION)


def _part(name: str) -> tuple[sp.csr_array, NDArray[np.int64], NDArray[np.int64]]:
    raw = read(SOURCES[f"letor_sample/rank.{name}"])
    matrix, relevance = load_svmlight_file(io.BytesIO(raw), n_features=_FEATURES, zero_based=False)
    sizes = read(SOURCES[f"letor_sample/rank.{name}.query"]).split()
    return sp.csr_array(matrix), relevance.astype(np.int64), np.array(sizes, dtype=np.int64)
