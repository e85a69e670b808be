"""Tables in files, for the tests of rows that need not fit in memory."""

import numpy as np
import pandas as pd


def table(n=5000, kind="dense"):
    """Return a data frame with a target, and the arguments that name its columns."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n) > 1.2).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd"))
    if kind == "data frame":
        frame["b"] = np.where(rng.random(n) < 0.1, np.nan, frame["b"])
        frame["c"] = pd.Categorical(np.where(frame["c"] > 0.3, "high", "low"))
        y = np.where(frame["c"] == "high", 1 - y, y)
    return frame, y


def written(folder, frame, y, files=3, **columns):
    whole = frame.assign(y=y, **columns)
    for k in range(files):
        part = whole.iloc[k * len(whole) // files : (k + 1) * len(whole) // files]
        part.to_parquet(folder / f"part-{k}.parquet", row_group_size=700, index=False)
    return str(folder / "part-*.parquet")
