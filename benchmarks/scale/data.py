"""Data: Gaussian features of a linear rule with noise, written to Parquet a batch at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS_OF_GROUP, ROWS_OF_FILE = 1 << 17, 1 << 20


def drawn(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 features and classes, an eighth of them positive."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    noise = 3.0 * rng.standard_normal(n, dtype=np.float32)
    scores = X @ np.linspace(-1.0, 1.0, d, dtype=np.float32) + noise
    return X, (scores > 6.0).astype(np.int8)


def made(folder: Path, n: int, d: int) -> str:
    """Write n rows, unless they are there; return the pattern of the files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = folder / f"{n}x{d}"
    done = folder / "DONE"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for number, first in enumerate(range(0, n, ROWS_OF_FILE)):
            count = min(ROWS_OF_FILE, n - first)
            X, y = drawn(count, d, number)
            columns = {f"x{k}": np.ascontiguousarray(X[:, k]) for k in range(d)}
            path = folder / f"part-{number:04d}.parquet"
            pq.write_table(
                pa.table({**columns, "y": y}),
                path,
                row_group_size=min(ROWS_OF_GROUP, max(n // 8, 1)),
                use_dictionary=False,
                compression="snappy",
            )
        done.touch()
    return str(folder / "part-*.parquet")
