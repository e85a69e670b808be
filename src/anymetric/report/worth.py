"""Worth: the learned weights of the slices of the rows, in numbers and in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anymetric.report.sample import Sample

# A slice with less than this of the whole weight is as good as absent.
NOTHING = 0.02
# How far from its number, or from an even part, a slice's weight must be to be worth a word.
MUCH = 1.5
SLICE = r"[^\[]+\[class=({})((?:, (?:groups|source)=.*)?)\]"
GROUPS, SOURCE = ", groups=", ", source="
# The classes as slices name them, where there are two; what a ranking distinguishes.
SIGNS = ("-1", "+1")
RELEVANCE = ("lowest relevance", "higher relevance")
JUDGES = "validation rows"
TURNS = "The validation rows trained too, never for a model that they evaluate,"


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
    def read(
        cls,
        name: str,
        share: float,
        labels: Sequence[Any] | None = None,
        groups: Collection[str] = (),
    ) -> Slice:
        """Take the name apart.

        The labels tell the classes where there are more than two; the groups that are known tell
        where a group's name ends.
        """
        classes = SIGNS if labels is None or len(labels) < 3 else [str(label) for label in labels]
        # Of two labels that both fit, the longer is meant.
        each = sorted(map(re.escape, classes), key=len, reverse=True)
        match = re.fullmatch(SLICE.format("|".join(each)), name, re.DOTALL)
        if match is None:
            return cls(name, share, None, {})
        return cls(name, share, list(classes).index(match[1]), parts_of(match[2], groups))

    def label(self, sample: Sample, names: Mapping[str, str]) -> str:
        """Return the slice as the user would call it."""
        if self.code is None or sample.labels is None:
            return "validation rows" if self.name == JUDGES else self.name
        target = names.get("target", "class")
        words = [f"{target} = {sample.labels[self.code]}"]
        if sample.ranks:
            words = [RELEVANCE[self.code]]
        words += [f"{names.get(key, key.rstrip('s'))} = {v}" for key, v in self.parts.items()]
        return ", ".join(words)


def parts_of(text: str, groups: Collection[str] = ()) -> dict[str, str]:
    """Return the group and the source that the end of a slice's name speaks of.

    A name may hold what looks like a source: the groups that are known tell.

    Examples
    --------
    >>> parts_of(", groups=F, source=B")
    {'groups': 'F', 'source': 'B'}
    >>> parts_of(", groups=F, source=B", {"F, source=B"})
    {'groups': 'F, source=B'}
    """
    if not text.startswith(GROUPS):
        return {"source": text.removeprefix(SOURCE)} if text else {}
    pieces = text.removeprefix(GROUPS).split(SOURCE)
    cuts = [SOURCE.join(pieces[: k + 1]) for k in range(len(pieces))]
    known = [k for k, group in enumerate(cuts) if group in groups]
    end = known[-1] if known else 0
    found = {"groups": cuts[end]}
    return found | ({"source": SOURCE.join(pieces[end + 1 :])} if end + 1 < len(pieces) else {})


def read_all(weights: Mapping[str, float], sample: Sample) -> list[Slice]:
    """Return every slice of these names and weights."""
    column = sample.data.side.get("groups")
    groups = set() if column is None else set(column.astype(str).tolist())
    return [Slice.read(name, float(w), sample.labels, groups) for name, w in weights.items()]


def labels(names: Sequence[str], sample: Sample, called: Mapping[str, str]) -> list[str]:
    """Return what the user would call each surrogate; their own names if two would be alike."""
    slices = read_all(dict.fromkeys(names, 0.0), sample)
    shown = [one.label(sample, called) for one in slices]
    return shown if len(set(shown)) == len(names) else list(names)


def worth_of(model: Any, sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    """Return every slice with its shares of the learned loss and of the training rows, and words.

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
    slices, rows = read_all(weights, sample), getattr(model, "row_shares_", {})
    shown: list[dict[str, Any]] = [
        {"name": s.name, "label": label, "share": s.share, "rows": rows.get(s.name)}
        for s, label in zip(slices, labels(list(weights), sample, names), strict=True)
    ]
    if len(shown) > 2 and all(
        one["rows"] and about_one(one["share"] / one["rows"]) for one in shown
    ):
        return {"slices": shown, "says": ["All rows count about the same."]}
    each = sentences(shown, {s.name for s in slices if silent(s, rows)})
    return {"slices": shown, "says": [*marginals(slices, rows, names), *each][:8]}


def silent(one: Slice, rows: Mapping[str, float]) -> bool:
    """Whether there is nothing to say of a slice: of sources `marginals` has spoken."""
    return "source" in one.parts or (one.code is not None and one.name not in rows)


def marginals(
    slices: list[Slice], rows: Mapping[str, float], names: Mapping[str, str]
) -> list[str]:
    """Say what each source held in all, where it is striking beside its share of the rows."""
    totals: dict[str, float] = {}
    shares: dict[str, float] = {}
    for s in slices:
        if "source" in s.parts:
            source = s.parts["source"]
            totals[source] = totals.get(source, 0.0) + s.share
            shares[source] = shares.get(source, 0.0) + rows.get(s.name, 1.0)
    whole, all_ = sum(totals.values()), sum(shares.values())
    if len(totals) < 2 or whole <= 0.0:
        return []
    said = []
    for value, total in totals.items():
        words = in_words(total / whole, shares[value] / all_)
        held = f"hold {percent(total)} of the weight"
        said.append(f"Rows of {names.get('source', 'source')} {value} {held}{words}.")
    return said


def sentences(shown: list[dict[str, Any]], unsaid: Collection[str]) -> list[str]:
    """Say of each slice what it held, the heaviest first, but for those whose names are `unsaid`.

    Examples
    --------
    >>> ones = {"name": "a", "label": "y = 1", "share": 0.5, "rows": 0.25}
    >>> sentences([ones], ())[0].partition(" and ")[2]
    'hold 50 % of the weight: each counts for 2.0.'
    """
    said = []
    for one in sorted(shown, key=lambda s: -s["share"]):
        share = f"{percent(one['share'])} of the weight"
        if one["name"] == JUDGES:
            said.append(f"{TURNS} and hold {share}.")
        elif one["name"] in unsaid:
            continue
        elif one["rows"]:
            number = f"{percent(one['rows'])} of the training rows"
            ratio = ratio_in_words(one["share"] / one["rows"])
            said.append(f"Rows with {one['label']} are {number} and hold {share}: {ratio}.")
        elif one["share"] >= NOTHING:
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
    if about_one(ratio):
        return "each counts for about one"
    return f"each counts for {ratio:.1f}" if ratio < 10 else f"each counts for {ratio:.0f}"


def about_one(ratio: float) -> bool:
    """Whether rows of this weight count about as much as an average one."""
    return 1.0 / 1.15 < ratio < 1.15


def percent(share: float) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.234), percent(0.004), percent(0.0)
    ('23 %', '0.4 %', '0 %')
    """
    number = 100.0 * share
    return f"{number:.1f} %" if 0.0 < number < 1.0 else f"{number:.0f} %"
