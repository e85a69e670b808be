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
from anymetric.models.trees import Grown, Rounds, Trees, Watcher, lightgbm, plain_matrix

Floats64 = NDArray[np.float64]
# How much of each tree is added; half of it where a class has a smaller share of the rows.
RATE, RARE = 0.1, 0.02
# Rows in a leaf: a share of the training rows, from least to most.
LEAF, LEAST, MOST = 10, 2, 20


class Boosted(BaseEstimator):  # type: ignore[misc]
    """Boosted trees. They need the package lightgbm: ``pip install 'anymetric[boosted]'``.

    Missing values are read as LightGBM reads them.

    Parameters
    ----------
    trees : int
        At most so many (rounds, where there are many classes); rows that do not train say when to
        stop.
    learning_rate : "auto" or float
        ``auto``: 0.1, and half of that where one of two classes is rarer than one row in fifty:
        long steps would follow single rows.
    leaves : int
    least_rows : "auto" or int
        In a leaf. ``auto``: 20, and fewer where there are fewer than 200 rows: a tenth of them.
    patience : int
        Trees without a lower loss before the end.
    held_out : float
        Where nothing else can say when to stop: the share of the rows that does. All rows train
        then, as many trees as that said. Zero: all `trees` are grown.
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

    # For the kitchen and the door: gaps are read as they are.
    missing = True

    def __init__(
        self,
        trees: int = 600,
        *,
        learning_rate: Literal["auto"] | float = "auto",
        leaves: int = 31,
        least_rows: Literal["auto"] | int = "auto",
        patience: int = 30,
        held_out: float = 0.2,
        categorical: Literal["auto"] | Sequence[int] = "auto",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.least_rows = least_rows
        self.patience = patience
        self.held_out = held_out
        self.categorical = categorical
        self.settings = settings

    @property
    def family(self) -> str:
        """The verdict's word for it."""
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
        """Train with these weights; some rows say how many trees, then all train."""
        trees = self.trees
        out = drawn(data.y, self.held_out, rng)
        if out.any() and (~out).any():
            watched = [(data.take(np.flatnonzero(out)), rows[out])]
            kept = np.flatnonzero(~out)
            grown = self.grow(data.take(kept), rows[kept], rng, watch=watched, classes=classes)
            trees = grown.best
        return self.grow(data, rows, rng, trees=trees, classes=classes).cut(trees)

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
        """Train while other rows watch: the trees end where all of these have lost patience.

        Parameters
        ----------
        data, rows, rng, classes
            As in `learn`.
        watch : sequence of (Data, array)
            Rows that do not train, with weights: the loss on each of them is noted tree by tree.
        trees : int, optional
            Instead of `self.trees`.
        begun : sequence of arrays, optional
            Scores to which the trees are added: of `data`, then of each that watches.
        """
        gbm = lightgbm()
        used = np.flatnonzero(rows > 0.0)
        told = [pair for pair in watch if pair[1].sum() > 0.0]
        train = self._dataset(gbm, data.take(used), rows[used], classes)
        valid = [self._dataset(gbm, some, w, classes, train) for some, w in told]
        if begun:
            train.set_init_score(begun[0][used])
            later = [s for s, (_, w) in zip(begun[1:], watch, strict=True) if w.sum() > 0.0]
            for one, scores in zip(valid, later, strict=True):
                one.set_init_score(scores)
        watcher = Watcher(np.array([w.sum() for _, w in told]), self.patience)
        booster = gbm.train(
            self._parameters(rng, classes, len(used), self._rate(data.y[used], classes)),
            train,
            self.trees if trees is None else trees,
            valid_sets=valid or None,
            callbacks=[watcher] if told else None,
        )
        # Its own note of the best tree would cut the predictions short.
        booster.best_iteration = 0
        every = [w.sum() > 0.0 for _, w in watch]
        curves = np.zeros((len(watcher.curves), len(watch)))
        if told:
            curves[:, every] = np.array(watcher.curves)
        return Grown(booster, curves, np.array([w.sum() for _, w in watch]), self.patience)

    def rounds(self, data: Data, rng: np.random.Generator, watch: Sequence[Data] = ()) -> Rounds:
        """Return a booster without trees, to which rounds along any gradient can be added.

        It keeps the scores of its training rows, and of those that watch.
        """
        gbm = lightgbm()
        rate = self._rate(data.y, 0)
        named = {**self._parameters(rng, 0, len(data), rate), "objective": "none"}
        train = self._dataset(gbm, data, np.ones(len(data)), 0)
        booster = gbm.Booster(named, train)
        for k, some in enumerate(watch):
            booster.add_valid(self._dataset(gbm, some, np.ones(len(some)), 0, train), f"watch {k}")
        return Rounds(booster, any(train.feature_num_bin(k) for k in range(train.num_feature())))

    def stiffer(self) -> Boosted:
        """Return the family with smaller trees, for few or noisy rows."""
        settings = self.get_params(deep=False)
        settings["leaves"] = max(self.leaves // 4, 2)
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

    def _rate(self, y: Floats64, classes: int) -> float:
        if not isinstance(self.learning_rate, str):
            return self.learning_rate
        share = float(np.mean(y > 0.0)) if classes == 2 and len(y) else 0.5
        return RATE / 2.0 if min(share, 1.0 - share) < RARE else RATE

    def _least_rows(self, n: int) -> int:
        if not isinstance(self.least_rows, str):
            return self.least_rows
        return min(MOST, max(LEAST, n // LEAF))

    def _parameters(
        self, rng: np.random.Generator, classes: int, n: int, rate: float
    ) -> dict[str, Any]:
        goal = {0: "regression", 2: "binary"}.get(classes, "multiclass")
        named = {
            "objective": goal,
            "learning_rate": rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self._least_rows(n),
            "min_data_in_bin": min(3, max(n // 10, 1)),
            "feature_pre_filter": False,
            "num_threads": 1,
            "seed": int(rng.integers(2**31)),
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        many = {"num_class": classes} if goal == "multiclass" else {}
        return {**named, **many, **(self.settings or {})}

    def _dataset(
        self, gbm: Any, data: Data, rows: Floats64, classes: int, reference: Any = None
    ) -> Any:
        label = (data.y > 0.0).astype(np.float64) if classes == 2 else data.y
        named = [] if isinstance(self.categorical, str) else list(self.categorical)
        # Weights of mean one: a leaf's least weight is in units of rows.
        weights = rows * (len(rows) / rows.sum())
        table = plain_matrix(data.X)
        quiet = {"verbosity": -1}
        return gbm.Dataset(
            table, label, reference, weights, params=quiet, categorical_feature=named
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
