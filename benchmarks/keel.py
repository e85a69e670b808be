"""KEEL: imbalanced data sets, against tuned thresholds and class weights.

    python benchmarks/keel.py [--sets all] [--methods 'anymetric*'] [--seeds 0-4] [--table]

F1, G-mean and MCC on a hundred sets, half of the rows to learn from and half to test, five times
both ways. Every second set is for development; the others are only for reporting, though some hold
rows of the same tables. A tuned threshold is the best for the out-of-fold probabilities of five
folds, pooled; the learner is then fitted to all rows. AutoGluon runs where it is installed, which
takes an environment of its own.
"""

import sys
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.keel.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(__doc__))
