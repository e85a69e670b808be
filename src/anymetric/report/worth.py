"""Worth: what each slice of the rows counted for, in numbers and in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anymetric.report.sample import Sample

# A slice with less than this of the whole weight is as good as absent.
NOTHING = 0.02
# How far from its number, or from an even part, a slice's weight must be to be worth a word.
MUCH = 1.5
SLICE = r"[^\[]+\[class=({})(?:, groups=(.*?))?(?:, source=(.*))?\]"
# The classes as slices name them, where there are two.
SIGNS = ("-1", "+1")
JUDGES = "validation rows"
TURNS = "The rows that judged trained too, never for a model that they judged,"


@dataclass(frozen=True)
class Slice:
    """A slice by its name: its weight, and what it is made of where the name tells.

    Examples
    --------
    >>> one = Slice.read("logistic[class=+1, groups=F, source=B]", 0.25)
    >>> one.code, one.parts
    (1, {'groups': 'F', 'source': 'B'})
    >>> Slice.read("softmax[class=bee]", 0.5, ("ant", "bee", "cat")).code
    1
    >>> Slice.read("lp(2)[all]", 1.0).parts
    {}
    """

    name: str
    share: float
    code: int | None
    parts: dict[str, str]

    @classmethod
    def read(cls, name: str, share: float, labels: Sequence[Any] | None = None) -> Slice:
        """Take the name apart; the labels tell the classes where there are more than two."""
        classes = SIGNS if labels is None or len(labels) < 3 else [str(label) for label in labels]
        # Of two labels that both fit, the longer is meant.
        each = sorted(map(re.escape, classes), key=len, reverse=True)
        match = re.fullmatch(SLICE.format("|".join(each)), name, re.DOTALL)
        if match is None:
            return cls(name, share, None, {})
        parts = {"groups": match[2], "source": match[3]}
        known = {k: v for k, v in parts.items() if v is not None}
        return cls(name, share, list(classes).index(match[1]), known)

    def label(self, sample: Sample, names: Mapping[str, str]) -> str:
        """Return the slice as the user would call it."""
        if self.code is None or sample.labels is None:
            return "rows that judge" if self.name == JUDGES else self.name
        target = names.get("target", "class")
        words = [f"{target} = {sample.labels[self.code]}"]
        words += [f"{names.get(key, key.rstrip('s'))} = {v}" for key, v in self.parts.items()]
        return ", ".join(words)

    def rows(self, sample: Sample) -> float | None:
        """Return the slice's part of the sample's rows; None if they do not tell."""
        if self.code is None or "source" in self.parts:
            return None
        chosen = sample.codes == self.code
        if "groups" in self.parts:
            if "groups" not in sample.data.side:
                return None
            chosen = chosen & (sample.data.side["groups"].astype(str) == self.parts["groups"])
        return float(np.mean(chosen)) or None


def labels(names: Sequence[str], sample: Sample, called: Mapping[str, str]) -> list[str]:
    """Return what the user would call each surrogate; their own names if two would be alike."""
    shown = [Slice.read(name, 0.0, sample.labels).label(sample, called) for name in names]
    return shown if len(set(shown)) == len(names) else list(names)


def worth_of(model: Any, sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    """Return every slice with its share of the learned loss, and sentences about them.

    Parameters
    ----------
    model : fitted estimator
    sample : Sample
    names : dict
        What the user calls ``target``, ``groups`` and ``source``.
    """
    weights = getattr(model, "weights_", None)
    if not weights:
        return {}
    slices = [Slice.read(name, float(share), sample.labels) for name, share in weights.items()]
    shown = [
        {"name": s.name, "label": label, "share": s.share, "rows": s.rows(sample)}
        for s, label in zip(slices, labels(list(weights), sample, names), strict=True)
    ]
    told = sentences(shown, {s.name for s in slices if s.code is not None})
    return {"slices": shown, "says": [*marginals(slices, names), *told][:8]}


def marginals(slices: list[Slice], names: Mapping[str, str]) -> list[str]:
    """Say what each source held in all, where it is striking."""
    totals: dict[str, float] = {}
    for s in slices:
        if "source" in s.parts:
            totals[s.parts["source"]] = totals.get(s.parts["source"], 0.0) + s.share
    whole = sum(totals.values())
    if len(totals) < 2 or whole <= 0.0:
        return []
    said = []
    for value, total in totals.items():
        words = in_words(total / whole, 1.0 / len(totals))
        held = f"hold {percent(total)} of the weight"
        said.append(f"Rows of {names.get('source', 'source')} {value} {held}{words}.")
    return said


def sentences(shown: list[dict[str, Any]], classes: Collection[str]) -> list[str]:
    """Say of each slice what it held, the heaviest first; of sources `marginals` has spoken.

    `classes` are the names of the slices of a class.
    """
    said = []
    for one in sorted(shown, key=lambda s: -s["share"]):
        share = f"{percent(one['share'])} of the weight"
        if one["name"] == JUDGES:
            said.append(f"{TURNS} and hold {share}.")
        elif one["rows"] is not None:
            number = percent(one["rows"])
            ratio = ratio_in_words(one["share"] / one["rows"])
            said.append(
                f"Rows with {one['label']} are {number} of the rows and hold {share}: {ratio}."
            )
        elif one["name"] not in classes and one["share"] >= NOTHING:
            said.append(f"{one['label']} holds {share}.")
    return said


def in_words(share: float, even: float) -> str:
    """Return what a share means beside an even one; nothing if it is ordinary.

    Examples
    --------
    >>> in_words(0.01, 0.5), in_words(0.5, 0.5), in_words(0.9, 0.5)
    (': they count for almost nothing', '', ': they count for most of it')
    """
    if share < NOTHING:
        return ": they count for almost nothing"
    if share > max(MUCH * even, 0.5):
        return ": they count for most of it"
    if share * MUCH < even:
        return ": they count for little"
    return ""


def ratio_in_words(ratio: float) -> str:
    """Return how much a row counts beside an average one.

    Examples
    --------
    >>> ratio_in_words(0.05), ratio_in_words(1.1), ratio_in_words(3.14)
    ('each counts for almost nothing', 'each counts for about one', 'each counts for 3.1')
    """
    if ratio < 0.1:
        return "each counts for almost nothing"
    if 1.0 / 1.15 < ratio < 1.15:
        return "each counts for about one"
    return f"each counts for {ratio:.1f}" if ratio < 10 else f"each counts for {ratio:.0f}"


def percent(share: float) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.234), percent(0.004), percent(0.0)
    ('23 %', '0.4 %', '0 %')
    """
    number = 100.0 * share
    return f"{number:.1f} %" if 0.0 < number < 1.0 else f"{number:.0f} %"
