"""What a run has learned: suspects, the metric read aloud and exported objectives, a section each.

    python benchmarks/learned.py --only suspects|aloud|objectives [--seeds 0-9] [--quick] [--table]

Every section is a module of the package beside this file, with a `main(argv)` of its own, and
writes its own rows and table, `results/learned_<section>.csv` and `.md`; what is already in the
file is not measured again. Without `--only` the sections run one after the other. `--quick` asks
each for a small part of its work.
"""

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

SECTIONS = ("suspects", "aloud", "objectives")


def main(argv: list[str]) -> int:
    present = [name for name in SECTIONS if find_spec(f"benchmarks.learned.{name}")]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=present, action="append", help="one section; repeatable")
    options, rest = parser.parse_known_args(argv)
    for name in options.only or present:
        code = int(import_module(f"benchmarks.learned.{name}").main(rest) or 0)
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
