"""Classes: surrogates of many classes or labels, multinomial or one against the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data, Floats
from anymetric.losses import Loss, as_loss
from anymetric.metrics.classes import Classes
from anymetric.surrogates.slices import Sliced, Slices
from anymetric.surrogates.sums import BoundSlices

SOFTMAX = "softmax"


@dataclass(frozen=True, eq=False)
class ClassLoss:
    """A loss of many scores a row, averaged over a slice of the rows.

    ``softmax``: the cross-entropy of the multinomial model, ``log sum_j exp f_j - f_y``. A
    margin loss: one class against the rest, summed over the classes; or, with an `output`, of
    that class or label alone.

    Parameters
    ----------
    classes : Classes
    loss : Loss or str
    where : tuple of pairs of column and value
        ``class`` is the code of the target. Empty: all rows.
    output : int, optional
        The class or label whose score alone is read.
    sign : bool, optional
        With an output: only rows that have it (True), or that have not (False).

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
    >>> one = ClassLoss(Classes(("a", "b", "c")), where=(("class", 1.0),))
    >>> one.name, one.bind(data).values(np.zeros(9)).round(3).tolist()
    ('softmax[class=b]', [1.099])
    """

    classes: Classes
    loss: Loss | str = SOFTMAX
    where: tuple[tuple[str, Any], ...] = ()
    output: int | None = None
    sign: bool | None = None

    @property
    def name(self) -> str:
        """The loss with its slice, classes by the user's names."""
        called = SOFTMAX if self.loss == SOFTMAX else as_loss(self.loss).name
        pairs = [f"{column}={self._shown(column, value)}" for column, value in self.where]
        if self.output is not None:
            sign = {True: "+", False: "-", None: ""}[self.sign]
            pairs.insert(0, f"label={sign}{self.classes.names[self.output]}")
        return f"{called}[{', '.join(pairs) or 'all'}]"

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the slice reads."""
        return tuple(column for column, _ in self.where if column != "class")

    @property
    def shared(self) -> Any:
        """What surrogates that are bound together have in common."""
        return ClassLoss, self.loss if self.loss == SOFTMAX else as_loss(self.loss)

    def chosen(self, data: Data) -> NDArray[np.bool_]:
        """Return which rows belong to the slice."""
        chosen = Sliced("logistic", self.where).chosen(data)
        if self.output is not None and self.sign is not None:
            own = self.classes.table[:, self.output]
            chosen &= own[data.y.astype(np.intp)] == self.sign
        return chosen

    def share(self, data: Data) -> NDArray[np.float64]:
        """Return the weight of every row in the slice, summing to one; none is an error."""
        rows = np.where(self.chosen(data), data.weights, 0.0)
        if not rows.sum() > 0.0:
            raise ValueError(
                f"Surrogate {self.name!r} selects no rows of positive weight among {len(data)}. "
                "Drop it, or give rows of that slice."
            )
        return np.asarray(rows / rows.sum())

    def bind(self, data: Data) -> BoundMultinomial | BoundEntries:
        """Fix the rows."""
        return self.bind_all([self], data)

    @staticmethod
    def bind_all(surrogates: Sequence[ClassLoss], data: Data) -> BoundMultinomial | BoundEntries:
        """Fix the rows of several that share a loss."""
        first = surrogates[0]
        if first.loss == SOFTMAX:
            shares = sparse.csr_array(np.stack([s.share(data) for s in surrogates]))
            return BoundMultinomial(data.y.astype(np.intp), shares, len(first.classes))
        signs = np.where(first.classes.members(data.y), 1.0, -1.0)
        entries = sparse.csr_array(sparse.vstack([s._entries(data) for s in surrogates]))
        return BoundEntries(BoundSlices(as_loss(first.loss), signs.reshape(-1), entries))

    def _entries(self, data: Data) -> sparse.csr_array:
        """Return the weights of the entries of the table, ``(1, n C)``: few slices have many."""
        share, C = self.share(data), len(self.classes)
        rows = np.flatnonzero(share)
        outputs = np.arange(C) if self.output is None else np.array([self.output])
        places = (rows[:, np.newaxis] * C + outputs).reshape(-1)
        stored = np.repeat(share[rows], len(outputs)), places, np.array([0, len(places)])
        return sparse.csr_array(stored, shape=(1, len(share) * C))

    def _shown(self, column: str, value: Any) -> str:
        if column == "class" and self.classes.exclusive:
            return str(self.classes.names[int(value)])
        return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class BoundMultinomial:
    """Slices of the softmax cross-entropy on fixed rows, from one pass over the scores."""

    y: NDArray[np.intp]
    shares: sparse.csr_array
    count: int

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return ``(k,)`` values for ``(n C,)`` scores, ``(m, k)`` for ``(n C, m)``."""
        table = scores.reshape(len(self.y), self.count, -1).astype(np.float64)
        top = table.max(axis=1, keepdims=True)
        sums = np.log(np.exp(table - top).sum(axis=1)) + top[:, 0]
        losses = sums - table[np.arange(len(self.y)), self.y]
        values = np.asarray(self.shares @ losses)
        return values[:, 0] if scores.ndim == 1 else np.ascontiguousarray(values.T)

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Return the ``(k, n C)`` derivatives: each row's probabilities, less its class."""
        table = scores.reshape(len(self.y), self.count).astype(np.float64)
        slope = np.exp(table - table.max(axis=1, keepdims=True))
        slope /= slope.sum(axis=1, keepdims=True)
        slope[np.arange(len(self.y)), self.y] -= 1.0
        S, C = self.shares, self.count
        data = (S.data[:, np.newaxis] * slope[S.indices]).reshape(-1)
        columns = (S.indices[:, np.newaxis] * C + np.arange(C)).reshape(-1)
        stored = (data, columns, S.indptr * C)
        return sparse.csr_array(stored, shape=(S.shape[0], len(self.y) * C))


