"""Credit default: Taiwanese credit card clients, 89 features."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset
from anymetric.datasets.store import SOURCES, read
from anymetric.datasets.tables import one_hot, side_by_side, standardised

_CATEGORIES = ["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6", "EDUCATION", "MARRIAGE"]
_BILLS = [f"BILL_AMT{month}" for month in range(1, 7)]
_PAYMENTS = [f"PAY_AMT{month}" for month in range(1, 7)]
_NUMBERS = ["LIMIT_BAL", "AGE", *_BILLS, *_PAYMENTS]
_DESCRIPTION = (
    "A row is a credit card client; positive: defaults next month; amounts in Taiwan dollars. "
    "Yeh, Default of Credit Card Clients, UCI Machine Learning Repository, 2009; CC BY 4.0."
)


def load_credit_default() -> Dataset:
    """Load credit default: 30,000 clients, will one default next month?

    The six payment states, education and marriage are one-hot (64 + 7 + 4 columns), the 14
    numbers are standardised over all rows. Sex is the group and no feature.

    Returns
    -------
    Dataset
        Groups ``Female`` and ``Male``; metadata columns are the 14 numbers as they were, among them
        ``LIMIT_BAL`` (the credit given) for metrics of profit.

    Examples
    --------
    >>> credit = load_credit_default()
    >>> credit
    Dataset('credit_default', 30000 x 89, 22.12 % positive, groups: Female, Male)
    >>> float(credit.side["LIMIT_BAL"][0])
    20000.0
    """
    columns = _columns(read(SOURCES["credit_default/default_of_credit_card_clients.csv"]))
    coded = {name: columns[name].astype(np.int64) for name in _CATEGORIES}
    hot = [one_hot(name, col.tolist(), np.unique(col).tolist()) for name, col in coded.items()]
    amounts = {name: columns[name] for name in _NUMBERS}
    X, names = side_by_side([*hot, standardised(amounts)])
    y = columns["default.payment.next.month"].astype(np.int64)
    groups = np.where(columns["SEX"] == 2, "Female", "Male")
    return Dataset("credit_default", X, y, groups, names, amounts, _DESCRIPTION)


def _columns(raw: bytes) -> dict[str, NDArray[np.float64]]:
    header, _, body = raw.partition(b"\n")
    table = np.loadtxt(io.BytesIO(body), delimiter=",")
    return dict(zip(header.decode().strip().split(","), table.T, strict=True))
