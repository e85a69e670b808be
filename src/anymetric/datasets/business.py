"""Business pairs: do two descriptions name the same site? The stand-in for the paper's own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset
from anymetric.datasets.similarities import similarities
from anymetric.datasets.sites import Pairs, Site, candidates, read_sites

Features = Literal["all", "no_phone", "no_address", "no_address_no_phone"]

_LEFT_OUT: dict[str, tuple[str, ...]] = {
    "all": (),
    "no_phone": ("phone_",),
    "no_address": ("address_",),
    "no_address_no_phone": ("address_", "phone_"),
}
_DESCRIPTION = (
    "A row is a pair of records of early childhood sites in Chicago; positive: the same site. "
    "DataMade's dedupe example; MIT licence."
)


def load_business_pairs(
    n_pairs: int | None = 11560,
    random_state: int | np.random.Generator = 0,
    *,
    features: Features = "all",
) -> Dataset:
    """Load pairs of business records: do both describe the same site?

    Candidates share a rare token of the name (one that at most 60 records have), the first
    three tokens of the address, or the phone number: 44,730 pairs, which keep 6,454 of the
    6,608 true ones (97.7 %). A random sample of these is compared in 36 ways.

    Parameters
    ----------
    n_pairs : int or None
        How many candidates to draw; 11,560 is the paper's number, None keeps them all.
    random_state : int or Generator
    features : {"all", "no_phone", "no_address", "no_address_no_phone"}
        All 36 similarities, or the 31, 26 or 21 that do not use those fields.

    Notes
    -----
    The file's entities were made from house number and zip code, so the addresses nearly determine
    the label: equal house numbers alone agree with it on 99.4 % of the candidates. Leave
    the address out for a task that is nearer to the paper's in difficulty.

    Returns
    -------
    Dataset
        Group ``chain`` where the stems (first two tokens) of both names are seen under two or
        more entities, else ``non_chain``. Metadata columns: ``same_phone`` (0 or 1), and ``left``
        and ``right``, the numbers of the two records.

    Examples
    --------
    >>> load_business_pairs()
    Dataset('business_pairs', 11560 x 36, 14.44 % positive, groups: chain, non_chain)
    """
    if features not in _LEFT_OUT:
        raise ValueError(f"features must be one of {sorted(_LEFT_OUT)}; got {features!r}.")
    sites = read_sites()
    pairs = _sample(candidates(sites), n_pairs, np.random.default_rng(random_state))
    block = similarities(sites, pairs)
    same_phone = block.values[:, block.names.index("phone_same")].astype(np.int64)
    kept = [k for k, name in enumerate(block.names) if not name.startswith(_LEFT_OUT[features])]
    left, right = np.array([int(site.record) for site in sites])[pairs].T
    return Dataset(
        "business_pairs",
        np.ascontiguousarray(block.values[:, kept]),
        _same_entity(sites, pairs),
        _groups(sites, pairs),
        [block.names[k] for k in kept],
        {"same_phone": same_phone, "left": left, "right": right},
        _DESCRIPTION,
    )


def load_business_proxy(
    n_pairs: int | None = 11560,
    random_state: int | np.random.Generator = 0,
    *,
    features: Literal["no_phone", "no_address_no_phone"] = "no_phone",
) -> Dataset:
    """Load the proxy task of section 6.4 on business pairs: training sees only equal phones.

    As :func:`load_business_pairs` without the phone; ``y`` is the true label and metadata column
    ``proxy`` says whether both records have the same phone number.

    Parameters
    ----------
    n_pairs, random_state
        As in :func:`load_business_pairs`.
    features : {"no_phone", "no_address_no_phone"}
        The 31 similarities that do not use the phone, or the 21 that use the address
        neither.

    Examples
    --------
    >>> sorted(load_business_proxy().side)
    ['left', 'proxy', 'right']
    """
    if not features.endswith("no_phone"):
        raise ValueError(f"The phone is the proxy and no feature; got features={features!r}.")
    pairs = load_business_pairs(n_pairs, random_state, features=features)
    side = dict(pairs.side)
    side["proxy"] = side.pop("same_phone")
    return Dataset(
        "business_proxy",
        pairs.X,
        pairs.y,
        pairs.groups,
        pairs.feature_names,
        side,
        f"{_DESCRIPTION} Proxy: the same phone number.",
    )


def _sample(pairs: Pairs, n_pairs: int | None, rng: np.random.Generator) -> Pairs:
    if n_pairs is None:
        return pairs
    if not 0 < n_pairs <= len(pairs):
        raise ValueError(f"n_pairs must be between 1 and {len(pairs)}, or None; got {n_pairs}.")
    return pairs[np.sort(rng.choice(len(pairs), size=n_pairs, replace=False))]


def _same_entity(sites: Sequence[Site], pairs: Pairs) -> NDArray[np.int64]:
    return np.array([sites[i].entity == sites[j].entity for i, j in pairs], dtype=np.int64)


def _groups(sites: Sequence[Site], pairs: Pairs) -> NDArray[np.str_]:
    entities: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for site in sites:
        entities[site.stem].add(site.entity)
    chain = np.array([len(entities[site.stem]) >= 2 for site in sites])
    return np.where(chain[pairs].all(axis=1), "chain", "non_chain")
