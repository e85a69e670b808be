"""Outcome: what a fit came to, as a table, a recommendation, and plain values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anymetric.cli.baselines import METHODS, Setting
from anymetric.cli.limits import limit_line, limits_of_saved
from anymetric.cli.rows import Division
from anymetric.cli.runs import DONE, LEDGER, MODEL
from anymetric.cli.schema import guessed
from anymetric.cli.training import Done
from anymetric.cli.voice import Voice, measured, number
from anymetric.report import Run
from anymetric.report.explained import most_important
from anymetric.report.words import families, headline

HEAD = ("", "value", "improvement", "seconds", "calls")
FILES = {
    "model": MODEL,
    "report": "report.html",
    "run": DONE,
    "ledger": LEDGER,
    "scores": "scores.csv",
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """A finished fit, to be shown and returned.

    Parameters
    ----------
    done : Done
    folder : Path
    division : Division
    setting : Setting
    target : str
        The name of its column.
    copy : Path, optional
        Where the model is written too.
    """

    done: Done
    folder: Path
    division: Division
    setting: Setting
    target: str
    copy: Path | None = None

    @property
    def limits(self) -> list[dict[str, Any]]:
        """The limits that were set, and what the saved model makes of them."""
        rows = {row["name"]: row for row in self.done.found.methods}
        return limits_of_saved(rows[self.done.chosen], self.done.model)

    @property
    def saved(self) -> dict[str, str]:
        """The files."""
        found = {name: str(self.folder / file) for name, file in FILES.items()}
        return found if self.copy is None else {**found, "copy": str(self.copy)}

    def show(self, voice: Voice) -> None:
        """Print the table, the recommendation and where everything is."""
        run, chosen, saved = self.done.found, self.done.chosen, self.saved
        better = "greater" if run.metric["greater_is_better"] else "lower"
        title = f"{run.metric['name']} on {self.division.words} ({better} is better)"
        voice.table(HEAD, lines(run), title)
        voice.line(f"Recommendation: {headline(run)}")
        if (hint := run.diagnosis.get("hint")) and self.setting.method in METHODS:
            voice.line(f"Hint: {hint}")
        for limit in self.limits:
            voice.line(limit_line(limit))
            if limit["certificate"]:
                voice.line(f"The certificate: {limit['certificate']}")
        if won := families(run):
            voice.line(f"The models: {won}")
        model = saved.get("copy", saved["model"])
        other = run.recommendation.get("model") not in (chosen, None)
        why = "which all rows can train" if self.division.train.stored else "as --method asks for"
        asked = f", {why}" if other else ""
        for line in (run.deployed.get("refit", {}).get("says"), most_important(run)):
            if line:
                voice.line(line)
        voice.line(f"Saved: {chosen}{asked}, in {model} (run and scores in {self.folder}/)")
        voice.line(f"Report: {saved['report']}")

    def plain(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        run, division = self.done.found, self.division
        return {
            "metric": run.metric["name"],
            "greater_is_better": run.metric["greater_is_better"],
            "target": {"column": self.target, "labels": self.setting.target.labels},
            "rows": {
                "train": len(division.train),
                "valid": None if division.valid is None else len(division.valid),
                "table": len(division.test),
                "words": division.words,
                "held_out": division.held_out,
            },
            "table": run.methods,
            "limits": self.limits,
            "recommendation": {**run.recommendation, "saved": self.done.chosen},
            "families": run.diagnosis.get("families", {}),
            "slices": run.worth.get("slices", []),
            "columns": guessed(division.train.schema),
            "importances": run.importances,
            "refit": run.deployed.get("refit", {}),
            "saved": self.saved,
        }


def lines(run: Run) -> list[list[str]]:
    """Return a run's table as text, the trained model last; who breaks a limit is marked.

    Examples
    --------
    >>> lines(Run({"name": "f1"}, {}, [{"name": "anymetric", "value": 0.5, "calls": 3}]))
    [['anymetric', '0.5000', '', '-', '3']]
    """
    ours = run.methods[0]
    return [
        [
            row["name"] + broken(row),
            measured(row.get("value"), row.get("error")),
            "" if row is ours else improvement(row),
            number(row.get("seconds"), 1),
            "-" if row.get("calls") is None else f"{row['calls']:,}",
        ]
        for row in [*run.methods[1:], ours]
    ]


def broken(row: dict[str, Any]) -> str:
    """Return which limit a method breaks, for its name.

    Examples
    --------
    >>> broken({"limits": [{"limit": "recall >= 0.8", "kept": False}]})
    ' (breaks recall >= 0.8)'
    """
    found = [one["limit"] for one in row.get("limits", ()) if not one["kept"]]
    return f" (breaks {found[0]})" if found else ""


def improvement(row: dict[str, Any]) -> str:
    """Return the improvement over a baseline, with its error."""
    return measured(row.get("improvement"), row.get("improvement_error"), sign=True)
