"""Store: what a run has been told, kept so that nothing is lost and nothing is paid for twice."""

from anymetric.store.records import Evaluation, Posed
from anymetric.store.store import Store, open_store

__all__ = ["Evaluation", "Posed", "Store", "open_store"]
