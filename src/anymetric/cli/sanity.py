"""Sanity: what a careful colleague would ask about the rows before anyone is proud of a result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from anymetric.cli.faults import need
from anymetric.cli.kinds import CATEGORY, DATE, NUMBER, TEXT
from anymetric.cli.roles import Sample
from anymetric.cli.targets import Target
from anymetric.cli.voice import Voice
from anymetric.surprises import repeated

# Names that ids go by.
IDS = re.compile(
    r"(?i:(^|[_\W])(id|uuid|guid|key|index|idx|row|rownum|nr|no)$|^unnamed: ?0$)|I[dD]$"
)
# A column that alone decides so much of the target is looked at; on fewer rows chance does it.
NEARLY, FEWEST = 0.98, 50
# Bins of a number, and rows that are looked at.
BINS, LOOKED_AT = 32, 5000
# A group with fewer rows than this tells little.
SMALL_GROUP = 20


def warn(sample: Sample, others: list[Sample | None], target: Target, voice: Voice) -> None:
    """Say what looks wrong in the rows, before anything is trained."""
    for line in [
        *ids(sample),
        *leaks(sample, target.codes(sample.y, sample.name), target.labels is not None),
        *small_groups(sample),
        *(
            line
            for one in (sample, *others)
            if one is not None
            for line in one_class_groups(one, target)
        ),
        *(line for other in others if other is not None for line in shared(sample, other)),
    ]:
        voice.note(f"Warning: {line}")


def ids(sample: Sample) -> Iterator[str]:
    """Yield what to say of columns that number or name the rows.

    Examples
    --------
    >>> from anymetric.cli.roles import Roles
    >>> from anymetric.cli.schema import Schema
    >>> table = need("pandas").DataFrame({"order": range(30), "y": [0, 1] * 15})
    >>> schema = Schema.of(table, Roles("y"))
    >>> list(ids(Sample(table[["order"]], table["y"], name="rows.csv", schema=schema)))
    ["column 'order' has another value in every row, as an id has; if it is one, --drop order."]
    """
    for name in sample.schema.features if len(sample) >= 20 else ():
        column = sample.X[name]
        if column.nunique() < len(column):
            continue
        if _numbers_rows(column, name) if _is(sample, name, NUMBER) else _names_rows(column):
            yield (
                f"column {name!r} has another value in every row, as an id has; if it is one, "
                f"--drop {name}."
            )


def _is(sample: Sample, name: str, *kinds: str) -> bool:
    return sample.schema[name].kind in kinds


def _numbers_rows(column: Any, name: str) -> bool:
    values = column.to_numpy(np.float64)
    if np.any(values != np.rint(values)):
        return False
    return bool(np.ptp(values) == len(values) - 1 or IDS.search(name.strip()))


def _names_rows(column: Any) -> bool:
    if not need("pandas").api.types.is_string_dtype(column.dtype):
        return False
    return bool((~column.str.contains(r"\s", na=False)).mean() > 0.95)


def leaks(sample: Sample, y: NDArray[Any], classes: bool) -> Iterator[str]:
    """Yield what to say of columns that alone nearly decide the target."""
    if len(sample) < FEWEST:
        return
    rows = np.random.default_rng(0).permutation(len(sample))[:LOOKED_AT]
    target = y[rows] if classes else rankdata(y[rows])
    for name in sample.schema.features:
        if _is(sample, name, TEXT):
            continue
        told = alone(binned(sample.X[name].iloc[rows], sample.schema[name].kind), target, classes)
        if told >= NEARLY:
            yield (
                f"column {name!r} alone nearly decides the target ({told:.1%}): is it known when "
                f"a prediction is made? If not, --drop {name}."
            )


def binned(column: Any, kind: str) -> NDArray[np.intp]:
    """Return each value's bin: categories as they are, numbers and dates by rank; missing is 0."""
    missing = column.isna().to_numpy()
    if kind == CATEGORY:
        return np.asarray(column.astype("category").cat.codes.to_numpy(np.intp) + 1)
    values = column.to_numpy("datetime64[us]").astype(np.int64) if kind == DATE else column
    ranks = rankdata(np.asarray(values, dtype=np.float64)[~missing])
    found = np.zeros(len(column), dtype=np.intp)
    found[~missing] = 1 + np.ceil(ranks / max(len(ranks), 1) * BINS).astype(np.intp)
    return found


def alone(bins: NDArray[np.intp], y: NDArray[Any], classes: bool) -> float:
    """Return how well a column alone tells the target, each half of the rows by the other half.

    Balanced accuracy for classes, the squared correlation of ranks for numbers.

    Examples
    --------
    >>> y = np.array([0, 1] * 50)
    >>> alone(y.astype(np.intp), y, True), alone(np.zeros(100, dtype=np.intp), y, True)
    (1.0, 0.5)
    """
    said = np.zeros(len(y))
    half, size = np.arange(len(y)) % 4 < 2, int(bins.max()) + 1
    for known in (half, ~half):
        said[~known] = _learned(bins[known], y[known], size, classes)[bins[~known]]
    if classes:
        return float(np.mean([np.mean(said[y == label] == label) for label in np.unique(y)]))
    together = np.cov(said, y)
    spread = together[0, 0] * together[1, 1]
    return 0.0 if spread == 0.0 else float(together[0, 1] ** 2 / spread)


