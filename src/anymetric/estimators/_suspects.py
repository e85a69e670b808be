"""Suspects and surprises: what a fit says about its rows, computed when it is first asked for.

A fit keeps a reference to its rows for that, never a copy of any size; pickles leave them out.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from anymetric.data import Data
from anymetric.metrics import Classes
from anymetric.surprises import surprises

# Rows that had to be converted are kept up to this many bytes.
KEPT = 1 << 28
# What pickles leave out.
TRANSIENT = ("_sample_kept", "_suspects", "_surprises")

listing: ContextVar[bool] = ContextVar("listing", default=False)


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows of a fit: how many were given, which of them train, and the clean rows if any.

    Attributes
    ----------
    given : int
    kept : array of int
        The rows of positive weight.
    train : Data
    clean : Data or None
        The validation rows that were given beside the training rows.
    held_out : (Data, array) or None
        Validation rows with scores of models that they did not train.
    """

    given: int
    kept: np.ndarray
    train: Data
    clean: Data | None
    held_out: tuple | None = None


class FindsSuspects:
    """The attributes `suspects_` and `surprises_` of a fitted estimator."""

    def _keep_rows(self, X, known, train, clean):
        """Keep a reference to the rows, unless that holds a large copy of them in memory."""
        for name in TRANSIENT:
            self.__dict__.pop(name, None)
        if shares(X, train.X) or size_of(train.X) <= KEPT:
            self._sample_kept = FittedRows(*known, train, clean)

    def _keep_scores(self, rows, scores):
        """Keep out-of-fold scores of the validation rows."""
        if "_sample_kept" in self.__dict__:
            self._sample_kept = replace(self._sample_kept, held_out=(rows, scores))

    @property
    def surprises_(self):
        """What stands out in the rows and in the run, in sentences; a tuple of `Surprise`."""
        if "_surprises" not in self.__dict__:
            rows = self._fitted_rows("surprises_")
            self._surprises = surprises(self, rows.train, rows.clean, rows.held_out)
        return self._surprises

    def _fitted_rows(self, name):
        rows = self.__dict__.get("_sample_kept")
        if rows is None or (listing.get() and f"_{name[:-1]}" not in self.__dict__):
            raise AttributeError(
                f"{name} is there after fit, and not after loading a model from a file: rows are "
                "not saved with it. anymetric.suspects.find(X, y, X_val=..., y_val=...) finds "
                "suspects without a fit."
            )
        return rows

    def _get_fitted_attr_html(self, doc_link=""):
        # What takes seconds is not computed only to be listed.
        with only_listing():
            return super()._get_fitted_attr_html(doc_link)


class SuspectLabels(FindsSuspects):
    """The same with `suspects_`, for classes."""

    @property
    def suspects_(self):
        """Training rows whose label or features the clean rows contradict; a `Suspects` table.

        Computed when it is first asked for, in about the time of the fit. Clean rows are those
        given as `X_val` and `y_val`; without them, out-of-fold predictions alone contradict labels.
        """
        if "_suspects" not in self.__dict__:
            rows = self._fitted_rows("suspects_")
            labels = self._classes or self._labels()
            if isinstance(labels, Classes) and not labels.exclusive:
                raise AttributeError("suspects_ is there for classes; y has several labels a row.")
            self._suspects = self._searched(rows, labels)
        return self._suspects

    def _searched(self, rows, labels):
        """Search the rows."""
        from anymetric.suspects.finding import Search

        many = isinstance(labels, Classes)
        codes = np.arange(float(len(labels.names))) if many else np.asarray(self._codes())
        names = labels.names if many else labels
        rng = np.random.default_rng(check_random_state(0).randint(2**31))
        metric = self.metric_ if self.max_metric_calls is None else None
        asked = getattr(self.metric_, "inner", self.metric_)
        if getattr(asked, "takes_all", False):  # a program or a person: each answer has its price
            metric = None
        search = Search(rows.train, rows.clean, codes, names, metric, labels, rng)
        search = replace(search, categorical=tuple(self._category_places()))
        return search().spread_over(rows.given, rows.kept)


@contextmanager
def only_listing():
    """Let attributes that take time be left out of a list of all attributes."""
    token = listing.set(True)
    try:
        yield
    finally:
        listing.reset(token)


def shares(given, X):
    """Return whether X is the user's own array, or a view of it.

    Examples
    --------
    >>> X = np.zeros((2, 2))
    >>> shares(X, X[:, :1]), shares(X, X.copy()), shares([[0.0]], X)
    (True, False, False)
    """
    # A sparse matrix of another format, such as a dictionary of keys, is no view of X.
    own, other = (getattr(one, "data", None) if sparse.issparse(one) else one for one in (given, X))
    return isinstance(own, np.ndarray) and np.may_share_memory(own, other)


def size_of(X):
    """Return how many bytes the numbers of a matrix take."""
    return (X.data if sparse.issparse(X) else X).nbytes
