"""Shown: what the default must reach, held against what it does."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, median

import numpy as np
from benchmarks.shared import error

from .results import REFERENCE, Results
from .tasks import TASKS

DEFAULT, BALANCED, FEW, MANY = "auto", "balanced", "auto_hidden_200", "auto_hidden"
# The same linear model, trained on the rows before they were corrupted.
CLEAN = "clean_tuned_threshold"
# The highest test cost, mean over seeds.
HIGHEST = {
    "simulated_gmean": 0.320,
    "adult_noisy50": 0.318,
    "adult_noisy50_v500": 0.328,
    "compas_noisy50": 0.364,
    "compas_noisy50_v200": 0.370,
    "compas_noisy80_v300": 0.389,
    "credit_noisy50": 0.475,
    "credit_noisy50_v500": 0.476,
    "adult_proxy": 0.160,
    "adult_proxy_v300": 0.185,
    "adult_noisy_labels": 0.178,
}
# No seed of the simulated data may be above this.
WORST = 0.345
SLOWEST, KEPT, CALLS = 20.0, 0.9, 200

Line = tuple[str, str, str]


def shown(results: Results) -> list[Line]:
    """Return a line for each thing to show: what, the numbers, and whether it is so."""
    if DEFAULT not in results.methods:
        return []
    return [
        line
        for part in (first, never_below, reached, simulated, labels, price, brief)
        for line in part(results)
    ]


def result(so: bool) -> str:
    """Say whether something is so."""
    return "yes" if so else "**no**"


def first(results: Results) -> Iterator[Line]:
    """Yield whether the default has the best mean rank, on the tasks that it shares with each."""
    own, improvements = results.ranks(DEFAULT), {}
    for name in results.methods:
        shared = {task: rank for task, rank in results.ranks(name).items() if task in own}
        if name != DEFAULT and shared:
            improvements[name] = mean(rank - own[task] for task, rank in shared.items())
    if improvements:
        close = min(improvements, key=improvements.__getitem__)
        numbers = f"{mean(own.values()):.2f}; closest {close}, {improvements[close]:+.2f} behind"
        yield "best mean rank", numbers, result(improvements[close] >= 0.0)


def never_below(results: Results) -> Iterator[Line]:
    """Yield how far the default is behind tuned threshold where that is most, in its errors."""
    behind = {}
    for task in results.tasks:
        ours, theirs = results.costs(task, DEFAULT), results.costs(task, REFERENCE)
        if ours and len(theirs) > 1:
            behind[task] = (mean(ours) - mean(theirs)) / error(theirs)
    if behind:
        most = max(behind, key=behind.__getitem__)
        numbers = f"most on {most}: {behind[most]:+.2f} standard errors"
        yield f"never behind {REFERENCE} by more than one", numbers, result(behind[most] <= 1.0)


def reached(results: Results) -> Iterator[Line]:
    """Yield each cost that must be reached."""
    for task, most in HIGHEST.items():
        if costs := results.costs(task, DEFAULT):
            numbers = f"{mean(costs):.4f} ± {error(costs):.4f}, {len(costs)} seeds"
            if len(gaps := results.gaps(task, CLEAN, DEFAULT)) > 1:
                numbers += f"; below {CLEAN} by {mean(gaps):+.4f} ± {error(gaps):.4f}"
            yield f"{task}: at most {most:.3f}", numbers, result(mean(costs) <= most)


def simulated(results: Results) -> Iterator[Line]:
    """Yield the worst seed of the simulated data."""
    if costs := results.costs("simulated_gmean", DEFAULT):
        what = f"simulated_gmean: no seed above {WORST}"
        yield what, f"{max(costs):.4f}", result(max(costs) <= WORST)


def labels(results: Results) -> Iterator[Line]:
    """Yield the default against tuned threshold and balanced weights where labels are noisy."""
    task = "adult_noisy_labels"
    for baseline, errors in ((REFERENCE, 2.0), (BALANCED, 0.0)):
        gaps = results.gaps(task, baseline, DEFAULT)
        if len(gaps) > 1:
            what = f"{task}: below {baseline}" + (
                f" by {errors:g} standard errors" if errors else ""
            )
            numbers = f"{mean(gaps):+.4f} ± {error(gaps):.4f}"
            yield what, numbers, result(mean(gaps) >= errors * error(gaps))


def price(results: Results) -> Iterator[Line]:
    """Yield the median time."""
    if ratios := results.ratios(DEFAULT):
        what = f"fitting at most {SLOWEST:g} times as long as {REFERENCE}, median over tasks"
        yield what, f"{median(ratios):.1f}", result(median(ratios) <= SLOWEST)


def brief(results: Results) -> Iterator[Line]:
    """Yield the part of the gain that 200 calls give: of a metric as it is, and of a hidden one.

    A fit that took no more calls than that is the same with such a limit.
    """
    parts = {"all calls": MANY, "200 calls": FEW}
    corrupted = [task for task in results.tasks if TASKS[task].corrupted]
    calls = [row.calls for row in results.of(DEFAULT) if row.task in corrupted]
    if calls and max(calls) <= CALLS:
        what = f"a ready-made metric, {CALLS} calls: {KEPT:.0%} of the gain over {REFERENCE}"
        yield what, f"all of it: no fit took more than {max(calls):g} calls", result(True)
    for said, method in parts.items():
        every = [
            (results.gaps(t, REFERENCE, method), results.gaps(t, REFERENCE, DEFAULT))
            for t in corrupted
        ]
        pairs = [(mean(own), mean(full)) for own, full in every if own and full]
        if pairs:
            share = np.sum(pairs, axis=0)
            kept = float(share[0] / share[1])
            what = f"a hidden metric, {said}: {KEPT:.0%} of the gain over {REFERENCE}"
            yield what, f"{kept:.1%} over {len(pairs)} corrupted tasks", result(kept >= KEPT)
