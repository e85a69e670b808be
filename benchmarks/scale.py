"""Scale: rows beyond memory and beyond one machine; see ``python benchmarks/scale.py --help``."""

import sys
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.scale.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
