"""Schema: the columns that a model reads, and how; new files are read with it, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from anymetric.cli.faults import UserError, need
from anymetric.cli.kinds import (
    CATEGORY,
    DATE,
    FLAG,
    NUMBER,
    TEXT,
    Column,
    as_words,
    decimal_comma,
    guess,
    said,
    worded,
)
from anymetric.cli.roles import Roles
from anymetric.cli.spellings import MISSING, percents, plain_numbers, stripped
from anymetric.cli.voice import NAMED, Voice

# More of a column than this must not be unknown or unreadable in a new file; a few values may.
MUCH, FEW = 0.2, 5
ADVICE = {
    NUMBER: "Write them as in training, or as plain numbers with a decimal point.",
    FLAG: "Write them as yes and no, or True and False.",
    DATE: "Write them as in training, or as year-month-day, such as 2020-07-13.",
    CATEGORY: "Are they written as in training?",
}


@dataclass(frozen=True)
class Schema:
    """The columns of a table, decided once.

    Parameters
    ----------
    columns : tuple of Column
        Every column that is read, for whatever role.
    features : tuple of str
    dropped : dict
        Why columns were left out of the features, by name.

    Examples
    --------
    >>> table = need("pandas").DataFrame({"x": ["$1", "$2"], "z": ["", ""], "y": ["no", "yes"]})
    >>> schema = Schema.of(table, Roles("y"))
    >>> schema.features, schema.dropped
    (('x',), {'z': 'empty'})
    >>> schema.read(need("pandas").DataFrame({"x": ["1,200"]})).x.tolist()
    [1200.0]
    """

    columns: tuple[Column, ...]
    features: tuple[str, ...]
    dropped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Any, roles: Roles) -> Schema:
        """Decide what the columns of the training rows hold; useless features are left out."""
        features = roles.features(table.columns)
        names = list(dict.fromkeys([*features, *roles.named]))
        comma = decimal_comma(table[name] for name in names)
        columns = {name: guess(table[name], comma) for name in names}
        columns |= {name: said(table[name], kind, comma) for name, kind in roles.kinds}
        for name in roles.named:
            columns[name] = as_role(columns[name], table[name], name in roles.groups)
        whole = cls(tuple(columns.values()), tuple(features))
        dropped = useless(whole.read(table)[features])
        return replace(
            whole, features=tuple(name for name in features if name not in dropped), dropped=dropped
        )

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def of_kind(self, kind: str) -> list[str]:
        """Return the features of a kind."""
        return [
            column.name
            for column in self.columns
            if column.kind == kind and column.name in self.features
        ]

    def read(self, table: Any) -> Any:
        """Return the columns of any file as the types that were decided; others are left out."""
        present = [column for column in self.columns if column.name in table.columns]
        found = {column.name: column.read(table[column.name]) for column in present}
        return need("pandas").DataFrame(found, index=table.index)

    def unread(self, table: Any) -> Iterator[Unread]:
        """Yield the columns of a new file with values that are unknown or cannot be read."""
        for column in self.columns:
            if column.kind == TEXT or column.name not in table.columns:
                continue
            if column.kind == NUMBER and _plain(table[column.name], column.how):
                continue
            text = stripped(as_words(table[column.name]), MISSING)
            if column.kind == CATEGORY:
                wrong = text[text.notna() & ~text.isin(column.words)]
            else:
                wrong = text[text.notna() & column.read(table[column.name]).isna()]
            if len(wrong):
                some = tuple(wrong.value_counts().index[:3])
                yield Unread(column, len(wrong), int(text.notna().sum()), some)

    def check(
        self, table: Any, name: str, voice: Voice, lenient: bool = False, target: str = ""
    ) -> None:
        """Say which values of a new file count as missing; refuse a column in which many do."""
        for found in self.unread(table):
            if found.column.name == target and found.column.kind == CATEGORY:
                continue  # labels that training never saw are refused by name
            if found.much and not lenient:
                raise UserError(
                    f"{name}: {found.says}. {ADVICE[found.column.kind]} "
                    "--allow-unknown takes them as missing."
                )
            voice.note(f"Note: {name}: {found.says}, and count as missing.")
        self._check_percents(table, name, voice)

    def _check_percents(self, table: Any, name: str, voice: Voice) -> None:
        for column in self.columns:
            if not column.percent or column.name not in table.columns:
                continue
            text = stripped(as_words(table[column.name]), MISSING).dropna()
            if len(text) and not percents(text):
                voice.note(
                    f"Note: {name}: column {column.name!r} had percent signs in training and has "
                    "none here: 0.05 is read as 5%, and 5 as 500%."
                )


@dataclass(frozen=True)
class Unread:
    """Values of a column that are unknown or cannot be read: how many, of how many, and some.

    Examples
    --------
    >>> Unread(Column("flag", FLAG), 3, 3, ("maybe",)).says
    "column 'flag' was yes/no in training; 3 of 3 values (100%) cannot be read, such as 'maybe'"
    """

    column: Column
    wrong: int
    count: int
    some: tuple[str, ...] = ()

    @property
    def much(self) -> bool:
        """Whether so many are wrong that the column must be another one than in training."""
        if self.wrong <= max(MUCH, 2.0 * self.column.stray) * self.count:
            return False
        return self.wrong >= FEW or (self.wrong == self.count and self.column.kind != CATEGORY)

    @property
    def says(self) -> str:
        """What there is to say of it."""
        kind, new = self.column.kind, self.column.kind == CATEGORY
        was = kind if kind == FLAG else f"a {kind}"
        values = f"{self.wrong:,} of {self.count:,} values ({self.wrong / self.count:.0%})"
        end = "were never seen there" if new else "cannot be read"
        few = ", ".join(repr(word[:40]) for word in self.some)
        return f"column {self.column.name!r} was {was} in training; {values} {end}, such as {few}"


def _plain(values: Any, mark: str) -> bool:
    types = need("pandas").api.types
    text = types.is_string_dtype(values.dtype)
    numbers = types.is_numeric_dtype(values.dtype)
    return bool(numbers or (text and plain_numbers(values, mark) is not None))


def as_role(column: Column, values: Any, group: bool) -> Column:
    """Return how a column with a role is read: yes and no stay the user's own words.

    Examples
    --------
    >>> values = need("pandas").Series(["yes", "no"], name="paid")
    >>> as_role(Column("paid", FLAG), values, False).words
    ('no', 'yes')
    """
    number = column.kind == NUMBER and not (column.stray and len(set(column.read(values))) < 20)
    flag = column.kind == FLAG and need("pandas").api.types.is_bool_dtype(values.dtype)
    if number or (flag and not group):
        return column
    return worded(column.name, as_words(values), CATEGORY)


def useless(table: Any) -> dict[str, str]:
    """Return why columns teach nothing: they are empty, have one value, or repeat another.

    Examples
    --------
    >>> table = need("pandas").DataFrame({"a": [1, 2], "b": [1, 2], "c": [3, 3], "d": None})
    >>> useless(table)
    {'b': "the same as 'a'", 'c': 'one value', 'd': 'empty'}
    """
    found: dict[str, str] = {}
    seen: dict[tuple[int, str], list[str]] = {}
    hashes = need("pandas").util.hash_pandas_object
    for name in table:
        column = table[name]
        if column.isna().all():
            found[name] = "empty"
        elif column.nunique(dropna=False) == 1:
            found[name] = "one value"
        else:
            key = (int(hashes(column, index=False, categorize=False).sum()), str(column.dtype))
            same = [other for other in seen.get(key, []) if column.equals(table[other])]
            if same:
                found[name] = f"the same as {same[0]!r}"
            seen.setdefault(key, []).append(name)
    return found


def read_as(schema: Schema) -> str:
    """Return how columns are read, as a page shows it."""
    lines = []
    for kind, names in guessed(schema).items():
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        lines.append(f"{kind}: {', '.join(names[:NAMED])}{more}")
    return "; ".join(lines)


def guessed(schema: Schema) -> dict[str, list[str]]:
    """Return the columns of each kind, as a short table shows them: with what is worth a word.

    Examples
    --------
    >>> guessed(
    ...     Schema((Column("x", NUMBER, "comma"), Column("z", TEXT)), ("x", "z"), {"c": "empty"})
    ... )
    {'number': ['x (decimal comma)'], 'text': ['z'], 'left out': ['c (empty)']}
    """
    rows: dict[str, list[str]] = {}
    for column in schema.columns:
        if column.name in schema.features:
            end = f" ({column.says})" if column.says else ""
            rows.setdefault(column.kind, []).append(f"{column.name}{end}")
    if schema.dropped:
        rows["left out"] = [f"{name} ({why})" for name, why in schema.dropped.items()]
    return rows
