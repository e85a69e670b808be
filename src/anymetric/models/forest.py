"""Forest: scikit-learn's extremely randomised trees as a model family, scored out of bag."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import ExtraTreeRegressor
from sklearn.tree._tree import Tree

from anymetric.data import Data, Matrix
from anymetric.models.base import Scorer
from anymetric.models.reweighted import Fitted

Floats64 = NDArray[np.float64]
# The rows and cells that a forest is grown on. With more rows a file would have tens of megabytes.
FEWEST_ROWS, MOST_ROWS, MOST_CELLS = 50, 5_000, 2_000_000
# Columns that are tried at each split for numbers.
MOST_COLUMNS = 30
# Trees read single precision.
LARGEST = float(np.finfo(np.float32).max)


class Forest(BaseEstimator):  # type: ignore[misc]
    """Extremely randomised trees: the average of trees that split at random, each on a resample.

    Scores are shares of a class, or predicted numbers. A row's out-of-bag score is the average of
    the trees that did not train on it: one fit yields scores for all rows.

    Parameters
    ----------
    trees : int
    columns : "auto" or float
        Share of the columns that is tried at each split. ``auto``: for classes the square root of
        their number, for numbers all of them, but no more than 30.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0))
    >>> grown = Forest(trees=50).learn(data, np.ones(200), rng)
    >>> bool(np.mean((grown.out_of_bag > 0.0) == (data.y > 0.0)) > 0.8)
    True
    """

    # Missing values are read as they are.
    missing = True

    def __init__(self, trees: int = 100, *, columns: Literal["auto"] | float = "auto") -> None:
        self.trees = trees
        self.columns = columns

    @property
    def family(self) -> str:
        """The family's name in reports."""
        return "forest"

    def suits(self, data: Data) -> bool:
        """Return whether the rows are few enough: beyond, boosted trees are better and smaller.

        Examples
        --------
        >>> import numpy as np
        >>> [Forest().suits(Data(np.zeros((n, 2)), np.zeros(n))) for n in (500, 50_000)]
        [True, False]
        """
        n, d = data.X.shape
        return bool(MOST_ROWS >= n >= FEWEST_ROWS and n * d <= MOST_CELLS)

    def learn(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Scorer | None = None,
    ) -> Grown:
        """Grow all trees on the rows that weigh something."""
        used = np.flatnonzero(rows > 0.0)
        y, weights = data.y[used], rows[used]
        if classes > 2:
            y = (y[:, np.newaxis] == np.arange(classes)) - 1.0 / classes
        elif classes == 2:
            y = np.where(y > 0.0, 0.5, -0.5)
        # Rows are drawn by their weights: of more draws, heavy rows would be in every bag.
        draws = max(int(weights.sum() ** 2 / (weights**2).sum()), 1)
        bags = rng.multinomial(draws, weights / weights.sum(), size=self.trees)
        columns = self._columns(data.X.shape[1], classes)
        return grown(data.X[used], y, bags, columns, int(rng.integers(2**31)))

    def _columns(self, d: int, classes: int) -> float | int | str:
        if not isinstance(self.columns, str):
            return self.columns
        return "sqrt" if classes else min(d, MOST_COLUMNS)


