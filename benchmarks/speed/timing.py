"""Timing: processor time of this process, which a busy machine changes least."""

from __future__ import annotations

import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

# Repetitions of functions that are compared.
ROUNDS = 20


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what comes of the work, and its processor seconds."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


def best(work: Callable[[], Any], least: float = 0.3, most: int = 30) -> float:
    """Return the processor seconds of the fastest repetition, of as many as fit into `least`."""
    work()
    took: list[float] = []
    while len(took) < 3 or (sum(took) < least and len(took) < most):
        took.append(timed(work)[1])
    return min(took)


def best_of_each(works: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the fastest repetition of each work, alternately.

    What slows the machine for a while slows them all: their ratios are of the same moments.
    """
    took: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            took[name].append(timed(work)[1])
    return {name: min(times) for name, times in took.items()}


def allocated(work: Callable[[], Any]) -> float:
    """Return the megabytes that NumPy and Python hold at most during the work, beyond before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        return (tracemalloc.get_traced_memory()[1] - before) / 2**20
    finally:
        tracemalloc.stop()


def peak() -> float:
    """Return the megabytes that this process has held at most."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (2**20 if sys.platform == "darwin" else 2**10)


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log seconds against log size: 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
