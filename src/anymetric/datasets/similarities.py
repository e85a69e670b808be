"""Similarities: 36 ways in which two business records can be alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from anymetric.datasets.sites import Pairs, Site
from anymetric.datasets.tables import Block
from anymetric.errors import import_extra

Measure: TypeAlias = Callable[[Site, Site], float]

_DIRECTIONS = {
    "n": "n", "north": "n", "s": "s", "south": "s",
    "e": "e", "east": "e", "w": "w", "west": "w",
}  # fmt: skip


def similarities(sites: Sequence[Site], pairs: Pairs) -> Block:
    """Compare the records of each pair: names, addresses, zip codes, phones and origins.

    Examples
    --------
    >>> one = Site("1", "7", "a.csv", ("cole", "cpc"), ("412", "s", "keeler"), phone="5346857")
    >>> two = Site("2", "7", "b.csv", ("cole",), ("412", "south", "keeler"), phone="5346857")
    >>> block = similarities([one, two], np.array([[0, 1]]))
    >>> block.values.shape, float(block.values[0, block.names.index("phone_same")])
    ((1, 36), 1.0)
    """
    weight = _token_weights(sites)
    measures: dict[str, Measure] = {
        **_text_measures("name", lambda site: site.name),
        **_name_measures(weight),
        **_text_measures("address", lambda site: site.address),
        **_ADDRESS_MEASURES,
        **_ZIP_MEASURES,
        **_phone_measures(),
        **_ORIGIN_MEASURES,
    }
    matched = [(sites[i], sites[j]) for i, j in pairs]
    values = np.array([[measure(a, b) for measure in measures.values()] for a, b in matched])
    return Block(list(measures), values.reshape(len(matched), len(measures)))


def _text_measures(field: str, tokens: Callable[[Site], tuple[str, ...]]) -> dict[str, Measure]:
    """Six comparisons of a text by rapidfuzz, each between 0 and 1."""
    fuzz = import_extra("rapidfuzz.fuzz", needed_by="load_business_pairs", extra="paper")
    distance = import_extra("rapidfuzz.distance", needed_by="load_business_pairs", extra="paper")

    def on_text(score: Callable[[str, str], float], top: float) -> Measure:
        return lambda a, b: score(" ".join(tokens(a)), " ".join(tokens(b))) / top

    return {
        f"{field}_ratio": on_text(fuzz.ratio, 100.0),
        f"{field}_partial": on_text(fuzz.partial_ratio, 100.0),
        f"{field}_token_sort": on_text(fuzz.token_sort_ratio, 100.0),
        f"{field}_token_set": on_text(fuzz.token_set_ratio, 100.0),
        f"{field}_jaro_winkler": on_text(distance.JaroWinkler.similarity, 1.0),
        f"{field}_jaccard": lambda a, b: _overlap(tokens(a), tokens(b), {}),
    }


def _name_measures(weight: Mapping[str, float]) -> dict[str, Measure]:
    def rarest(a: Site, b: Site) -> float:
        return max((weight[token] for token in {*a.name} & {*b.name}), default=0.0)

    return {
        "name_weighted_jaccard": lambda a, b: _overlap(a.name, b.name, weight),
        "name_rarest_shared": rarest,
        "name_shared_tokens": lambda a, b: math.log1p(len({*a.name} & {*b.name})),
        "name_first_same": lambda a, b: float(a.name[:1] == b.name[:1]),
        "name_last_same": lambda a, b: float(a.name[-1:] == b.name[-1:]),
        "name_stem_same": lambda a, b: float(a.stem == b.stem),
        "name_length": lambda a, b: _ratio(len("".join(a.name)), len("".join(b.name))),
        "name_contained": lambda a, b: float({*a.name} <= {*b.name} or {*b.name} <= {*a.name}),
    }


def _phone_measures() -> dict[str, Measure]:
    distance = import_extra("rapidfuzz.distance", needed_by="load_business_pairs", extra="paper")
    alike = distance.Levenshtein.normalized_similarity
    return {
        "phone_same": lambda a, b: _same(a.phone, b.phone),
        "phone_similarity": lambda a, b: alike(a.phone, b.phone) if a.phone and b.phone else 0.0,
        "phone_exchange_same": lambda a, b: _same(a.phone[:3], b.phone[:3]),
        "phone_line_same": lambda a, b: _same(a.phone[-4:], b.phone[-4:]),
        "phone_missing": lambda a, b: float(not (a.phone and b.phone)),
    }


def _house(site: Site) -> str:
    return site.address[0] if site.address and site.address[0].isdigit() else ""


def _house_gap(a: Site, b: Site) -> float:
    if not (_house(a) and _house(b)):
        return 1.0
    return min(1.0, math.log1p(abs(int(_house(a)) - int(_house(b)))) / 10.0)


def _direction(site: Site) -> str:
    return next((_DIRECTIONS[token] for token in site.address if token in _DIRECTIONS), "")


def _street(site: Site) -> str:
    words = [token for token in site.address[1:] if token not in _DIRECTIONS]
    return words[0] if words else ""


_ADDRESS_MEASURES: dict[str, Measure] = {
    "address_house_same": lambda a, b: _same(_house(a), _house(b)),
    "address_house_gap": _house_gap,
    "address_direction_same": lambda a, b: _same(_direction(a), _direction(b)),
    "address_street_same": lambda a, b: _same(_street(a), _street(b)),
}
_ZIP_MEASURES: dict[str, Measure] = {
    "zip_same": lambda a, b: _same(a.zip, b.zip),
    "zip_differs": lambda a, b: float(bool(a.zip and b.zip) and a.zip != b.zip),
    "zip_missing": lambda a, b: float(not (a.zip and b.zip)),
}
_ORIGIN_MEASURES: dict[str, Measure] = {
    "source_same": lambda a, b: _same(a.source, b.source),
    "program_same": lambda a, b: _same(a.program, b.program),
    "program_missing": lambda a, b: float(not (a.program and b.program)),
    "neighborhood_same": lambda a, b: _same(a.neighborhood, b.neighborhood),
}


def _same(a: str, b: str) -> float:
    return float(bool(a) and a == b)


def _ratio(a: int, b: int) -> float:
    return min(a, b) / max(a, b, 1)


def _overlap(a: Sequence[str], b: Sequence[str], weight: Mapping[str, float]) -> float:
    """Weight of the shared tokens over that of all tokens; a token without weight counts 1."""
    both = sum(weight.get(token, 1.0) for token in {*a} & {*b})
    either = sum(weight.get(token, 1.0) for token in {*a} | {*b})
    return both / either if either else 0.0


def _token_weights(sites: Sequence[Site]) -> dict[str, float]:
    """Inverse document frequency over the records, between 0 (in every name) and 1 (in one)."""
    spread = Counter(token for site in sites for token in set(site.name))
    top = math.log(max(len(sites), 2))
    return {token: math.log(len(sites) / count) / top for token, count in spread.items()}
