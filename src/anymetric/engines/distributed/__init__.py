"""Distributed: rows on a Dask cluster; nothing else in the package knows of Dask."""

from anymetric.engines.distributed.rows import (
    DaskCollection,
    DaskRows,
    OnDask,
    client_of,
    is_collection,
)
from anymetric.engines.distributed.waiting import Awaited

__all__ = ["Awaited", "DaskCollection", "DaskRows", "OnDask", "client_of", "is_collection"]
