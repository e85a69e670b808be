"""Black boxes: a program, or somebody who tells, in the place of `--metric NAME`."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError
from anymetric.metrics import Metric
from anymetric.metrics.commands import PASSED, CommandMetric
from anymetric.metrics.digests import digest
from anymetric.metrics.exchange import FORMATS
from anymetric.metrics.told import ToldMetric

# What a black box may be shown.
READS = ("decisions", "scores", "probabilities")
# Calls of the whole command where no --budget is given: a program, and somebody who tells.
CALLS = {"command": 100, "told": 40}


@dataclass(frozen=True)
class BlackBox:
    """A metric that is no name and no function of Python's.

    Parameters
    ----------
    command : str
        As it was typed; empty if the answers are told.
    told : str
        The name of what is told.
    reads : {"decisions", "scores", "probabilities"}
    form, field, timeout, retries, env, slots, shell
        As `CommandMetric` has them.

    Examples
    --------
    >>> BlackBox("awk -f score.awk {predictions}").name
    'score.awk'
    >>> BlackBox(told="rating").metric(True).name
    'rating'
    """

    command: str = ""
    told: str = ""
    reads: str = "decisions"
    form: str = "csv"
    field: str | None = None
    timeout: float = 3600.0
    retries: int = 0
    env: tuple[str, ...] = ()
    slots: int = 1
    shell: bool = False

    @property
    def name(self) -> str:
        """What a table calls it: what is told, or the script or program of the command."""
        if self.told:
            return self.told
        words = self.words()
        files = [word for word in words[1:] if Path(word).is_file() or Path(word).suffix in SCRIPTS]
        return Path((files or words)[0]).name

    @property
    def calls(self) -> int:
        """How often it is asked by a command that was given no budget."""
        return CALLS["told" if self.told else "command"]

    def words(self) -> list[str]:
        """Return the command as the words that a shell would make of it."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise UserError(f"--metric-command {self.command!r}: {error}.") from error
        if not words:
            raise UserError("--metric-command is empty: give a program and its arguments.")
        return words

    def metric(self, greater: bool | None, needs: Sequence[str] = ()) -> Metric:
        """Return the metric; which way is better must be said."""
        if greater is None:
            option = "--metric-told" if self.told else "--metric-command"
            raise UserError(f"{option}: say --greater-is-better or --lower-is-better.")
        if self.told:
            return ToldMetric(self.told, greater_is_better=greater, on=self.reads)
        words = self.words()
        env = self.environment()
        path = env.get("PATH", os.environ.get("PATH"))
        if not self.shell and shutil.which(words[0], path=path) is None:
            raise UserError(
                f"--metric-command: the program {words[0]!r} is not found, or may not be run."
            )
        return CommandMetric(
            self.command if self.shell else words,
            greater_is_better=greater,
            on=self.reads,
            name=self.name,
            format=self.form,
            field=self.field,
            timeout=self.timeout,
            retries=self.retries,
            env=env,
            shell=self.shell,
            slots=self.slots,
        )

    def environment(self) -> dict[str, str]:
        """Return what `--command-env` says: NAME=VALUE, or NAME for the value that it has here."""
        found = {}
        for entry in self.env:
            name, given, value = entry.partition("=")
            if not name or (not given and name not in os.environ):
                raise UserError(
                    f"--command-env {entry}: NAME=VALUE is expected, or a NAME that is set here."
                )
            found[name] = value if given else os.environ[name]
        return found

    def fingerprint(self) -> dict[str, Any]:
        """Return what answers may depend on: the words, and the files that they name."""
        kept = {k: v for k, v in asdict(self).items() if k not in ("timeout", "retries", "slots")}
        kept["env"] = sorted(self.env)
        files = [Path(word) for word in self.words()] if self.command else []
        return kept | {
            f"file {path}": digest(path.read_bytes())[:16] for path in files if path.is_file()
        }


SCRIPTS = {".awk", ".bat", ".jl", ".js", ".pl", ".ps1", ".py", ".r", ".R", ".rb", ".sh"}


def black_box(command: str | None, told: str | None, metric: str | None, **more: Any) -> Any:
    """Return the black box that options describe; None where a metric is named instead.

    Examples
    --------
    >>> black_box(None, None, "f1") is None
    True
    >>> black_box("awk -f a.awk", "rating", None)
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Name one metric: --metric, --metric-command or --metric-told.
    """
    given = [one for one in (command, told, metric) if one is not None]
    if len(given) != 1:
        raise UserError("Name one metric: --metric, --metric-command or --metric-told.")
    set_ = {name: value for name, value in more.items() if value not in (None, (), False)}
    if command is None:
        alone = [name for name in set_ if name not in OF_TOLD or told is None]
        if alone:
            option = OPTIONS[alone[0]]
            raise UserError(f"{option} is for --metric-command{READ.get(alone[0], '')}.")
    return None if metric is not None else BlackBox(command or "", told or "", **set_)


OF_TOLD = ("reads",)
READ = {"reads": " and --metric-told"}
OPTIONS: Mapping[str, str] = {
    "reads": "--metric-reads",
    "form": "--command-format",
    "field": "--command-field",
    "timeout": "--command-timeout",
    "retries": "--command-retries",
    "env": "--command-env",
    "slots": "--command-slots",
    "shell": "--command-shell",
}

__all__ = ["CALLS", "FORMATS", "PASSED", "READS", "BlackBox", "black_box"]