@dataclass(frozen=True, eq=False)
class Grown(Fitted):
    """Grown trees, with the out-of-bag scores of the rows that trained them.

    Attributes
    ----------
    out_of_bag : array of shape (n,) or (n, C)
        They are not kept in files.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.arange(40.0)[:, np.newaxis], np.repeat([-1.0, 1.0], 20))
    >>> grown = Forest(20).learn(data, np.ones(40), np.random.default_rng(0))
    >>> grown.out_of_bag.shape, np.sign(grown.scores(data.X[[0, 39]])).tolist()
    ((40,), [-1.0, 1.0])
    """

    out_of_bag: Floats64 = field(default_factory=lambda: np.zeros(0), repr=False)

    def scores(self, X: Matrix) -> Floats64:
        """Return the average of the trees."""
        return super().scores(single(X))

    def __getstate__(self) -> dict[str, Any]:
        """Return nothing but numbers and arrays, so that a file of them can be read safely."""
        forest = self.estimator
        trees = [one.tree_ for one in forest.estimators_]
        nodes = np.concatenate([tree.__getstate__()["nodes"] for tree in trees])
        return {
            "sizes": np.array([tree.node_count for tree in trees]),
            "depths": np.array([tree.max_depth for tree in trees]),
            "nodes": {name: nodes[name].copy() for name in nodes.dtype.names or ()},
            "values": np.concatenate([tree.value for tree in trees]),
            "columns": forest.n_features_in_,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, columns = state["values"], state["columns"]
        ends = np.cumsum(state["sizes"])
        forest = empty_forest(len(ends), columns, values.shape[1])
        whole = np.empty(len(values), dtype=node_type())
        for name in whole.dtype.names or ():
            whole[name] = state["nodes"][name]
        for end, size, depth in zip(ends, state["sizes"], state["depths"], strict=True):
            place = slice(end - size, end)
            tree = planted(whole[place], values[place], int(depth), columns)
            forest.estimators_.append(tree)
        fields = {"estimator": forest, "classes": 0, "out_of_bag": np.zeros(0)}
        self.__dict__.update(fields)


def grown(X: Matrix, y: Floats64, bags: NDArray[np.int64], columns: Any, seed: int) -> Grown:
    """Grow a tree on each bag; a row's out-of-bag score is zero if it is in all of them.

    scikit-learn's own loop spends more time on checks of each tree than on small trees.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> found = grown(X, y, np.array([[1, 0, 1, 1], [1, 2, 0, 2]]), 1, 0)
    >>> found.scores(X).tolist(), found.out_of_bag.tolist()
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0])
    """
    rows: Any = single(X)
    held = rows.tocsc() if sparse.issparse(X) else rows
    missing = bool(np.isnan(held.data if sparse.issparse(X) else held).any())
    y = y.reshape(len(y), -1).astype(np.float64)
    forest, total = empty_forest(len(bags), X.shape[1], y.shape[1]), np.zeros(y.shape)
    for number, bag in enumerate(bags):
        tree = ExtraTreeRegressor(max_features=columns, random_state=seed + number)
        tree.fit(held, y, sample_weight=bag.astype(np.float64), check_input=missing)
        out = bag == 0
        if out.any():
            total[out] += tree.predict(rows[out], check_input=False).reshape(-1, y.shape[1])
        forest.estimators_.append(tree)
    mean = total / np.maximum(np.sum(bags == 0, axis=0), 1)[:, np.newaxis]
    return Grown(forest, 0, mean[:, 0] if y.shape[1] == 1 else mean)


def empty_forest(trees: int, columns: int, outputs: int) -> ExtraTreesRegressor:
    """Return a forest of scikit-learn's that waits for its trees."""
    forest = ExtraTreesRegressor(trees, bootstrap=True)
    forest.n_features_in_, forest.n_outputs_, forest.estimators_ = columns, outputs, []
    return forest


def planted(nodes: NDArray[Any], values: Floats64, depth: int, columns: int) -> ExtraTreeRegressor:
    """Return the tree of some nodes; one whose ways lead nowhere is refused."""
    left, right, here = nodes["left_child"], nodes["right_child"], np.arange(len(nodes))
    inner = left != -1
    ways = np.concatenate([left[inner] - here[inner], right[inner] - here[inner]])
    reached = max(left.max(initial=-1), right.max(initial=-1)) < len(nodes)
    read = nodes["feature"][inner]
    if np.any(ways <= 0) or not reached or np.any((read < 0) | (read >= columns)):
        raise ValueError("The trees of this forest are damaged: a node leads out of its tree.")
    outputs = values.shape[1]
    tree = ExtraTreeRegressor()
    tree.n_features_in_, tree.n_outputs_ = columns, outputs
    tree.tree_ = Tree(columns, np.ones(outputs, dtype=np.intp), outputs)
    tree.tree_.__setstate__(
        {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    )
    return tree


@cache
def node_type() -> np.dtype[Any]:
    """Return the type of a tree's node in this version of scikit-learn."""
    stump = ExtraTreeRegressor().fit(np.zeros((1, 1)), np.zeros(1))
    nodes: NDArray[Any] = stump.tree_.__getstate__()["nodes"]
    return nodes.dtype


def single(X: Matrix) -> Matrix:
    """Return features in single precision, those beyond it at its limits.

    Examples
    --------
    >>> single(np.array([[1e300, 1.0]])).tolist()
    [[3.4028234663852886e+38, 1.0]]
    """
    if not sparse.issparse(X):
        return np.clip(X, -LARGEST, LARGEST).astype(np.float32)
    rows = X.tocsr()
    data = np.clip(rows.data, -LARGEST, LARGEST).astype(np.float32)
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
