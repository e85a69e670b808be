"""Drill: kill -9, damage, full disks, crowds and hostile input; `make drill` runs all of it."""

import sys
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.drill.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
