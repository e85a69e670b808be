"""Export: the evaluations of a run as an Optuna study, for its dashboard."""

from __future__ import annotations

from contextlib import chdir
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError, first_line
from anymetric.cli.fit import Fit
from anymetric.cli.questions import opened
from anymetric.cli.runs import read_settings
from anymetric.cli.voice import Voice
from anymetric.errors import Deferred
from anymetric.store import Evaluation

optuna = Deferred("optuna", needed_by="Exporting a study", extra="optuna")


def export(folder: Path, address: str, voice: Voice) -> dict[str, Any]:
    """Write what a run was told as trials of a study; those that are there are left alone."""
    asked = read_settings(folder)
    with opened(folder) as store:
        known = list(store.known().values())
    study = study_of(folder.resolve().name, address, direction_of(asked))
    there = {trial.user_attrs.get("key") for trial in study.get_trials(deepcopy=False)}
    fresh = [one for one in known if one.key not in there]
    study.add_trials([trial_of(one) for one in fresh])
    for name, value in (("metric", asked["metric"]), ("file", asked["path"])):
        study.set_user_attr(name, value)
    voice.line(
        f"{len(fresh)} of {len(known)} evaluations written to {address} as the study "
        f"{study.study_name!r}: optuna-dashboard {address}"
    )
    return {"study": study.study_name, "trials": len(known), "written": len(fresh)}


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


def direction_of(asked: dict[str, Any]) -> str:
    """Return which way is better, in Optuna's words."""
    greater = asked["greater"]
    if greater is None:
        home = Path(asked["home"])
        with chdir(home if home.is_dir() else Path.cwd()):
            greater = Fit.of_settings(asked).found().greater_is_better
    return "maximize" if greater else "minimize"


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