def _learned(
    bins: NDArray[np.intp], y: NDArray[Any], size: int, classes: bool
) -> NDArray[np.float64]:
    """Return the prediction of each bin: its most frequent class, balanced, or its mean."""
    if not classes:
        count = np.bincount(bins, minlength=size)
        sums = np.bincount(bins, weights=y, minlength=size)
        return np.where(count > 0, sums / np.maximum(count, 1), y.mean())
    labels = np.unique(y)
    each = [bins[y == label] for label in labels]
    shares = [np.bincount(own, minlength=size) / len(own) for own in each]
    return np.asarray(labels[np.argmax(shares, axis=0)], dtype=np.float64)


def small_groups(sample: Sample) -> Iterator[str]:
    """Yield what to say of groups with a handful of rows.

    Examples
    --------
    >>> groups = np.array(["a"] * 30 + ["b"] * 3)
    >>> list(small_groups(Sample(None, groups=groups, name="rows.csv")))
    ['few rows are in the groups b (3): what is said of them, and thresholds of theirs, is noise.']
    """
    if sample.groups is None:
        return
    names, counts = np.unique(sample.groups, return_counts=True)
    few = [f"{name} ({n})" for name, n in zip(names, counts, strict=True) if n < SMALL_GROUP]
    if few:
        more = f" and {len(few) - 8} more" if len(few) > 8 else ""
        yield (
            f"few rows are in the groups {', '.join(few[:8])}{more}: what is said of them, and "
            "thresholds of theirs, is noise."
        )


def one_class_groups(sample: Sample, target: Target) -> Iterator[str]:
    """Yield what to say of groups whose rows are all of one class.

    Examples
    --------
    >>> y = need("pandas").Series([0, 1] * 20 + [0] * 4)
    >>> groups = np.array(["a"] * 40 + ["b"] * 4)
    >>> rows = Sample(None, y, groups=groups, name="rows.csv")
    >>> list(one_class_groups(rows, Target((0, 1))))
    ['in rows.csv no row of the group b (4 rows) is 1: recall and F1 there are 0 for every model.']
    """
    if sample.groups is None or target.labels is None or target.many:
        return
    codes = target.codes(sample.y, sample.name)
    names, counts = np.unique(sample.groups, return_counts=True)
    for code, what in enumerate(("false positive rates", "recall and F1")):
        without = ~np.isin(names, sample.groups[codes == code])
        each = [
            f"{name} ({count} rows)"
            for name, count in zip(names[without], counts[without], strict=True)
        ]
        if each:
            more = f" and {len(each) - 8} more" if len(each) > 8 else ""
            yield (
                f"in {sample.name} no row of the group{'s' if len(each) > 1 else ''} "
                f"{', '.join(each[:8])}{more} is {target.labels[code]!r}: {what} there are 0 for "
                "every model."
            )


def shared(sample: Sample, other: Sample) -> Iterator[str]:
    """Yield what to say of a file that has rows of the training file.

    Examples
    --------
    >>> table = need("pandas").DataFrame({"x": np.arange(100.0), "y": [0, 1] * 50})
    >>> train = Sample(table[["x"]][:80], table["y"][:80], name="train.csv")
    >>> list(shared(train, Sample(table[["x"]][60:], table["y"][60:], name="test.csv")))
    ['20 of 40 rows of test.csv are also in train.csv: what is measured on them is optimistic.']
    """
    hashes = need("pandas").util.hash_pandas_object
    mine, theirs = (
        hashes(one.X.assign(**{"": one.y.astype(str)}), index=False).to_numpy()
        for one in (sample, other)
    )
    both = repeated(mine, theirs)
    if both:
        yield (
            f"{both:,} of {len(theirs):,} rows of {other.name} are also in {sample.name}: what is "
            "measured on them is optimistic."
        )


def one_sided(scores: NDArray[np.float64], target: Target) -> str:
    """Return what to say of a model that flags nobody or everybody; empty if it does neither.

    Examples
    --------
    >>> one_sided(np.array([-1.0, -2.0]), Target(("no", "yes")))
    "Warning: the model calls none of 2 rows 'yes'."
    """
    if target.labels is None or target.many or scores.ndim > 1 or len(scores) < 2:
        return ""
    flagged = int(np.sum(scores > 0.0))
    if flagged not in (0, len(scores)):
        return ""
    who = "none" if flagged == 0 else "all"
    return f"Warning: the model calls {who} of {len(scores):,} rows {target.labels[1]!r}."
