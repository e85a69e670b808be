"""Sets: the datasets of the tasks that need more than a loader of the package."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn import datasets as bundled

from anymetric.datasets import Dataset, load_credit_default
from anymetric.datasets.dataset import no_groups

# Taiwan dollars to a unit of profit, and what a freeze rescues of the open bill.
UNIT = 10_000.0
RESCUED = 0.5


def credit_with_bills() -> Dataset:
    """Credit default, and what freezing a card in time would save: metadata column ``saved``.

    Half of the last open bill, in units of 10,000 Taiwan dollars; no bill, nothing to save.
    """
    credit = load_credit_default()
    saved = RESCUED * np.maximum(credit.side["BILL_AMT1"], 0.0) / UNIT
    return replace(credit, side={**credit.side, "saved": saved})


def breast_cancer() -> Dataset:
    """Tumours, 569 x 30; positive: malignant, 37 %."""
    bunch = bundled.load_breast_cancer()
    return _table("breast_cancer", bunch.data, bunch.target == 0, bunch.feature_names)


def digit_eight() -> Dataset:
    """Handwritten digits, 1,797 x 64; positive: an eight, 10 %."""
    bunch = bundled.load_digits()
    return _table("digits", bunch.data, bunch.target == 8, bunch.feature_names)


def second_wine() -> Dataset:
    """Wines of three growers, 178 x 13; positive: the second grower's, 40 %."""
    bunch = bundled.load_wine()
    return _table("wine", bunch.data, bunch.target == 1, bunch.feature_names)


def fast_diabetes() -> Dataset:
    """Diabetes patients, 442 x 10; positive: among the quarter whose disease moves fastest."""
    bunch = bundled.load_diabetes()
    fast = bunch.target > np.quantile(bunch.target, 0.75)
    return _table("diabetes", bunch.data, fast, bunch.feature_names)


def _table(name: str, X: np.ndarray, positive: np.ndarray, names: list[str]) -> Dataset:
    y = positive.astype(np.int64)
    return Dataset(name, np.asarray(X, dtype=np.float64), y, no_groups(len(y)), list(names))
