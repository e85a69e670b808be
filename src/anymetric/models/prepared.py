"""Prepared: rows that LightGBM has binned once, to be trained on many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anymetric.models.trees import EarlyStopping, Grown, lightgbm

if TYPE_CHECKING:
    from anymetric.models.boosted import Boosted

Floats64 = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows binned once, that candidates and folds share; `Boosted.prepare` makes it.

    The bins are those of all rows, whichever of them train.

    Attributes
    ----------
    learner : Boosted
    binned : lightgbm.Dataset
    y : array of shape (n,)
    classes : int

    Examples
    --------
    Out-of-fold scores, with the stopping point found on the rows that are left out:

    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.models.boosted import Boosted
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0))
    >>> prepared = Boosted(trees=50).prepare(data)
    >>> scores, fold = np.empty(400), np.arange(400) % 5
    >>> for k in range(5):
    ...     out = np.flatnonzero(fold == k)
    ...     rows = np.where(fold == k, 0.0, 1.0)
    ...     grown = prepared.fit(rows, rng, stopping=[(out, np.ones(len(out)))])
    ...     scores[out] = grown.scores(X[out], grown.best)
    >>> bool(np.mean((scores > 0.0) == (data.y > 0.0)) > 0.9)
    True
    """

    learner: Boosted
    binned: Any
    y: Floats64
    classes: int = 2

    def __len__(self) -> int:
        return len(self.y)

    def using(self, learner: Boosted) -> Prepared:
        """Return the same bins for other settings: leaves, learning rate, loss and so on.

        Examples
        --------
        >>> import numpy as np
        >>> from anymetric.data import Data
        >>> from anymetric.models.boosted import Boosted
        >>> family = Boosted(trees=5)
        >>> prepared = family.prepare(Data(np.arange(90.0).reshape(30, 3), np.ones(30)))
        >>> smaller = prepared.using(family.stiffer())
        >>> smaller.learner.leaves, smaller.binned is prepared.binned
        (7, True)
        """
        if learner.binning(len(self)) != self.learner.binning(len(self)):
            raise ValueError(
                f"{learner} needs other bins than {self.learner}: call its own `prepare`."
            )
        return replace(self, learner=learner)

    def fit(
        self,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        stopping: Sequence[tuple[Indices, Floats64]] = (),
        trees: int | None = None,
        begun: Floats64 | None = None,
    ) -> Grown:
        """Train on the rows that have weight, until the validation sets have lost patience.

        Parameters
        ----------
        rows : array of shape (n,)
            Weights; rows of weight zero do not train.
        rng : numpy Generator
        stopping : sequence of (indices, weights)
            Validation sets of rows that do not train: the loss of each is recorded tree by tree.
        trees : int, optional
            Instead of the learner's `trees`.
        begun : array of shape (n,) or (n, classes), optional
            Scores of all rows, to which the trees are added.
        """
        used = np.flatnonzero(rows > 0.0)
        train = self._part(used, rows[used], begun)
        valid = [
            self._part(index, weights, begun) if weights.sum() > 0.0 else None
            for index, weights in stopping
        ]
        sizes = np.array([float(weights.sum()) for _, weights in stopping])
        named = self.learner.parameters(rng, self.y[used], self.classes)
        trees = self.learner.trees if trees is None else trees
        return boosted(named, train, valid, sizes, trees, self.learner.patience)

    def _part(self, index: Indices, weights: Floats64, begun: Floats64 | None) -> Any:
        """Return some rows with their weights; LightGBM wants them in order."""
        order = np.argsort(index, kind="stable")
        part = self.binned.subset(index[order].tolist()).construct()
        part.set_weight(of_mean_one(weights[order]))
        if begun is not None:
            part.set_init_score(begun[index[order]])
        return part


def boosted(
    named: dict[str, Any],
    train: Any,
    valid: Sequence[Any],
    sizes: Floats64,
    trees: int,
    patience: int,
) -> Grown:
    """Add trees until all validation sets have lost patience.

    This is ``lightgbm.train`` without its copy of the model through text and its callbacks, which
    take a third of the time where the tables are small. A set that is None has no weight: its
    losses are zero.
    """
    booster = lightgbm().Booster(named, train)
    some = np.array([one is not None for one in valid], dtype=bool)
    for k, one in enumerate(valid):
        if one is not None:
            booster.add_valid(one, str(k))
    stopping = EarlyStopping(sizes[some], patience)
    going, empty = True, 0
    for _ in range(trees):
        empty = empty + 1 if booster.update() else 0
        # LightGBM drops a tree without splits, but for the first.
        if some.any() and (empty == 0 or not stopping.curves):
            going = stopping.record([found[2] for found in booster.eval_valid()])
        if not going or empty >= patience:
            break
    curves = np.zeros((len(stopping.curves), len(valid)))
    if stopping.curves:
        curves[:, some] = np.array(stopping.curves)
    return Grown(booster, curves, sizes, patience)


def of_mean_one(weights: Floats64) -> Floats64:
    """Return weights of mean one: a leaf's least weight is in units of rows.

    Examples
    --------
    >>> import numpy as np
    >>> of_mean_one(np.array([2.0, 6.0])).tolist()
    [0.5, 1.5]
    """
    return np.asarray(weights * (len(weights) / weights.sum()))
