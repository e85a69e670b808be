"""R data: tables of R packages, collected after the default was finished, by the methods of KEEL.

    python benchmarks/rdata.py [--methods 'anymetric*'] [--seeds 0-4] [--table]

F1, G-mean and MCC, half of the rows to learn from and half to test, both ways. Tables have 400 to
5,000 rows, and the target is the last column of two values that LightGBM predicts neither by luck
nor without error; every fourth of them is taken.
"""

import sys
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.keel.rdata import tables  # noqa: E402
from benchmarks.keel.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(__doc__, name="rdata", title="Tables of R packages", source=tables))
