"""Why an order of the paper's tables comes out otherwise here: an experiment for each, a section.

    python benchmarks/paper_orders.py --only logistic|adagrad|ranking|proxy|noise|notebook [--table]

Every section is a module of the package beside this file, with a `main(argv)` of its own, and
writes its own rows and table, `results/paper_orders_<section>.csv` and `.md`; what is already in
the file is not measured again. Without `--only` the sections run one after the other. The splits
are those of the page, so that its rows may stand beside these.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

SECTIONS = ("logistic", "adagrad", "ranking", "proxy", "noise", "notebook")


def main(argv: list[str]) -> int:
    line = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    line.add_argument("--only", choices=SECTIONS, action="append", help="one section; repeatable")
    options, rest = line.parse_known_args(argv)
    for name in options.only or SECTIONS:
        code = int(import_module(f"benchmarks.paper_orders.{name}").main(rest) or 0)
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
