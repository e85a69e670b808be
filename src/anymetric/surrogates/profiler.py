"""Profiler: all K surrogates on fixed rows, scores to profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data, Floats
from anymetric.losses import Loss, as_loss
from anymetric.surrogates.base import Bound, MatrixSlopes, Slopes, Surrogate
from anymetric.surrogates.classes import ClassLoss
from anymetric.surrogates.lists import BoundLists
from anymetric.surrogates.pairs import BoundPairs
from anymetric.surrogates.ranking import BoundPrecisionAtRecall, PrecisionAtRecall, bind_recalls
from anymetric.surrogates.slices import Sliced, Slices, shares
from anymetric.surrogates.sums import BoundSlices


@dataclass(frozen=True, eq=False)
class Profiler:
    """All K surrogates on fixed rows: scores to profiles, and the slopes of each coordinate.

    Attributes
    ----------
    surrogates : tuple of Surrogate
        In the order of the profile.
    parts : tuple of Bound
        One for each family: surrogates that share a pass.
    order : array of shape (K,)
        The place of each coordinate among the values of all parts.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> profiler = bind(per_class("hinge"), data)
    >>> profiler.names, profiler.values(np.array([0.0, 1.0])).tolist()
    (('hinge[class=-1]', 'hinge[class=+1]'), [2.0, 1.0])
    """

    surrogates: tuple[Surrogate, ...]
    parts: tuple[Bound, ...]
    order: NDArray[np.intp] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the K coordinates; one that comes again is numbered."""
        seen: Counter[str] = Counter()
        names = []
        for surrogate in self.surrogates:
            seen[surrogate.name] += 1
            count = seen[surrogate.name]
            names.append(surrogate.name if count == 1 else f"{surrogate.name} #{count}")
        return tuple(names)

    def __len__(self) -> int:
        return len(self.surrogates)

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the profile ``(K,)`` of ``(n,)`` scores, ``(m, K)`` for ``(n, m)``."""
        if len(self.parts) == 1:
            return self.parts[0].values(scores)
        return np.concatenate([part.values(scores) for part in self.parts], -1)[..., self.order]

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Return the ``(K, n)`` derivatives of the profile by the scores."""
        if len(self.parts) == 1:
            return self.parts[0].slopes(scores)
        return in_place(on_top([part.slopes(scores) for part in self.parts]), self.order)

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], Slopes]:
        """Return the profile of ``(n,)`` scores and its slopes there, from one pass."""
        found = [local(part, scores) for part in self.parts]
        if len(found) == 1:
            return found[0]
        values = np.concatenate([values for values, _ in found])
        sizes = [len(values) for values, _ in found]
        return values[self.order], Stacked(tuple(s for _, s in found), sizes, self.order)


@dataclass(frozen=True, eq=False)
class Stacked:
    """The slopes of several families, put into the order of the profile."""

    parts: tuple[Slopes, ...]
    sizes: list[int]
    order: NDArray[np.intp]

    def mixed(self, weights: NDArray[np.float64]) -> Floats:
        """Add up what each family gives."""
        placed = np.empty_like(weights)
        placed[self.order] = weights
        shares = np.split(placed, np.cumsum(self.sizes)[:-1])
        return np.asarray(sum(s.mixed(w) for s, w in zip(self.parts, shares, strict=True)))

    def matrix(self) -> sparse.csr_array:
        """Return the ``(K, n)`` derivatives."""
        parts = [sparse.csr_array(part.matrix()) for part in self.parts]
        return in_place(on_top(parts), self.order)


def local(part: Bound, scores: Floats) -> tuple[NDArray[np.float64], Slopes]:
    """Return the values and slopes of one family: in one pass, where it has one."""
    if isinstance(part, BoundSlices | BoundPrecisionAtRecall | BoundPairs | BoundLists):
        return part.local(scores)
    return part.values(scores), MatrixSlopes(part.slopes(scores))


def in_place(matrix: sparse.csr_array, order: NDArray[np.intp]) -> sparse.csr_array:
    """Return the rows of a matrix in another order."""
    in_order = np.array_equal(order, np.arange(len(order)))
    return matrix if in_order else sparse.csr_array(matrix[order])


