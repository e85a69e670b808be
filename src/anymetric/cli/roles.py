"""Roles: which column is the target, which are groups, source and metadata, which features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.cli.faults import UserError, hint, need
from anymetric.metrics.digests import digest

# More values than this, and a column names rows rather than groups.
MOST_GROUPS = 100
# The group of the rows that have none.
MISSING = "missing"


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for.

    Group columns are features too unless dropped; source and metadata are features only if
    they are kept by name.

    Parameters
    ----------
    target : str
    groups : tuple of str
        Several are crossed: every combination of their values is a group.
    source : str
    side, drop, keep : tuple of str
    kinds : tuple of (column, kind)
        What columns hold, where the user says so.

    Examples
    --------
    >>> roles = Roles("income", groups=("sex",), side=("amount",))
    >>> roles.features(["age", "sex", "amount", "income"])
    ['age', 'sex']
    """

    target: str
    groups: tuple[str, ...] = ()
    source: str = ""
    side: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()

    def features(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that a model may read."""
        out = {*self.side, self.source} - set(self.keep)
        out |= {self.target, *self.drop}
        return [name for name in columns if name not in out]

    @property
    def named(self) -> list[str]:
        """The columns that are read beside the features."""
        return [self.target, *self.groups, *self.side, *([self.source] if self.source else [])]

    def check(self, columns: Iterable[str], name: str) -> None:
        """Refuse a table that lacks a column with a role, and roles that make no sense."""
        present = list(columns)
        told = {"--target": (self.target,), "--group": self.groups, "--side": self.side}
        told |= {"--source": (self.source,) if self.source else (), "--drop": self.drop}
        told |= {"--keep": self.keep}
        for column, kind in self.kinds:
            told[f"--{kind}"] = (*told.get(f"--{kind}", ()), column)
        for option, asked in told.items():
            for column in asked:
                require(column, present, name, option)
        if self.target in (*self.groups, *self.side, self.source, *self.keep):
            raise UserError(f"{self.target!r} is the target and cannot have another role too.")
        if not self.features(present):
            raise UserError(f"{name} has no column left to learn from: all have other roles.")


def require(column: str, present: list[str], name: str, option: str = "") -> None:
    """Refuse a table without this column, naming what is near.

    Examples
    --------
    >>> require("incme", ["age", "income"], "rows.csv", "--target")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: rows.csv has no column 'incme' (--target). Did you mean ...?
    """
    if column in present:
        return
    asked = f" ({option})" if option else ""
    more = len(present) - 12
    few = ", ".join(present[:12]) + (f" and {more} more" if more > 0 else "")
    end = hint(column, present) or f" It has: {few}."
    raise UserError(f"{name} has no column {column!r}{asked}.{end}")


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a table, their columns sorted by role.

    Examples
    --------
    >>> pd = need("pandas")
    >>> sample = Sample.of(pd.DataFrame({"x": [1], "y": [0]}), Roles("y"), "rows.csv")
    >>> len(sample), sample.X.columns.tolist()
    (1, ['x'])
    """

    X: Any
    y: Any = None
    groups: NDArray[Any] | None = None
    source: NDArray[Any] | None = None
    side: dict[str, NDArray[Any]] = field(default_factory=dict)
    name: str = ""
    rows: NDArray[np.intp] = field(default_factory=lambda: np.arange(0))
    unlabelled: int = 0
    schema: Any = None
    stored: tuple[str, int] | None = None

    @classmethod
    def of(
        cls, table: Any, roles: Roles, name: str, features: Sequence[str] | None = None
    ) -> Sample:
        """Sort the columns of a table; rows without a target are left out, and counted."""
        rows = np.flatnonzero(table[roles.target].notna())
        known = table.iloc[rows].reset_index(drop=True)
        if not len(known):
            raise UserError(f"Column {roles.target!r} of {name} is empty in every row.")
        return cls(
            known[roles.features(known.columns) if features is None else list(features)],
            known[roles.target],
            crossed(known, roles.groups, name),
            filled(known[roles.source], name, "--source").astype(str) if roles.source else None,
            {column: filled(known[column], name, "--side") for column in roles.side},
            name,
            rows,
            len(table) - len(known),
        )

    def __len__(self) -> int:
        return len(self.X)

    def fingerprint(self) -> str:
        """Return the number of rows and columns and a hash of all values, as read.

        Examples
        --------
        >>> pd = need("pandas")
        >>> sample = Sample(pd.DataFrame({"x": [1, 2]}), pd.Series([0, 1]))
        >>> sample.fingerprint() == Sample(sample.X, pd.Series([0, 0])).fingerprint()
        False
        """
        hashed = need("pandas").util.hash_pandas_object
        side = [self.groups, self.source, *self.side.values()]
        parts = [hashed(self.X, index=False).to_numpy(), hashed(self.y, index=False).to_numpy()]
        found = digest(list(map(str, self.X.columns)), *parts, *side)
        return f"{len(self)} x {self.X.shape[1]}, {found[:16]}"

    def take(self, rows: NDArray[Any]) -> Sample:
        """Return the sample of these rows only."""
        return Sample(
            self.X.iloc[rows].reset_index(drop=True),
            self.y.iloc[rows].reset_index(drop=True),
            None if self.groups is None else self.groups[rows],
            None if self.source is None else self.source[rows],
            {name: column[rows] for name, column in self.side.items()},
            self.name,
            self.rows[rows],
            schema=self.schema,
            stored=self.stored,
        )


def crossed(table: Any, columns: tuple[str, ...], name: str) -> NDArray[Any] | None:
    """Return each row's group: the values of the group columns, joined; missing is a group too.

    Examples
    --------
    >>> pd = need("pandas")
    >>> table = pd.DataFrame({"sex": ["F", "M", None], "old": [1, 0, 1]})
    >>> crossed(table, ("sex", "old"), "rows.csv").tolist()
    ['F, 1', 'M, 0', 'missing, 1']
    """
    if not columns:
        return None
    parts = [_named(table[column], name) for column in columns]
    groups = np.array([", ".join(values) for values in zip(*parts, strict=True)])
    count = len(np.unique(groups))
    if count > MOST_GROUPS:
        raise UserError(
            f"{' and '.join(columns)} (--group) of {name} make {count} groups; at most "
            f"{MOST_GROUPS} are supported. Name a column with fewer values."
        )
    return groups


def _named(column: Any, name: str) -> NDArray[Any]:
    known = column.notna()
    names = np.full(len(column), MISSING, dtype=object)
    names[known.to_numpy()] = filled(column[known], name, "--group").astype(str)
    return names


def filled(column: Any, name: str, option: str) -> NDArray[Any]:
    """Return a column as an array; missing values are refused.

    Examples
    --------
    >>> filled(need("pandas").Series([1.0, None], name="amount"), "rows.csv", "--side")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Column 'amount' (--side) of rows.csv has 1 missing value: ...
    """
    missing = int(column.isna().sum())
    if missing:
        raise UserError(
            f"Column {column.name!r} ({option}) of {name} has {missing} missing "
            f"value{'s' if missing > 1 else ''}: fill them, or leave those rows out."
        )
    pd = need("pandas")
    if pd.api.types.is_bool_dtype(column.dtype):
        return np.asarray(column.to_numpy(dtype=bool))
    if pd.api.types.is_numeric_dtype(column.dtype):
        return whole_numbers(column.to_numpy())
    return column.astype(str).to_numpy(dtype=str)  # type: ignore[no-any-return]


def whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as integers: 1.0 and 1 are one group and one label.

    Examples
    --------
    >>> whole_numbers(np.array([1.0, 0.0])).tolist(), whole_numbers(np.array([0.5])).tolist()
    ([1, 0], [0.5])
    """
    values = np.asarray(values)
    if values.dtype.kind == "f" and np.all(np.isfinite(values) & (values == np.rint(values))):
        return values.astype(np.int64) if np.all(np.abs(values) < 2**53) else values
    return values
