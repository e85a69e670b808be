"""Trees: what LightGBM has grown, cut to size and kept as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Matrix

Floats64 = NDArray[np.float64]
# The least relative improvement of a validation loss: for separable classes it would fall without
# end. Ten times as much costs 48,000 rows 1.3 % of log loss.
GAIN = 1e-5


@dataclass
class Patience:
    """Follows a loss step by step: where it was least, and whether that is too long ago.

    Parameters
    ----------
    limit : int
        So many steps without a lower loss are too long.
    share : float
        A loss is lower if it is so by this share of the first one.

    Examples
    --------
    >>> patience = Patience(2)
    >>> [patience.see(loss) for loss in (0.5, 0.4, 0.6, 0.7, 0.1)]
    [True, True, True, False, False]
    >>> patience.best
    2
    """

    limit: int
    share: float = 0.0
    best: int = 0
    count: int = 0
    least: float = np.inf
    gain: float = 0.0

    @property
    def lost(self) -> bool:
        """Whether nothing better has come for so many steps."""
        return self.count - self.best >= self.limit

    def see(self, loss: float) -> bool:
        """Take one more loss, unless patience is lost; return whether it is not."""
        if not self.lost:
            self.count += 1
            if self.count == 1:
                self.gain = self.share * loss
            if loss < self.least - self.gain:
                self.best, self.least = self.count, loss
        return not self.lost


@dataclass(eq=False)
class EarlyStopping:
    """Records the losses of validation sets, and says when training ends.

    It goes on until all together have lost patience, and all without each one too: no set's own
    losses end what the others would have seen.

    Attributes
    ----------
    sizes : array of shape (sets,)
        How much the rows of each weigh.
    limit : int
    curves : list of lists
        The losses of the sets, tree by tree.

    Examples
    --------
    >>> import numpy as np
    >>> stopping = EarlyStopping(np.array([30.0, 10.0]), limit=1)
    >>> [stopping.record(losses) for losses in ([0.5, 0.5], [0.4, 0.6], [0.6, 0.7])]
    [True, True, False]
    """

    sizes: Floats64
    limit: int
    curves: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        every = np.ones(len(self.sizes), dtype=bool)
        panels = [every, *~np.eye(len(every), dtype=bool)] if len(every) > 1 else [every]
        self.panels = np.array(panels) * self.sizes  # (panels, sets)
        self.patience = [Patience(self.limit, GAIN) for _ in panels]

    def record(self, losses: list[float]) -> bool:
        """Record the losses after one more tree; return whether to go on."""
        self.curves.append(losses)
        sums = (self.panels @ losses).tolist()
        going = [patience.see(loss) for patience, loss in zip(self.patience, sums, strict=True)]
        return any(going)


def best_tree(curves: Floats64, sizes: Floats64, limit: int) -> int:
    """Return the number of trees with the least loss, until the validation sets lose patience.

    Examples
    --------
    >>> import numpy as np
    >>> curves, sizes = np.array([[0.5, 0.9], [0.4, 0.9], [0.6, 0.8]]), np.array([1.0, 3.0])
    >>> best_tree(curves, sizes, 5), best_tree(curves, np.array([1.0, 0.0]), 1)
    (3, 2)
    """
    patience = Patience(limit, GAIN)
    for loss in curves @ sizes:
        patience.see(float(loss))
    return patience.best


@dataclass(frozen=True, eq=False)
class Grown:
    """A booster with the losses of its validation sets, tree by tree.

    Attributes
    ----------
    booster : lightgbm.Booster
    curves : array of shape (trees, sets)
    sizes : array of shape (sets,)
        How much the rows of each weigh.
    patience : int
    """

    booster: Any
    curves: Floats64
    sizes: Floats64
    patience: int

    @property
    def best(self) -> int:
        """The number of trees that is best on all validation sets."""
        return best_tree(self.curves, self.sizes, self.patience)

    def best_without(self, one: int) -> int:
        """Return the number of trees that is best on all validation sets but one."""
        others = np.arange(len(self.sizes)) != one
        return best_tree(self.curves[:, others], self.sizes[others], self.patience)

    def scores(self, X: Matrix, trees: int) -> Floats64:
        """Return the scores of the first trees."""
        return raw_scores(self.booster, X, trees)

    def cut(self, trees: int) -> Trees:
        """Return the model of the first trees."""
        return Trees(self.booster.model_to_string(num_iteration=trees))


@dataclass(eq=False)
class Rounds:
    """Boosting round by round, each along a gradient by the scores that the caller gives.

    Attributes
    ----------
    booster : lightgbm.Booster
        It knows its training rows and its validation sets.
    splits : bool
        Whether any feature can be split at all.
    count : int
        Rounds so far.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.models.boosted import Boosted
    >>> X = np.arange(60.0)[:, np.newaxis]
    >>> rounds = Boosted().rounds(Data(X, np.ones(60)), np.random.default_rng(0))
    >>> rounds.add(np.where(X[:, 0] > 29.0, -1.0, 1.0))
    True
    >>> rounds.reached()[0][[0, 59]].round(1).tolist()
    [-0.1, 0.1]
    """

    booster: Any
    splits: bool = True
    count: int = 0

    def add(self, gradient: Floats64) -> bool:
        """Add a tree against the gradient; return whether it could be split at all.

        The second derivative is taken to be the gradient's size: a leaf's value lies between
        minus one and one, times the learning rate, whatever the loss.
        """
        if not self.splits:
            return False
        size = np.abs(gradient)
        mean = max(float(size.mean()), np.finfo(float).tiny)
        derivatives = gradient / mean, size / mean + 1e-3
        empty = self.booster.update(fobj=lambda scores, data: derivatives)
        self.count += not empty
        return not empty

    def reached(self) -> list[Floats64]:
        """Return the scores of the training rows, then of each validation set.

        The booster keeps them itself: reading them costs less than predicting.
        """
        found: list[Floats64] = []

        def note(scores: Floats64, data: Any) -> tuple[str, float, bool]:
            found.append(np.array(scores, dtype=np.float64))
            return "scores", 0.0, False

        self.booster.eval_train(note)
        self.booster.eval_valid(note)
        return found

    def scores(self, X: Matrix, rounds: int) -> Floats64:
        """Return the scores of the first rounds."""
        return raw_scores(self.booster, X, rounds) if rounds else np.zeros(X.shape[0])

    def cut(self, rounds: int) -> Trees:
        """Return the model of the first rounds."""
        return Trees(self.booster.model_to_string(num_iteration=rounds))


@dataclass(frozen=True, eq=False)
class Trees:
    """Trained trees, kept as LightGBM's own text: they pickle, and nothing in them is code.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.models.boosted import Boosted
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> data = Data(X, np.where(X[:, 0] > 19.0, 1.0, -1.0))
    >>> trained = Boosted(5, held_out=0.0, least_rows=2).learn(
    ...     data, np.ones(40), np.random.default_rng(0)
    ... )
    >>> trained.best_iteration_, trained.booster_.num_trees()
    (5, 5)
    """

    text: str

    @property
    def booster_(self) -> Any:
        """The lightgbm.Booster itself."""
        if "_booster" not in self.__dict__:
            booster = lightgbm().Booster(model_str=self.text)
            object.__setattr__(self, "_booster", booster)
        return self.__dict__["_booster"]

    @property
    def best_iteration_(self) -> int:
        """The number of rounds."""
        return int(self.booster_.current_iteration())

    def scores(self, X: Matrix) -> Floats64:
        """Return log-odds, ``(n, C)`` scores of C > 2 classes, or predictions."""
        return raw_scores(self.booster_, X)

    def __getstate__(self) -> dict[str, str]:
        return {"text": self.text}

    def __setstate__(self, state: dict[str, str]) -> None:
        object.__setattr__(self, "text", state["text"])


def raw_scores(booster: Any, X: Matrix, trees: int = -1) -> Floats64:
    """Return the sums of the leaves' values, of some trees or all."""
    found = booster.predict(
        plain_matrix(X),
        raw_score=True,
        num_iteration=trees,
        num_threads=1,
        validate_features=False,
    )
    return np.asarray(found, dtype=np.float64)


def plain_matrix(X: Matrix) -> Any:
    """Return a sparse X in the older form that lightgbm knows."""
    older: Any = sparse.csr_matrix
    return older(X) if sparse.issparse(X) else X


def lightgbm() -> Any:
    """Import lightgbm: only where trees are trained, for it takes a while.

    Examples
    --------
    >>> lightgbm().__name__
    'lightgbm'
    """
    return import_module("lightgbm")
