"""Families: what `model=` means, and how missing values and categories are read for it."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from anymetric.models.forest import Forest

NAMES = ("auto", "boosted", "linear")


def families(model, settings=None):
    """Return the learners that `model` names, and whether linear models are in it.

    `settings` are those of trees, where they are named and not given.

    Examples
    --------
    >>> families("linear")
    ((), True)
    >>> families("boosted")
    ((Boosted(),), False)
    >>> families("forest")
    Traceback (most recent call last):
    ValueError: model must be one of auto, boosted, linear, or a family such as \
Reweighted(estimator); got 'forest'.
    """
    if isinstance(model, str) and model in NAMES:
        if model == "linear":
            return (), True
        from anymetric.models.boosted import Boosted

        trees = Boosted(**(settings or {}))
        return ((trees, Forest()), True) if model == "auto" else ((trees,), False)
    if hasattr(model, "learn") and not isinstance(model, type):
        return (clone(model, safe=False),), False
    raise (ValueError if isinstance(model, str) else TypeError)(
        f"model must be one of {', '.join(NAMES)}, or a family such as Reweighted(estimator); "
        f"got {model!r}."
    )


def reads_missing(model):
    """Return whether every family of `model` beside linear ones reads missing values.

    Examples
    --------
    >>> reads_missing("linear"), reads_missing("boosted")
    (False, True)
    """
    learners, _ = families(model)
    return bool(learners) and all(getattr(one, "missing", False) for one in learners)


def descent_over(learners, method, name):
    """Return the method that moves the parameters of a family, or the scores of trees.

    Examples
    --------
    >>> from anymetric.models import Reweighted
    >>> descent_over((Reweighted(None),), None, "descent")
    Traceback (most recent call last):
    TypeError: method='descent' moves a model's parameters, and Reweighted(estimator=None) shows \
none: use method='auto'.
    """
    if not learners or hasattr(method, "learner"):
        return method  # it has a family of its own
    if hasattr(learners[0], "begun"):
        from anymetric.networks import NetworkDescent

        return NetworkDescent(learners[0], None if name == "descent" else method)
    if name == "descent" and hasattr(learners[0], "rounds"):
        from anymetric.boosting import BoostedDescent

        return BoostedDescent(learners[0])
    raise TypeError(
        f"method={name!r} moves a model's parameters, and {learners[0]!r} shows none: use "
        "method='auto'."
    )


def with_categories(learner, columns):
    """Set the categorical columns of a family, where they are "auto"."""
    if getattr(learner, "categorical", None) != "auto":
        return learner
    return clone(learner).set_params(categorical=tuple(columns))


def category_columns(X):
    """Return the names of a data frame's columns of type category.

    Examples
    --------
    >>> category_columns([[1.0]])
    []
    """
    types = getattr(X, "dtypes", None)
    if types is None or not hasattr(X, "columns"):
        return []
    pairs = zip(X.columns, types, strict=True)
    # pandas' own and that of Arrow, and polars' two
    kinds = ("category", "dictionary", "Categorical", "Enum")
    return [name for name, kind in pairs if str(kind).startswith(kinds)]


def categories_of(column):
    """Return the categories of a data frame's column, of pandas or polars, in order.

    Examples
    --------
    >>> import pandas as pd
    >>> categories_of(pd.Series(["b", "a", "b"], dtype="category"))
    ['a', 'b']
    """
    if hasattr(column, "astype") and str(column.dtype).startswith("dictionary"):
        column = column.astype("category")
    if hasattr(column, "cat") and hasattr(column.cat, "categories"):
        return list(column.cat.categories)
    return sorted(column.drop_nulls().unique().to_list())


def coded(X, categories):
    """Return a data frame with categories as codes; unknown and missing ones are NaN."""
    codes = {
        name: {value: float(k) for k, value in enumerate(values)}
        for name, values in categories.items()
    }
    found = {
        name: np.array([code.get(value, np.nan) for value in X[name]])
        for name, code in codes.items()
    }
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns([type(X[name])(name, column) for name, column in found.items()])
    X = X.copy()
    for name, column in found.items():
        X[name] = column
    return X
