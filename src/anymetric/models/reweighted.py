"""Reweighted: any scikit-learn estimator that takes row weights, as a model family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from anymetric.data import Data, Matrix
from anymetric.models.base import Scorer

Floats64 = NDArray[np.float64]
# A probability of nothing or everything is taken to be so far from it.
CERTAIN = 1e-9


class Reweighted(BaseEstimator):  # type: ignore[misc]
    """Train a scikit-learn classifier or regressor by nothing but the weights of its rows.

    Parameters
    ----------
    estimator : classifier or regressor
        Its `fit` must take ``sample_weight``. Scores are its `decision_function`, the log-odds of
        its `predict_proba`, or what a regressor predicts.
    categorical : "auto" or sequence of int
        Columns that hold codes of categories: by default those that a data frame calls so. They are
        set as `categorical_features` of an estimator that has them, unless they are set.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = Data(np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0]))
    >>> family = Reweighted(DecisionTreeClassifier(max_depth=1))
    >>> trained = family.learn(data, np.ones(3), np.random.default_rng(0))
    >>> np.sign(trained.scores(data.X)).tolist()
    [-1.0, 1.0, 1.0]
    """

    def __init__(
        self, estimator: Any, categorical: Literal["auto"] | Sequence[int] = "auto"
    ) -> None:
        self.estimator = estimator
        self.categorical = categorical

    @property
    def family(self) -> str:
        """The estimator's own name."""
        return type(last_step(self.estimator)).__name__

    @property
    def missing(self) -> bool:
        """Whether the estimator reads missing values itself."""
        tags = getattr(self.estimator, "__sklearn_tags__", None)
        return bool(tags is not None and tags().input_tags.allow_nan)

    def learn(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Scorer | None = None,
    ) -> Fitted:
        """Fit a clone with these weights; rows that weigh nothing are left out."""
        used = np.flatnonzero(rows > 0.0)
        # A row of weight two counts as two rows, whatever the scale of the weights.
        weights = rows[used] * (data.weights[used].sum() / rows[used].sum())
        seed = int(rng.integers(2**31))
        check_kind(self.estimator, classes)
        estimator = seeded(clone(self.estimator), seed)
        estimator = with_categories(estimator, self.categorical, data.X)
        keyword = weight_keyword(estimator)
        fitted = estimator.fit(data.X[used], targets(data.y[used], classes), **{keyword: weights})
        return Fitted(fitted, classes)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted scikit-learn estimator that gives scores.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0], [1.0]])
    >>> Fitted(LinearRegression().fit(X, [1.0, 3.0]), classes=0).scores(X).round(6).tolist()
    [1.0, 3.0]
    """

    estimator: Any
    classes: int = 2

    def scores(self, X: Matrix) -> Floats64:
        """Return decision values, log-odds or predictions; ``(n, C)`` for C > 2 classes."""
        if self.classes == 0:
            return np.asarray(self.estimator.predict(X), dtype=np.float64)
        present = np.asarray(self.estimator.classes_)
        if len(present) == 1:
            found = np.zeros((X.shape[0], 1))
        elif hasattr(self.estimator, "decision_function") and self.classes == 2:
            return np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        elif hasattr(self.estimator, "predict_proba"):
            share = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
            found = np.log(np.clip(share, CERTAIN, 1.0))
        else:
            found = self._decided(X, present)
        if self.classes == 2:
            return two(found, present)
        # A class that was not there has no chance.
        full = np.full((X.shape[0], self.classes), np.log(CERTAIN))
        full[:, present.astype(np.intp)] = found
        return full

    def _decided(self, X: Matrix, present: NDArray[Any]) -> Floats64:
        """Return a score for each class that was there, of an estimator without probabilities."""
        if not hasattr(self.estimator, "decision_function"):
            said = np.asarray(self.estimator.predict(X))
            return np.where(said[:, np.newaxis] == present, 0.0, np.log(CERTAIN))
        found = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        return found if found.ndim == 2 else np.column_stack([-found, found])


def two(found: Floats64, present: NDArray[Any]) -> Floats64:
    """Return log-odds from log-probabilities of the classes 0 and 1, or of the only one there."""
    if len(present) == 2:
        return np.asarray(found[:, 1] - found[:, 0])
    side = 1.0 if present[0] == 1 else -1.0
    return np.full(len(found), -side * np.log(CERTAIN))


def targets(y: Floats64, classes: int) -> NDArray[Any]:
    """Return targets as an estimator reads them: class codes from 0, or numbers as they are.

    Examples
    --------
    >>> import numpy as np
    >>> targets(np.array([-1.0, 1.0]), 2).tolist(), targets(np.array([0.5]), 0).tolist()
    ([0, 1], [0.5])
    """
    if classes == 0:
        return y
    return (y > 0.0).astype(np.int64) if classes == 2 else y.astype(np.int64)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline; of anything else, itself."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def check_kind(estimator: Any, classes: int) -> None:
    """Refuse a regressor for classes, and a classifier for numbers.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> check_kind(Ridge(), 2)
    Traceback (most recent call last):
    TypeError: Reweighted was given Ridge, a regressor, and y has 2 classes: give a classifier.
    """
    name = type(last_step(estimator)).__name__
    if classes > 0 and is_regressor(estimator):
        raise TypeError(
            f"Reweighted was given {name}, a regressor, and y has {classes} classes: give a "
            "classifier."
        )
    if classes == 0 and is_classifier(estimator):
        raise TypeError(
            f"Reweighted was given {name}, a classifier, and y holds numbers: give a regressor."
        )


def with_categories(estimator: Any, columns: Literal["auto"] | Sequence[int], X: Matrix) -> Any:
    """Set the categorical columns of an estimator, if they are not set.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> with_categories(
    ...     HistGradientBoostingClassifier(), [1], np.zeros((2, 3))
    ... ).categorical_features
    [1]
    """
    open_ = getattr(estimator, "categorical_features", "absent") in ("from_dtype", None)
    if not open_ or isinstance(columns, str) or sparse.issparse(X):
        return estimator
    # Such trees take no more categories than they have bins.
    most = getattr(estimator, "max_bins", np.inf)
    few = [k for k in columns if np.nanmax(X[:, k], initial=0.0) < most]
    return estimator.set_params(categorical_features=few) if few else estimator


def takes_weights(estimator: Any) -> bool:
    """Return whether `fit` takes row weights, or hands them on to estimators that do.

    Examples
    --------
    >>> from sklearn.ensemble import VotingClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> takes_weights(VotingClassifier([("one", LogisticRegression())]))
    True
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    named = signature(estimator.fit).parameters.values()
    if not any(one.kind is Parameter.VAR_KEYWORD for one in named):
        return False
    single = getattr(estimator, "estimator", None)
    inner = [single] if single is not None else [e for _, e in getattr(estimator, "estimators", ())]
    return bool(inner) and all(has_fit_parameter(one, "sample_weight") for one in inner)


def weight_keyword(estimator: Any) -> str:
    """Return the argument of `fit` that takes row weights.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_keyword(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> weight_keyword(KNeighborsClassifier())
    Traceback (most recent call last):
    TypeError: Reweighted trains by row weights, and KNeighborsClassifier.fit takes none: give an \
estimator whose fit has a sample_weight argument.
    """
    last = last_step(estimator)
    if not takes_weights(last):
        raise TypeError(
            f"Reweighted trains by row weights, and {type(last).__name__}.fit takes none: give an "
            "estimator whose fit has a sample_weight argument."
        )
    return "sample_weight" if last is estimator else f"{estimator.steps[-1][0]}__sample_weight"


def seeded(estimator: Any, seed: int) -> Any:
    """Set every `random_state` that was left open.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> seeded(LogisticRegression(), 7).random_state
    7
    """
    settings = estimator.get_params(deep=True)
    open_ = [name for name in settings if name.split("__")[-1] == "random_state"]
    return estimator.set_params(**{name: seed for name in open_ if settings[name] is None})
