"""Targets: what the target column means to a metric: two labels, many classes, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.cli.faults import UserError, hint, need
from anymetric.cli.roles import whole_numbers
from anymetric.metrics import Classes

# More values than this, and a column names rows rather than classes.
MOST_CLASSES = 100
# Labels that a sentence names.
FEW = 12


class Task(StrEnum):
    """What is learned: which of some labels, or a number.

    Examples
    --------
    >>> Task("regression").value
    'regression'
    """

    AUTO = "auto"
    CLASSES = "classification"
    NUMBERS = "regression"


@dataclass(frozen=True)
class Target:
    """How a target column is read.

    Parameters
    ----------
    labels : (negative, positive), all classes in sorted order, or None
        In the user's own words; None for numbers.
    rest : bool
        Whether every label but the positive one is negative.
    above : float or None
        Rows are positive above this number: graded relevance.

    Examples
    --------
    >>> pd = need("pandas")
    >>> target = Target(("no", "yes"))
    >>> target.codes(pd.Series(["yes", "no", "yes"]), "rows.csv").tolist()
    [1, 0, 1]
    >>> target.words(np.array([0, 1])).tolist()
    ['no', 'yes']
    >>> Target(("a", "b", "c")).codes(pd.Series(["c", "a"]), "rows.csv").tolist()
    [2, 0]
    """

    labels: tuple[Any, ...] | None = None
    rest: bool = False
    above: float | None = None

    @property
    def task(self) -> Task:
        """Classes or numbers."""
        return Task.NUMBERS if self.labels is None else Task.CLASSES

    @property
    def many(self) -> bool:
        """Whether there are more than two classes."""
        return self.labels is not None and len(self.labels) > 2

    @property
    def known(self) -> Classes | tuple[Any, ...] | None:
        """The labels as a metric is told of them."""
        return Classes(self.labels) if self.many and self.labels is not None else self.labels

    def codes(self, column: Any, name: str) -> NDArray[Any]:
        """Return each label's place, 0 and 1 or more, or the numbers themselves."""
        if self.labels is None:
            return numbers(column, name)
        if self.above is not None:
            return (numbers(column, name) > self.above).astype(np.int64)
        values = [str(value) for value in plain_values(column)]
        places = {str(label): k for k, label in enumerate(self.labels)}
        new = sorted(set(values) - set(places))
        if new and not self.rest:
            raise UserError(
                f"Column {column.name!r} of {name} has the value {new[0]!r}, which training "
                f"never saw; it knows {listed(self.labels)}."
            )
        return np.array([places.get(value, 0) for value in values], dtype=np.int64)

    def words(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the user's own labels."""
        return codes if self.labels is None else np.array(self.labels)[codes]

    @property
    def sentence(self) -> str:
        """What is positive, in words."""
        if self.labels is None:
            return "The target is a number."
        if self.above is not None:
            return f"Rows above {self.above:g} are relevant."
        if self.many:
            return f"{len(self.labels)} classes: {listed(self.labels)}."
        others = "every other value" if self.rest else repr(self.labels[0])
        open_ = isinstance(self.labels[1], str) and not self.rest
        end = " (--positive names the other)" if open_ else ""
        return f"Positive is {self.labels[1]!r}, negative {others}{end}."


def read_target(column: Any, task: Task, positive: str | None, name: str, ranks: bool) -> Target:
    """Decide how a target column is read.

    Parameters
    ----------
    column : Series
    task : Task
        AUTO looks at the column: numbers with more than two values are a regression.
    positive : str, optional
        The label that is positive; every other is negative.
    name : str
        Of the file.
    ranks : bool
        Whether the metric reads an order of relevant and other rows.

    Examples
    --------
    >>> pd = need("pandas")
    >>> read_target(pd.Series([2.5, 1.0, 3.0]), Task.AUTO, None, "rows.csv", False).task.value
    'regression'
    >>> read_target(pd.Series(["b", "a"]), Task.AUTO, None, "rows.csv", False).labels
    ('a', 'b')
    """
    values = plain_values(column)
    seen = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    real = all(not isinstance(value, str) for value in seen)
    if task is Task.AUTO and positive is None and real and len(seen) > 2 and not ranks:
        task = Task.NUMBERS
    if task is Task.NUMBERS:
        return _numbers(column, positive, name, len(seen))
    if len(seen) < 2:
        raise UserError(
            f"Column {column.name!r} of {name} has one value only, {seen[0]!r}, in all "
            f"{len(values)} rows: training needs two classes."
        )
    if positive is not None:
        return _chosen(seen, positive, column.name)
    if ranks and real and len(seen) > 2:
        return Target((f"at most {seen[0]:g}", f"above {seen[0]:g}"), above=float(seen[0]))
    if len(seen) > 2:
        return Target(_many(seen, len(values), f"Column {column.name!r} of {name}"))
    return Target((seen[0], seen[1]))


def _many(seen: list[Any], rows: int, column: str) -> tuple[Any, ...]:
    if len(seen) > min(MOST_CLASSES, rows // 2):
        raise UserError(
            f"{column} has {len(seen):,} values in {rows:,} rows; classes may be at most "
            f"{MOST_CLASSES}, with two rows each on average. Say which value is positive: "
            "--positive VALUE (all others are then negative); of numbers, give a metric of numbers."
        )
    # Estimators take fractions for a regression: as classes they are words.
    fractions = any(isinstance(value, float) for value in seen)
    return tuple(sorted(map(str, seen)) if fractions else seen)


def listed(labels: Sequence[Any]) -> str:
    """Return labels as a sentence names them, the first few if there are many.

    Examples
    --------
    >>> listed(("no", "yes")), listed(range(40))
    ("'no' and 'yes'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 28 more')
    """
    more = len(labels) - FEW
    words = [repr(label) for label in labels[:FEW]] + ([f"{more} more"] if more > 0 else [])
    return " and ".join([", ".join(words[:-1]), words[-1]])


def _numbers(column: Any, positive: str | None, name: str, count: int) -> Target:
    if positive is not None:
        raise UserError("--positive is for classes; the target is read as a number here.")
    numbers(column, name)
    if count < 2:
        raise UserError(f"Column {column.name!r} of {name} has one value only: nothing to learn.")
    return Target()


def _chosen(seen: list[Any], positive: str, column: str) -> Target:
    label = meant_by(positive, seen)
    if label is None:
        named = [str(value) for value in seen]
        end = hint(positive, named) or f" Its values: {', '.join(named[:12])}."
        raise UserError(f"Column {column!r} has no value {positive!r} (--positive).{end}")
    others = [value for value in seen if value != label]
    if len(others) == 1:
        return Target((others[0], label))
    return Target((f"not {label}", str(label)), rest=True)


def meant_by(word: str, values: Sequence[Any]) -> Any:
    """Return the value that a word names, or that is the same number; None if there is none.

    Examples
    --------
    >>> meant_by("1.0", [0, 1]), meant_by("yes", ["no", "yes"]), meant_by("2", [0, 1])
    (1, 'yes', None)
    """
    for value in values:
        if str(value) == word:
            return value
    try:
        number = float(word)
    except ValueError:
        return None
    return next((v for v in values if not isinstance(v, str | bool) and v == number), None)


def plain_values(column: Any) -> list[Any]:
    """Return a column's values as plain text, bool or numbers; whole numbers as integers.

    Examples
    --------
    >>> plain_values(need("pandas").Series([1.0, 0.0]))
    [1, 0]
    """
    pd = need("pandas")
    if pd.api.types.is_bool_dtype(column.dtype):
        return [bool(value) for value in column]
    if pd.api.types.is_numeric_dtype(column.dtype):
        return whole_numbers(column.to_numpy()).tolist()  # type: ignore[no-any-return]
    return [str(value).strip() for value in column]


def numbers(column: Any, name: str) -> NDArray[np.float64]:
    """Return a column as finite numbers, or say what stands in the way.

    Examples
    --------
    >>> numbers(need("pandas").Series(["a"], name="price"), "rows.csv")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Column 'price' of rows.csv must hold numbers; got 'a'.
    """
    pd = need("pandas")
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        got = str(column.iloc[wrong[0]])
        raise UserError(f"Column {column.name!r} of {name} must hold numbers; got {got!r}.")
    return values  # type: ignore[no-any-return]
