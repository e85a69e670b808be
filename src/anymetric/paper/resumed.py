"""Resumed: a grid whose finished points are kept, so that a killed run loses at most one."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.descent import Watcher
from anymetric.ledger import Ledger
from anymetric.paper.store import Cell, fingerprint
from anymetric.problem import Problem
from anymetric.solution import Solution
from anymetric.summary import Summary
from anymetric.tuning import Tuned, best_of


@dataclass(frozen=True)
class Resumed:
    """A `Tuned` that writes every point of its grid to a file and reads those that are there.

    Parameters
    ----------
    tuned : Tuned
    folder : Path
        Only for this grid on this problem; another version of the code writes other files.

    Examples
    --------
    >>> Resumed(Tuned(), Path("points")).file(0.1, 0.5).suffix
    '.pickle'
    """

    takes_starts: ClassVar[bool] = True
    cross_fits: ClassVar[bool] = False

    tuned: Tuned
    folder: Path

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Run the points that are not there; all see the same random draws, as in `Tuned`.

        `Summary.earlier_seconds` is the time that those took which were.
        """
        runs = []
        earlier = 0.0
        for sigma in self.tuned.sigmas:
            for step in self.tuned.steps:
                file = self.file(step, sigma)
                found = kept(file)
                if found is not None:
                    earlier += found.summary.chosen["seconds"]
                else:
                    found = self._point(step, sigma, ledger.problem, starts, deepcopy(rng), watch)
                    keep(found, file)
                runs.append(found)
        ledger.calls += sum(run.calls for run in runs)
        best = best_of(runs, ledger.calls)
        summary = replace(best.summary, earlier_seconds=earlier)
        whole: Solution = replace(best, summary=summary)
        return whole

    def _point(
        self,
        step: float,
        sigma: float,
        problem: Problem,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None,
    ) -> Solution:
        began = time.process_time()
        point = replace(self.tuned, steps=(step,), sigmas=(sigma,))
        run = point.run(Ledger(problem), starts, rng, watch)
        settings = {"step": step, "sigma": sigma, "seconds": time.process_time() - began}
        return replace(run, summary=Summary(chosen=settings))

    def file(self, step: float, sigma: float) -> Path:
        """Return where a point is kept."""
        return self.folder / f"{fingerprint()}-step{step:g}-sigma{sigma:g}.pickle"


def points_of(folder: Path, cell: Cell) -> Path:
    """Return the folder of a cell's points.

    Examples
    --------
    >>> points_of(Path("results"), Cell("table2", "simulated", "proposed", 0, "full")).name
    'table2-simulated-proposed-0-full'
    """
    return folder / "points" / "-".join(str(part) for part in cell)


def forget(folder: Path) -> None:
    """Remove the points of a cell that is finished."""
    for file in folder.glob("*.pickle"):
        file.unlink(missing_ok=True)
    for empty in (folder, folder.parent):
        with suppress(OSError):  # not there, or not empty
            empty.rmdir()


def kept(file: Path) -> Solution | None:
    """Return a point that is there and whole."""
    with suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError):
        found: Solution = pickle.loads(file.read_bytes())
        return found
    return None


def keep(run: Solution, file: Path) -> None:
    """Write a point in one piece, with its best iteration only."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(replace(run, iterations=(run.best,))))
    os.replace(part, file)
