"""Decisions: costs by row, limits, parity, probabilities and certificates, a section each.

    python benchmarks/decisions.py profit|german|probabilities|parity|limits|certificates
        [--seeds 0-4] [--quick] [--table]

Every section is a module of the package beside this file and writes its own rows and table,
`results/decisions_<section>.csv` and `.md`; what is already in the file is not measured again.
`--quick` runs a small part of each.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

# A script's own folder comes first on the path, where the package of this name would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

SECTIONS = ("profit", "german", "probabilities", "parity", "limits", "certificates")


def main(argv: list[str]) -> int:
    there = [name for name in SECTIONS if find_spec(f"benchmarks.decisions.{name}")]
    if not argv or argv[0] not in there:
        print(f"{__doc__}\nSections here: {', '.join(there) or 'none'}.", file=sys.stderr)
        return 2
    return int(import_module(f"benchmarks.decisions.{argv[0]}").main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
