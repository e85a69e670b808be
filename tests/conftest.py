"""What many tests share: small problems with a known answer."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from anymetric.data import Data

# Tests run side by side: threads of theirs would wait for each other.
threadpool_limits(limits=1)


@pytest.fixture
def rng():
    return np.random.default_rng(20200713)


def blobs(rng, n=300, d=4, positives=0.3, dtype=np.float64):
    """Two overlapping Gaussian classes, with a group and an amount beside them."""
    y = np.where(rng.random(n) < positives, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = (rng.normal(size=(n, d)) + 0.8 * y[:, None] * np.arange(d) / d).astype(dtype)
    side = {"groups": rng.choice(["a", "b"], n), "amount": rng.exponential(size=n)}
    return Data(X, y, side=side)


@pytest.fixture
def data(rng):
    return blobs(rng)


@pytest.fixture
def small_samples(monkeypatch):
    """Compare candidates on 1,000 rows of more than 2,000."""
    for module in ("auto.screening", "estimators._stored"):
        monkeypatch.setattr(f"anymetric.{module}.SCREENED", 1000)
    monkeypatch.setattr("anymetric.auto.screening.sampled.__defaults__", (1000,))
