"""Run: everything a report shows of a fitted model, as plain values that survive a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.store.files import whole

FORMAT = "anymetric run"
# Raised when a report of today could not show a file of yesterday.
VERSION = 2


@dataclass(frozen=True)
class Run:
    """A fitted model and its baselines: evaluated, by group and threshold, and described.

    Every field holds plain values only: text, numbers, None, lists and dicts of them. A number
    that is not finite becomes None.

    Parameters
    ----------
    metric : dict
        ``name``, ``greater_is_better``, ``decides`` and what it says of itself.
    sample : dict
        The rows that everything is evaluated on: what they are, how many, which classes.
    methods : list of dict
        One for each method, ours first: value, error, paired difference, seconds, calls.
    asked : dict
        What the user asked for.
    course : dict
        The run, iteration by iteration, with the profile of each; the candidates and their
        shares.
    worth : dict
        The learned weights of the slices, and in words.
    confusion : list of dict
        The four outcomes of each method, or the table of many classes; empty if the model
        decides nothing.
    classes : list of dict
        Recall, precision and F-measure of each of many classes, for each method.
    groups, curves : dict
        The metric by group, and by threshold or down the list; empty where neither is there.
    recommendation : dict
        Which model to use and why (`anymetric.recommendation.Recommendation`).
    diagnosis : dict
        How the surrogates explain the metric; empty if it could not be had.
    coefficients : list of dict
        The features that move the scores most.
    importances : dict
        By how much the metric gets worse if a column is shuffled, or why that was not measured.
    surprises : list of str
        What stands out in the rows and in the run.
    deployed : dict
        Where the model was saved, which rows trained it, and which file it was trained on.
    made : dict
        Versions, settings, time.
    limits : dict
        Each limit of `subject_to` with every method's value, and the trade-off; empty without.
    explanation : dict
        What the metric values, as `metric_.explain()` found it; empty if it was not asked.

    Examples
    --------
    >>> run = Run({"name": "f1"}, {"n": 3}, [{"name": "anymetric", "value": float("nan")}])
    >>> run.methods
    [{'name': 'anymetric', 'value': None}]
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(Path(folder) / "run.json")
    ...     Run.load(Path(folder) / "run.json") == run
    True
    """

    metric: dict[str, Any]
    sample: dict[str, Any]
    methods: list[dict[str, Any]]
    asked: dict[str, Any] = field(default_factory=dict)
    course: dict[str, Any] = field(default_factory=dict)
    worth: dict[str, Any] = field(default_factory=dict)
    confusion: list[dict[str, Any]] = field(default_factory=list)
    classes: list[dict[str, Any]] = field(default_factory=list)
    groups: dict[str, Any] = field(default_factory=dict)
    curves: dict[str, Any] = field(default_factory=dict)
    recommendation: dict[str, Any] = field(default_factory=dict)
    diagnosis: dict[str, Any] = field(default_factory=dict)
    coefficients: list[dict[str, Any]] = field(default_factory=list)
    importances: dict[str, Any] = field(default_factory=dict)
    deployed: dict[str, Any] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    explanation: dict[str, Any] = field(default_factory=dict)
    surprises: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for part in fields(self):
            object.__setattr__(self, part.name, plain(getattr(self, part.name)))

    def save(self, path: str | Path) -> None:
        """Write the run as JSON: the whole file or none of it."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, allow_nan=False)
        write_whole(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read a run that `save` wrote."""
        try:
            stored = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} holds no run: it is not JSON ({error}).") from error
        if not isinstance(stored, dict) or stored.get("format") != FORMAT:
            raise ValueError(f"{path} holds no run: a file that `Run.save` wrote was expected.")
        if stored.get("version") != VERSION:
            raise ValueError(
                f"{path} is a run of version {stored.get('version')!r}; this anymetric reads "
                f"version {VERSION}. Make the run again, or use the anymetric that made it."
            )
        known = {part.name for part in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known})


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, numbers that are not finite as None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({1: (np.float64("nan"), np.arange(2)), "kind": Path("a")})
    {'1': [None, [0, 1]], 'kind': 'a'}
    """
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return str(value)


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old one or the new one, never a part."""
    with whole(path) as scratch:
        scratch.write_text(text, encoding="utf-8")
