"""Examples that read data from elsewhere run where there is such data."""

import os

import pytest

READING = {
    "anymetric.datasets.business.load_business_pairs",
    "anymetric.datasets.business.load_business_proxy",
    "anymetric.datasets.letor.load_letor_sample",
    "anymetric.datasets.protein.load_protein_homology",
    "anymetric.datasets.sites.read_sites",
}


def pytest_collection_modifyitems(items):
    """Skip those examples where there is none."""
    if os.environ.get("ANYMETRIC_DATA"):
        return
    skip = pytest.mark.skip(reason="ANYMETRIC_DATA names no data folder")
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in READING:
            item.add_marker(skip)
