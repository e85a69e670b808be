"""Entry point of ``python -m anymetric.paper``."""

import signal
import sys

from anymetric.paper.run import main

if __name__ == "__main__":
    # Leave as by an exception, so that the workers are not left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
