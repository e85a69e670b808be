"""Vectors: from a table of numbers, text, dates and missing values to a standardised matrix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from anymetric.cli.faults import UserError, first_line, need
from anymetric.cli.kinds import CATEGORY, DATE, FLAG, NUMBER, TEXT
from anymetric.cli.schema import Schema

# A missing value of a category is a value of its own.
ABSENT = "(missing)"
# Numbers that a text becomes, and the words that are tried as names for them.
COMPONENTS, FREQUENT = 30, 300


def vectoriser(schema: Schema, seed: int) -> Pipeline:
    """Return the steps before the model: encoders by kind, an imputer, a scaler.

    Dates and text are encoded by skrub, the rest by scikit-learn.
    """
    skrub = need("skrub")
    one_hot = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
    parts: list[tuple[str, Any, Any]] = [
        ("numbers", "passthrough", [*schema.of_kind(NUMBER), *schema.of_kind(FLAG)]),
        ("words", one_hot, schema.of_kind(CATEGORY)),
    ]
    parts += [(f"date {name}", skrub.DatetimeEncoder(), name) for name in schema.of_kind(DATE)]
    for name in schema.of_kind(TEXT):
        text = skrub.StringEncoder(n_components=COMPONENTS, random_state=seed)
        parts.append((f"text {name}", text, name))
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline(
        [("table", ColumnTransformer(parts)), ("fill", fill), ("scale", StandardScaler())]
    )


@dataclass(frozen=True, eq=False)
class Features:
    """From the rows of any file to a matrix: how columns are read, and the steps after it.

    Parameters
    ----------
    schema : Schema
    steps : Pipeline
    names : list of str
        A readable name for each column of the matrix.
    owners : list of str
        The column of the file that each comes from.

    Examples
    --------
    >>> from anymetric.cli.roles import Roles
    >>> table = need("pandas").DataFrame({"city": ["a", "b", "a", "c"], "age": ["3", "", "4", "5"]})
    >>> schema = Schema.of(table.assign(y=0), Roles("y"))
    >>> features, matrix = Features.fitted(schema, schema.read(table), 0)
    >>> features.names, matrix.shape
    (['age', 'city=a', 'city=b', 'city=c', 'age missing'], (4, 5))
    """

    schema: Schema
    steps: Any
    names: list[str]
    owners: list[str]

    @classmethod
    def fitted(cls, schema: Schema, table: Any, seed: int) -> tuple[Features, NDArray[np.float64]]:
        """Learn the steps from the training rows; return them and the rows' matrix."""
        if not schema.features:
            raise UserError("No column is left to learn from: all are empty or have one value.")
        steps = vectoriser(schema, seed)
        with _in_a_sentence():
            matrix = np.asarray(steps.fit_transform(prepared(schema, table)), dtype=np.float64)
        named = list(_named(steps, schema, table))
        return cls(
            schema, steps, [name for name, _ in named], [owner for _, owner in named]
        ), matrix

    @property
    def blocks(self) -> dict[str, list[int]]:
        """The columns of the matrix that come from each column of the file."""
        found: dict[str, list[int]] = {}
        for k, owner in enumerate(self.owners):
            found.setdefault(owner, []).append(k)
        return found

    def matrix(self, table: Any) -> NDArray[np.float64]:
        """Return the matrix of a table, which is read as in training."""
        with _in_a_sentence():
            found = self.steps.transform(prepared(self.schema, self.schema.read(table)))
        return np.asarray(found, dtype=np.float64)


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # encoders reject a column in many ways
        message = f"The columns cannot be turned into numbers: {first_line(error)}."
        raise UserError(message) from error


def prepared(schema: Schema, table: Any) -> Any:
    """Return the features as encoders take them: no infinities, a word for a missing category."""
    pd = need("pandas")
    found = {}
    for name in schema.features:
        column = table[name]
        if schema[name].kind in (NUMBER, FLAG):
            values = column.to_numpy(np.float64)
            column = np.where(np.isfinite(values), values, np.nan)
        elif schema[name].kind in (CATEGORY, TEXT):
            empty = ABSENT if schema[name].kind == CATEGORY else ""
            column = column.astype(object).where(column.notna(), empty)
        found[name] = column
    return pd.DataFrame(found, index=table.index)


def _named(steps: Any, schema: Schema, table: Any) -> Iterator[tuple[str, str]]:
    """Yield a name and the owner of each column of the matrix."""
    blocks = steps["table"]
    names: list[tuple[str, str]] = []
    for part, encoder, chosen in blocks.transformers_:
        if part == "numbers":
            names += [(name, name) for name in chosen]
        elif part == "words" and len(chosen):
            names += _one_hot(encoder, chosen)
        elif part.startswith("date "):
            parts = map(str, encoder.get_feature_names_out())
            names += [(date_name(feature, chosen), chosen) for feature in parts]
        elif part.startswith("text "):
            names += [(name, chosen) for name in text_names(encoder, table[chosen])]
    yield from names
    for k in steps["fill"].indicator_.features_:
        yield f"{names[k][1]} missing", names[k][1]


def _one_hot(encoder: Any, chosen: list[str]) -> Iterator[tuple[str, str]]:
    for name, words, out in zip(chosen, encoder.categories_, encoder.drop_idx_, strict=True):
        for k, word in enumerate(words):
            if k != out:
                yield (f"{name} missing" if word == ABSENT else f"{name}={word}"), name


def date_name(feature: str, column: str) -> str:
    """Return a part of a date as a reader calls it.

    Examples
    --------
    >>> date_name("since_month", "since"), date_name("since_total_seconds", "since")
    ('since: month', 'since: time')
    """
    part = feature.removeprefix(f"{column}_").replace("_", " ")
    return f"{column}: {'time' if part == 'total seconds' else part}"


def text_names(encoder: Any, column: Any) -> list[str]:
    """Return a name for each number that a text becomes: the words that raise or lower it most.

    Examples
    --------
    >>> column = need("pandas").Series(["red wine", "white wine", "green tea", "black tea"] * 9)
    >>> encoder = need("skrub").StringEncoder(n_components=2, random_state=0)
    >>> _ = encoder.fit(column.rename("drink"))
    >>> sorted(text_names(encoder, column.rename("drink")))
    ['drink: "...", "...", "..."', 'drink: "...", "...", "..."']
    """
    pd, name = need("pandas"), str(column.name)
    words = frequent_words(column.dropna())
    count = len(encoder.get_feature_names_out())
    if not words:
        return [f"{name} {k + 1}" for k in range(count)]
    weights = np.asarray(encoder.transform(pd.Series(words, name=column.name)), dtype=np.float64)
    names: list[str] = []
    for k in range(count):
        best = np.argsort(-np.abs(weights[:, k]), kind="stable")[:3]
        shown = f"{name}: " + ", ".join(f'"{words[j]}"' for j in best)
        names.append(shown if shown not in names else f"{shown} ({k + 1})")
    return names


def frequent_words(texts: Any) -> list[str]:
    """Return the words that are in the most texts: of three letters or more, or else any.

    Examples
    --------
    >>> frequent_words(["Win a prize", "win now"]), frequent_words(["7 北京", "8 北京"])
    (['win', 'prize', 'now'], ['北京', '7', '8'])
    """
    for pattern in (r"[^\W\d_]{3,}", r"\w+"):
        found: Counter[str] = Counter()
        for text in texts:
            found.update(sorted(set(re.findall(pattern, text.lower())), key=text.lower().index))
        if found:
            return [word for word, _ in found.most_common(FREQUENT)]
    return []
