"""Boosted: LightGBM's trees as a model family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from anymetric.data import Data
from anymetric.losses import Huber, Loss, Lp
from anymetric.models.base import Scorer
from anymetric.models.prepared import Prepared, boosted, of_mean_one
from anymetric.models.trees import Grown, Rounds, Trees, lightgbm, plain_matrix

Floats64 = NDArray[np.float64]
# The defaults were chosen on 50 imbalanced tables of 92 to 3,316 rows with 8 to 429 positives, and
# on 500 to 20,000 rows of five larger ones, against LightGBM's own (31 leaves, no l2, all columns,
# 255 bins). On the 50, with four seeds of the folds beside those that chose: log loss lower by
# 2.4 % of the classes' entropy (standard error 0.7), AUC higher by 0.011 (0.004), F1 at a tuned
# threshold by 0.018 (0.007). One by one: 15 leaves lower the log loss of 1,000 rows by 1.9 % (0.5),
# of 5,000 by 1.3 % (0.6); 0.7 of the columns at each split that of the 50 by 1.5 % (0.4) of the
# entropy, an l2 of 0.3 by 1.1 % (0.4). 127 bins change no loss and save a quarter of the time of
# 5,000 rows. A patience of 20 instead of 30 trees saves a tenth of the time, and costs 48,000 rows
# 2 % of log loss.
BINS = 127
# How much of each tree is added; half of it where a class has a smaller share of the rows. Half of
# it everywhere gains nothing once there is an l2.
RATE, RARE = 0.1, 0.02
# Rows in a leaf: a share of the training rows, from least to most. A most of 5 or 10 lowers AUC by
# 0.026 (0.006) and 0.006 (0.004); 30 gains nothing.
LEAF, LEAST, MOST = 10, 2, 20
# LightGBM's parameters that settle the bins, by their first names.
BINNING = {
    "max_bin",
    "max_bin_by_feature",
    "min_data_in_bin",
    "bin_construct_sample_cnt",
    "data_random_seed",
    "enable_bundle",
    "feature_pre_filter",
    "forcedbins_filename",
    "is_enable_sparse",
    "linear_tree",
    "use_missing",
    "zero_as_missing",
}


class Boosted(BaseEstimator):  # type: ignore[misc]
    """LightGBM's boosted trees.

    Missing values are read as LightGBM reads them.

    Parameters
    ----------
    trees : int
        At most so many (rounds, where there are many classes); validation rows say when to stop.
    learning_rate : "auto" or float
        ``auto``: 0.1, and half of that where one of two classes is rarer than one row in fifty:
        long steps would follow single rows.
    leaves : int
    l2 : float
        Penalty on the squares of the leaves' values.
    columns : float
        Share of the columns that is tried at each split.
    least_rows : "auto" or int
        In a leaf. ``auto``: 20, and fewer where there are fewer than 200 rows: a tenth of them.
    patience : int
        Trees without a lower validation loss before the end.
    held_out : float
        Where there are no validation rows: the share of the rows that is held out to find the
        number of trees. All rows train then. Zero: all `trees` are grown.
    categorical : "auto" or sequence of int
        Columns that hold codes of categories; ``auto``: a data frame's columns of type category.
    settings : dict, optional
        Further parameters of LightGBM, by their names there.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0))
    >>> trained = Boosted(trees=50).learn(data, np.ones(400), rng)
    >>> bool(np.mean((trained.scores(X) > 0.0) == (data.y > 0.0)) > 0.9)
    True
    """

    # Missing values are read as they are.
    missing = True

    def __init__(
        self,
        trees: int = 600,
        *,
        learning_rate: Literal["auto"] | float = "auto",
        leaves: int = 15,
        l2: float = 1.0,
        columns: float = 0.7,
        least_rows: Literal["auto"] | int = "auto",
        patience: int = 30,
        held_out: float = 0.2,
        categorical: Literal["auto"] | Sequence[int] = "auto",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.l2 = l2
        self.columns = columns
        self.least_rows = least_rows
        self.patience = patience
        self.held_out = held_out
        self.categorical = categorical
        self.settings = settings

    @property
    def family(self) -> str:
        """The family's name in reports."""
        return "boosted"

    def learn(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Scorer | None = None,
    ) -> Trees:
        """Train with these weights; held-out rows say how many trees, then all rows train."""
        trees = self.trees
        out = drawn(data.y, self.held_out, rng)
        prepared = self.prepare(data, classes=classes)
        if np.any(rows[~out] > 0.0) and np.any(rows[out] > 0.0):
            stopping = [(np.flatnonzero(out), rows[out])]
            trees = prepared.fit(np.where(out, 0.0, rows), rng, stopping=stopping).best
        return prepared.fit(rows, rng, trees=trees).cut(trees)

    def prepare(self, data: Data, *, classes: int = 2) -> Prepared:
        """Bin the rows once, for many trainings with other weights, folds and settings.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> prepared = Boosted(10).prepare(Data(X, np.where(X[:, 0] > 19.0, 1.0, -1.0)))
        >>> half = np.arange(60) % 2
        >>> grown = prepared.fit(half.astype(float), np.random.default_rng(0))
        >>> np.sign(grown.scores(X, 10)[[0, 59]]).tolist()
        [-1.0, 1.0]
        """
        binned = self._dataset(lightgbm(), data, None, classes).construct()
        return Prepared(self, binned, data.y, classes)

    def grow(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        watch: Sequence[tuple[Data, Floats64]] = (),
        trees: int | None = None,
        classes: int = 2,
        begun: Sequence[Floats64] = (),
    ) -> Grown:
        """Train until all validation sets have lost patience.

        Parameters
        ----------
        data, rows, rng, classes
            As in `learn`.
        watch : sequence of (Data, array)
            Validation sets with weights: the loss on each of them is recorded tree by tree.
        trees : int, optional
            Instead of `self.trees`.
        begun : sequence of arrays, optional
            Scores to which the trees are added: of `data`, then of each validation set.
        """
        gbm = lightgbm()
        used = np.flatnonzero(rows > 0.0)
        train = self._dataset(gbm, data.take(used), rows[used], classes)
        valid = [
            self._dataset(gbm, some, w, classes, train) if w.sum() > 0.0 else None
            for some, w in watch
        ]
        if begun:
            train.set_init_score(begun[0][used])
            for one, scores in zip(valid, begun[1:], strict=True):
                if one is not None:
                    one.set_init_score(scores)
        sizes = np.array([float(w.sum()) for _, w in watch])
        named = self.parameters(rng, data.y[used], classes)
        trees = self.trees if trees is None else trees
        return boosted(named, train, valid, sizes, trees, self.patience)

    def rounds(self, data: Data, rng: np.random.Generator, watch: Sequence[Data] = ()) -> Rounds:
        """Return a booster without trees, to which rounds along any gradient can be added.

        It keeps the scores of its training rows, and of the validation sets `watch`.
        """
        gbm = lightgbm()
        # The caller's gradient is followed as closely as trees can.
        exact = {"objective": "none", "lambda_l2": 0.0, "feature_fraction_bynode": 1.0}
        named = {**self.parameters(rng, data.y, 0), **exact}
        train = self._dataset(gbm, data, np.ones(len(data)), 0)
        # Columns that leaves of 20 rows could not split are left out, whatever `least_rows`: along
        # a gradient that may be any, trees of a few dozen rows would follow single ones.
        train.params["feature_pre_filter"] = True
        booster = gbm.Booster(named, train)
        for k, some in enumerate(watch):
            booster.add_valid(self._dataset(gbm, some, np.ones(len(some)), 0, train), str(k))
        return Rounds(booster, any(train.feature_num_bin(k) for k in range(train.num_feature())))

    def stiffer(self) -> Boosted:
        """Return the family with smaller trees, for few or noisy rows."""
        settings = self.get_params(deep=False)
        settings["leaves"] = max(self.leaves // 2, 2)
        return Boosted(**settings)

    def with_loss(self, loss: Loss) -> Boosted:
        """Return the family that regresses by another loss; LightGBM knows three of them."""
        goal: dict[str, Any] = {"objective": "regression"}
        if isinstance(loss, Huber):
            goal = {"objective": "huber", "alpha": loss.delta}
        elif isinstance(loss, Lp) and loss.p < 1.5:
            goal = {"objective": "regression_l1"}
        settings = self.get_params(deep=False)
        settings["settings"] = {**(self.settings or {}), **goal}
        return Boosted(**settings)

    def binning(self, n: int) -> dict[str, Any]:
        """Return what settles the bins of n rows, in LightGBM's words.

        Examples
        --------
        >>> Boosted(categorical=(1,)).binning(20)["min_data_in_bin"]
        2
        """
        named = [] if isinstance(self.categorical, str) else list(self.categorical)
        chosen = {k: v for k, v in (self.settings or {}).items() if k in BINNING}
        return {
            "max_bin": BINS,
            "min_data_in_bin": min(3, max(n // 10, 1)),
            "feature_pre_filter": False,
            "categorical_feature": named,
            **chosen,
        }

    def parameters(self, rng: np.random.Generator, y: Floats64, classes: int) -> dict[str, Any]:
        """Return what settles the training on rows with these targets, in LightGBM's words.

        Examples
        --------
        >>> import numpy as np
        >>> y = np.repeat([-1.0, 1.0], 15)
        >>> Boosted().parameters(np.random.default_rng(0), y, 2)["min_data_in_leaf"]
        3
        """
        goal = {0: "regression", 2: "binary"}.get(classes, "multiclass")
        named = {
            "objective": goal,
            "learning_rate": self._rate(y, classes),
            "num_leaves": self.leaves,
            "lambda_l2": self.l2,
            "feature_fraction_bynode": self.columns,
            "min_data_in_leaf": self._least_rows(len(y)),
            "num_threads": 1,
            "seed": int(rng.integers(2**31)),
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        many = {"num_class": classes} if goal == "multiclass" else {}
        return {**named, **many, **(self.settings or {})}

    def _rate(self, y: Floats64, classes: int) -> float:
        if not isinstance(self.learning_rate, str):
            return self.learning_rate
        share = float(np.mean(y > 0.0)) if classes == 2 and len(y) else 0.5
        return RATE / 2.0 if min(share, 1.0 - share) < RARE else RATE

    def _least_rows(self, n: int) -> int:
        if not isinstance(self.least_rows, str):
            return self.least_rows
        return min(MOST, max(LEAST, n // LEAF))

    def _dataset(
        self, gbm: Any, data: Data, rows: Floats64 | None, classes: int, reference: Any = None
    ) -> Any:
        label = (data.y > 0.0).astype(np.float64) if classes == 2 else data.y
        binning = self.binning(len(data))
        named = binning.pop("categorical_feature")
        quiet = {"num_threads": 1, "verbosity": -1}
        own = {**binning, **(self.settings or {}), **quiet}
        return gbm.Dataset(
            plain_matrix(data.X),
            label,
            reference,
            None if rows is None else of_mean_one(rows),
            params=own if reference is None else dict(reference.params),
            categorical_feature=named,
        )


def drawn(y: Floats64, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a share of the rows, evenly from each class or from low to high targets.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0] * 5 + [-1.0] * 10)
    >>> out = drawn(y, 0.2, np.random.default_rng(0))
    >>> int(out[:5].sum()), int(out[5:].sum())
    (1, 2)
    """
    order = np.lexsort((rng.random(len(y)), y))
    places = np.floor((np.arange(-1, len(y)) + 0.5 * rng.random()) * share + 0.5)
    out = np.zeros(len(y), dtype=bool)
    out[order] = np.diff(places) > 0.0
    return out