@dataclass(frozen=True, eq=False)
class BoundEntries:
    """Slices of a margin loss over entries of the table of scores."""

    entries: BoundSlices

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Average the losses over the entries of each slice."""
        return self.entries.values(scores)

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Return the ``(k, n C)`` derivatives."""
        return self.entries.slopes(scores)


def class_losses(
    spec: Any, classes: Classes, data: Data, by: Sequence[str] = ()
) -> list[ClassLoss]:
    """Return what a user's surrogates mean for many classes: ``auto``, losses, names, builders.

    ``auto``: the softmax per class, or for sets of labels the logistic loss of each label, for
    the rows that have it and those that have not; by the columns of `by` too. A margin loss is
    taken one class against the rest. Slices without rows are left out.

    Parameters
    ----------
    spec : "auto", surrogate, builder, loss, name or a list of them
    classes : Classes
    data : Data
    by : sequence of str
        Metadata columns.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
    >>> [s.name for s in class_losses("hinge", Classes(("a", "b", "c")), data)]
    ['hinge[all]']
    >>> len(class_losses("auto", Classes(("a", "b", "c")), data))
    3
    """
    if isinstance(spec, ClassLoss):
        return [spec]
    if isinstance(spec, str) and spec == "auto":
        loss = SOFTMAX if classes.exclusive else "logistic"
        return _sliced(classes, loss, ("class", *by), data)
    if isinstance(spec, Slices):
        return _sliced(classes, spec.loss, spec.by, data)
    if isinstance(spec, Sliced) and spec.rows is None:
        return [ClassLoss(classes, spec.loss, spec.where)]
    if isinstance(spec, str | Loss):
        return [ClassLoss(classes, spec)]
    if isinstance(spec, Iterable):
        return [loss for part in spec for loss in class_losses(part, classes, data, by)]
    raise TypeError(
        f"With many classes, surrogates are 'softmax', margin losses, per_class(loss) and other "
        f"builders of slices, ClassLoss, or a list of them; got {spec!r}."
    )


def _sliced(classes: Classes, loss: Loss | str, by: Sequence[str], data: Data) -> list[ClassLoss]:
    if classes.exclusive:
        plain = Slices("logistic", tuple(by)).expand(data)
        every = [ClassLoss(classes, loss, s.where) for s in plain]
    else:
        columns = tuple(column for column in by if column != "class")
        wheres = [s.where for s in Slices("logistic", columns).expand(data)]
        signs = (False, True) if "class" in by else (None,)
        every = [
            ClassLoss(classes, loss, where, output, sign)
            for where in wheres
            for output in range(len(classes))
            for sign in signs
        ]
    return [one for one in every if np.any(one.chosen(data) & (data.weights > 0.0))]
