"""Sites: the business records behind the pairs, and which of them are compared."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.store import SOURCES, read
from anymetric.datasets.tables import read_columns

Pairs: TypeAlias = NDArray[np.intp]  # (m, 2): row numbers, the smaller one first

_RARE = 60  # a name token is rare when at most so many records have it
_STEM = 2  # a name's stem is its first tokens
# The order in which _site takes them.
_COLUMNS = [
    "Id",
    "True Id",
    "Source",
    "Site name",
    "Address",
    "Zip",
    "Phone",
    "Program Name",
    "Neighborhood",
]


@dataclass(frozen=True)
class Site:
    """One record: a name, an address and what else is known, in lower-case tokens.

    Examples
    --------
    >>> Site("1", "7", "a.csv", ("cole", "cpc"), ("412", "s", "keeler")).stem
    ('cole', 'cpc')
    """

    record: str
    entity: str
    source: str
    name: tuple[str, ...]
    address: tuple[str, ...]
    zip: str = ""
    phone: str = ""
    program: str = ""
    neighborhood: str = ""

    @property
    def stem(self) -> tuple[str, ...]:
        """The first tokens of the name, which the branches of a chain share."""
        return self.name[:_STEM]


def read_sites() -> list[Site]:
    """Read the 3,337 records, in the file's order.

    Examples
    --------
    >>> len(read_sites())
    3337
    """
    columns = read_columns(read(SOURCES["business_sites/early_childhood_sites.csv"]))
    rows = zip(*(columns[name] for name in _COLUMNS), strict=True)
    return [_site(*row) for row in rows]


def candidates(sites: Sequence[Site]) -> Pairs:
    """Find the pairs that share a rare name token, the start of the address or the phone.

    Examples
    --------
    >>> one = Site("1", "7", "a.csv", ("cole", "cpc"), ("412", "s", "keeler"))
    >>> two = Site("2", "7", "b.csv", ("cole",), ("412", "south", "keeler"))
    >>> three = Site("3", "8", "b.csv", ("beidler",), ("3151", "w", "walnut"))
    >>> candidates([one, two, three]).tolist()
    [[0, 1]]
    """
    spread = Counter(token for site in sites for token in set(site.name))
    found = _sharing([[t for t in set(s.name) if spread[t] <= _RARE] for s in sites])
    found |= _sharing([[s.address[:3]] if len(s.address) >= 3 else [] for s in sites])
    found |= _sharing([[s.phone] if s.phone else [] for s in sites])
    return np.array(sorted(found), dtype=np.intp).reshape(-1, 2)


def _sharing(keys: Iterable[Iterable[Hashable]]) -> set[tuple[int, int]]:
    holders: defaultdict[Hashable, list[int]] = defaultdict(list)
    for row, held in enumerate(keys):
        for key in held:
            holders[key].append(row)
    return {pair for rows in holders.values() for pair in combinations(rows, 2)}


def _site(record: str, entity: str, source: str, name: str, address: str, *rest: str) -> Site:
    zip_code, phone, program, neighborhood = (text.strip().lower() for text in rest)
    digits = re.sub(r"\D", "", phone)
    name_tokens, address_tokens = _tokens(name), _tokens(address)
    return Site(
        record, entity, source, name_tokens, address_tokens, zip_code, digits, program, neighborhood
    )


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))
