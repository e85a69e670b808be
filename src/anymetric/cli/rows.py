"""Rows: training rows, validation rows, and rows held out for the final table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._fits import folds as even_folds
from anymetric.cli.baselines import Rows
from anymetric.cli.faults import UserError, need
from anymetric.cli.reading import check_plain, read_table
from anymetric.cli.roles import Roles, Sample, require
from anymetric.cli.schema import MUCH, Schema
from anymetric.cli.stored import numbered
from anymetric.cli.targets import Target
from anymetric.cli.vectors import Features
from anymetric.cli.voice import Voice
from anymetric.estimators._holdout import FEWEST_ROWS, hold_out
from anymetric.metrics import Metric
from anymetric.metrics.ranked import QUERY, RELEVANCE

# Fewer rows than this teach nothing.
FEWEST = 10
SHARE = 0.2


def read_sample(
    path: Path,
    roles: Roles,
    voice: Voice,
    schema: Schema | None = None,
    *,
    encoding: str = "",
    lenient: bool = False,
) -> Sample:
    """Read a file and sort its columns; files after the first are read with its schema."""
    table, name = read_table(path, encoding), str(path)
    tell_encoding(table, name, voice)
    first = schema is None
    if schema is not None:
        # Where rows come from, and what is left out, was settled with the training file.
        roles = replace(roles, source="", drop=(), keep=(), kinds=())
        for column in schema.features:
            require(column, list(table.columns), name)
    roles.check(table.columns, name)
    read = roles.features(table.columns) if schema is None else schema.features
    check_plain(table, {*read, *roles.named}, name)
    if schema is None:
        schema = Schema.of(table, roles)
        if roles.kinds:
            check_said(schema, roles, table, name)
    else:
        schema.check(table, name, voice, lenient, roles.target)
    sample = replace(Sample.of(schema.read(table), roles, name, schema.features), schema=schema)
    if first:
        sample = numbered(sample, table)
    if sample.unlabelled:
        voice.note(
            f"{name}: {sample.unlabelled} rows without a value of {roles.target!r} were left out."
        )
    if first and len(sample) < FEWEST:
        count = f"{len(sample)} row{'s' if len(sample) > 1 else ''}"
        raise UserError(f"{name} has {count}; training needs at least {FEWEST}.")
    return sample


def tell_encoding(table: Any, name: str, voice: Voice) -> None:
    """Say which encoding a file is read in, where nothing told it."""
    if guessed := table.attrs.get("encoding"):
        voice.note(f"Note: {name} is no UTF-8 and is read as {guessed}; --encoding names another.")


def check_said(schema: Schema, roles: Roles, table: Any, name: str) -> None:
    """Refuse a kind that the user names where many values are none of it."""
    for found in schema.unread(table):
        if found.column.name in dict(roles.kinds) and found.wrong > MUCH * found.count:
            column, kind = found.column.name, found.column.kind
            raise UserError(
                f"{name}: --{kind} {column}: {found.wrong:,} of {found.count:,} values are none, "
                f"such as {found.some[0]!r}."
            )


def coded(sample: Sample, target: Target, X: NDArray[np.float64]) -> Rows:
    """Return a sample as estimators take it."""
    y = target.codes(sample.y, sample.name)
    side = sample.side
    if QUERY in side and need("pandas").api.types.is_numeric_dtype(sample.y):
        # Of queries the grades count, not only which rows are relevant.
        side = {RELEVANCE: sample.y.to_numpy(np.float64), **side}
    return Rows(X, y, sample.groups, sample.source, side)


@dataclass(frozen=True, eq=False)
class Division:
    """The samples of a run, and in words which rows its table is made on.

    Examples
    --------
    >>> pd = __import__("pandas")
    >>> sample = Sample(pd.DataFrame({"x": range(100)}), pd.Series([0, 1] * 50), name="rows.csv")
    >>> sample = replace(sample, rows=np.arange(100))
    >>> division = Division.of(sample, None, None, Target((0, 1)), True, 0)
    >>> len(division.train), len(division.test), division.words
    (80, 20, '20 rows of rows.csv, held out of 100 before training')
    """

    train: Sample
    valid: Sample | None
    test: Sample
    what: str
    held_out: bool = True

    @property
    def words(self) -> str:
        """How many rows the table is made on, and which."""
        return f"{len(self.test):,} {self.what}"

    @classmethod
    def of(
        cls,
        sample: Sample,
        valid: Sample | None,
        test: Sample | None,
        target: Target,
        holdout: bool,
        seed: int,
    ) -> Division:
        """Divide the rows: a test file, or rows held out, or validation or training rows."""
        if test is not None:
            return cls(sample, valid, test, f"rows of {test.name}")
        if holdout and len(sample) >= FEWEST_ROWS:
            return cls._held_out(sample, valid, target, seed)
        if valid is not None:
            what = f"rows of {valid.name}, which were also used for validation: optimistic"
            return cls(sample, valid, valid, what, False)
        return cls(
            sample, valid, sample, f"rows of {sample.name}, which trained: optimistic", False
        )

    @classmethod
    def _held_out(cls, sample: Sample, valid: Sample | None, target: Target, seed: int) -> Division:
        # With clean validation rows, the table must be made on clean rows too.
        whole = sample if valid is None or len(valid) < FEWEST_ROWS else valid
        rest, out = some_out(whole, target, np.random.default_rng(seed))
        if target.many:
            rest, out = with_every_class(target.codes(whole.y, whole.name), rest, out)
        queries = "" if QUERY not in whole.side else " (whole queries)"
        what = f"rows of {whole.name}, held out of {len(whole):,}{queries} before training"
        kept, test = whole.take(rest), whole.take(out)
        if whole is valid:
            return cls(sample, kept, test, what)
        return cls(kept, valid, test, what)

    def vectors(
        self, seed: int, target: Target, schema: Schema
    ) -> tuple[Features, Rows, Rows | None, Rows]:
        """Learn the steps from the training rows; return them and the rows of each part."""
        features, matrix = Features.fitted(schema, self.train.X, seed)
        train = coded(self.train, target, matrix)

        def read(part: Sample) -> Rows:
            return coded(part, target, features.matrix(part.X))

        valid = None if self.valid is None else read(self.valid)
        test = read(self.test) if valid is None or self.test is not self.valid else valid
        return features, train, valid, test


def some_out(
    sample: Sample, target: Target, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that stay, and a fifth held out: evenly from each class, or whole queries.

    Examples
    --------
    >>> side = {"query": np.repeat(np.arange(10), 5)}
    >>> rows = Sample(None, __import__("pandas").Series([0, 1] * 25), side=side, name="rows.csv")
    >>> rest, out = some_out(rows, Target((0, 1)), np.random.default_rng(0))
    >>> len(out), set(rest // 5) & set(out // 5)
    (10, set())
    """
    if QUERY not in sample.side:
        strata = strata_of(sample, target)
        return hold_out(strata, SHARE, rng, every=False)[:2]  # type: ignore[no-any-return,no-untyped-call]
    query = query_of(sample)
    order = rng.permutation(query.max() + 1)
    chosen = np.isin(query, order[: max(round(SHARE * len(order)), 1)])
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def dealt(sample: Sample, target: Target, folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return each row's fold: every class dealt out evenly, or whole queries.

    Examples
    --------
    >>> rows = Sample(None, __import__("pandas").Series([0, 1] * 10), name="rows.csv")
    >>> np.bincount(dealt(rows, Target((0, 1)), 5, np.random.default_rng(0))).tolist()
    [4, 4, 4, 4, 4]
    """
    if QUERY in sample.side:
        query = query_of(sample)
        return np.asarray(rng.permutation(query.max() + 1) % folds)[query]
    return even_folds(strata_of(sample, target), folds, rng)


def query_of(sample: Sample) -> NDArray[np.intp]:
    """Return each row's query as a number; at least two are needed to set some apart."""
    query = np.unique(sample.side[QUERY], return_inverse=True)[1]
    if query.max() == 0:
        raise UserError(
            f"{sample.name} has one query, and whole queries are held out: give --test, or rows "
            "of more queries."
        )
    return query


def strata_of(sample: Sample, target: Target) -> NDArray[Any]:
    """Return each row's stratum: its class and group, or its number.

    Examples
    --------
    >>> pd = __import__("pandas")
    >>> sample = Sample(None, pd.Series([0, 1]), groups=np.array(["a", "b"]), name="rows.csv")
    >>> strata_of(sample, Target((0, 1))).tolist()
    [0, 3]
    """
    codes = target.codes(sample.y, sample.name)
    if sample.groups is None or target.labels is None:
        return codes
    return np.asarray(len(target.labels) * np.unique(sample.groups, return_inverse=True)[1] + codes)


def with_every_class(
    codes: NDArray[Any], rest: NDArray[Any], out: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows that stay and those held out; a class that lost all its rows has them back.

    Examples
    --------
    >>> stay, out = with_every_class(np.array([0, 1, 0, 1, 2]), np.array([0, 1]), np.arange(2, 5))
    >>> stay.tolist(), out.tolist()
    ([0, 1, 4], [2, 3])
    """
    lost = ~np.isin(codes[out], codes[rest])
    return np.sort(np.append(rest, out[lost])), out[~lost]


def check_judged(metric: Metric, rows: Rows, target: Target, words: str) -> None:
    """Refuse rows on which the metric has no answer, before anything is trained."""
    y = rows.y.astype(np.float64)
    if target.labels is not None and not target.many:
        y = np.where(rows.y == 1, 1.0, -1.0)
    side = rows.side if rows.groups is None else {**rows.side, "groups": rows.groups}
    try:
        metric.bind(y, side=side, labels=target.known, X=rows.X)
    except ValueError as error:
        raise UserError(f"On {words}: {error}") from error
