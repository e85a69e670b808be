"""Store: the recorded evaluations of a run, so that none is lost or made twice."""

from anymetric.store.records import Evaluation, Posed
from anymetric.store.store import Store, open_store

__all__ = ["Evaluation", "Posed", "Store", "open_store"]
