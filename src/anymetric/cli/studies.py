"""Studies: evaluations as trials of Optuna, the one file that needs it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from anymetric.cli.faults import UserError, first_line
from anymetric.errors import Deferred
from anymetric.store import Evaluation

optuna = Deferred("optuna", needed_by="Exporting a study", extra="optuna")


def study_of(name: str, address: str, direction: str) -> Any:
    """Return the study of a run, made if it is not there."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        return optuna.create_study(
            study_name=name, storage=address, direction=direction, load_if_exists=True
        )
    except Exception as error:  # drivers raise what they like
        if type(error).__module__.startswith("anymetric"):
            raise
        raise UserError(f"--optuna {address} cannot be used: {first_line(error)}.") from error


def trial_of(one: Evaluation) -> Any:
    """Return one evaluation as a trial that has ended."""
    made = datetime.fromtimestamp(one.made)
    state = optuna.trial.TrialState
    found = {"key": one.key, "attempts": one.attempt, "by": one.owner, "error": one.error}
    trial = optuna.trial.create_trial(
        state=state.FAIL if one.failed else state.COMPLETE,
        value=None if one.failed else one.value,
        user_attrs={name: value for name, value in found.items() if value is not None},
    )
    trial.datetime_start = made - timedelta(seconds=one.seconds or 0.0)
    trial.datetime_complete = made
    return trial
