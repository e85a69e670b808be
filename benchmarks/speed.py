"""Speed: the paper's algorithm here against the same work in plain NumPy, in one process run.

    python benchmarks/speed.py [--turns 5] [--probes 100]

The rows are those of the authors' notebook (Adult with noisy labels); the work is Algorithm 1 for
some turns, with hinge surrogates per class, linear interpolation and 100 Adagrad iterations a
projection. The notebook itself has four sigmoid surrogates and 250 turns. Both follow
the same draws; the run fails if their paths part.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import reference
from anymetric import Adagrad, Descent, LinearInterpolation, MetricClassifier, as_metric, per_class
from anymetric.data import Data
from anymetric.datasets import load_adult_noisy_labels
from anymetric.ledger import Ledger
from anymetric.problem import Problem


def timed(work):
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def samples():
    parts = load_adult_noisy_labels(random_state=0)
    return [
        Data(part.X, np.where(part.y == 1, 1.0, -1.0))
        for part in (parts.train, parts.validation, parts.test)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--probes", type=int, default=100)
    options = parser.parse_args()
    train, valid, test = samples()
    gmean = as_metric("gmean")
    judge = gmean.bind(valid.y)
    start = np.zeros(train.X.shape[1] + 1)
    settings = {"m": options.probes, "sigma": 0.1}

    def plain():
        return reference.descend(
            start,
            lambda theta: float(judge.costs(valid.X @ theta[:-1] + theta[-1])),
            train.X,
            train.y,
            [train.y == -1.0, train.y == 1.0],
            turns=options.turns,
            eta=0.1,
            rng=np.random.default_rng(0),
            **settings,
        )

    def ours():
        descent = Descent(options.turns, 0.1, LinearInterpolation(**settings), Adagrad())
        ledger = Ledger(Problem(train, per_class("hinge"), gmean, valid))
        return [turn.theta for turn in descent.walk(ledger, start, np.random.default_rng(0))]

    with threadpool_limits(limits=1):
        path, slow = timed(plain)
        walked, fast = timed(ours)
    apart = float(np.max(np.abs(np.array(walked) - path)))
    (model, seconds) = timed(
        lambda: MetricClassifier("gmean", random_state=0).fit(
            train.X, train.y, X_val=valid.X, y_val=valid.y
        )
    )
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, {platform.machine()}"
    )
    print(f"{len(train):,} x {train.X.shape[1]}, {options.turns} turns, {options.probes} probes")
    print(f"plain NumPy            {slow:8.2f} s")
    print(
        f"paper mode             {fast:8.2f} s   {slow / fast:6.1f} times faster, "
        f"paths apart by {apart:.1e}"
    )
    print(
        f"default, a whole fit   {seconds:8.2f} s   test G-mean cost "
        f"{1.0 - model.score(test.X, test.y):.4f}"
    )
    return 0 if apart < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