Spec: TypeAlias = "Surrogate | Slices | Loss | str | Iterable[Surrogate | Slices | Loss | str]"


def bind(spec: Spec, data: Data) -> Profiler:
    """Bind surrogates, builders, losses or names to rows; those of one family share a pass.

    Parameters
    ----------
    spec : surrogate, builder, loss, name or a list of them
    data : Data

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> len(bind([per_class("hinge"), "logistic"], data))
    3
    """
    surrogates = expand(spec, data)
    if not surrogates:
        raise ValueError("At least one surrogate is needed; got an empty list.")
    families: dict[Any, list[int]] = {}
    for k, surrogate in enumerate(surrogates):
        families.setdefault(family(surrogate) or k, []).append(k)
    groups = [[surrogates[k] for k in members] for members in families.values()]
    parts = [bind_together(group, data) for group in groups]
    placed = [k for members in families.values() for k in members]
    return Profiler(tuple(surrogates), tuple(parts), np.argsort(placed))


def family(surrogate: Surrogate) -> Any:
    """Return what surrogates that share their work have in common; None if they share none.

    Examples
    --------
    >>> family(Sliced("hinge")) == family(Sliced("hinge", where=(("class", 1.0),)))
    True
    """
    if isinstance(surrogate, Sliced):
        return as_loss(surrogate.loss)
    if isinstance(surrogate, PrecisionAtRecall):
        return PrecisionAtRecall, surrogate.smoothing
    return surrogate.shared if isinstance(surrogate, ClassLoss) else None


def bind_together(surrogates: Sequence[Surrogate], data: Data) -> Bound:
    """Bind surrogates of one family."""
    sliced = [surrogate for surrogate in surrogates if isinstance(surrogate, Sliced)]
    if sliced:
        return BoundSlices(as_loss(sliced[0].loss), data.y, shares(sliced, data))
    losses = [surrogate for surrogate in surrogates if isinstance(surrogate, ClassLoss)]
    if losses:
        return ClassLoss.bind_all(losses, data)
    recalls = [surrogate for surrogate in surrogates if isinstance(surrogate, PrecisionAtRecall)]
    return bind_recalls(recalls, data) if recalls else surrogates[0].bind(data)


def on_top(parts: list[sparse.csr_array]) -> sparse.csr_array:
    """Put matrices of equal width on top of each other; SciPy's own way takes twice as long.

    Examples
    --------
    >>> on_top([sparse.csr_array([[1.0, 0.0]]), sparse.csr_array([[0.0, 2.0]])]).toarray().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    stored = np.cumsum([0, *(part.nnz for part in parts)])
    pointers = [p.indptr[1:] + before for p, before in zip(parts, stored, strict=False)]
    return sparse.csr_array(
        (
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            np.concatenate([[0], *pointers]),
        ),
        shape=(sum(part.shape[0] for part in parts), parts[0].shape[1]),
    )


def expand(spec: Spec, data: Data) -> list[Surrogate]:
    """Return the flat list of surrogates, with every need checked against the columns.

    Parameters
    ----------
    spec : surrogate, builder, loss, name or a list of them
    data : Data

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> [s.name for s in expand("logistic", data)]
    ['logistic[all]']
    """
    if isinstance(spec, str | Loss):
        return [Sliced(spec)]
    if isinstance(spec, Slices | Surrogate):
        missing = [column for column in spec.needs if column not in data.side]
        if missing:
            raise ValueError(
                f"The surrogates {spec!r} need the column(s) {', '.join(missing)}; "
                f"columns given: {', '.join(sorted(data.side)) or 'none'}."
            )
        return list(spec.expand(data)) if isinstance(spec, Slices) else [spec]
    if not isinstance(spec, Iterable):
        raise TypeError(
            f"Surrogates are losses, their names, builders such as per_class(), or a list of "
            f"them; got {spec!r}."
        )
    return [surrogate for part in spec for surrogate in expand(part, data)]
