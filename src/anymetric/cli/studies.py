"""Studies: evaluations as trials of Optuna, the one file that needs it."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from anymetric.cli.faults import UserError, first_line
from anymetric.errors import Deferred
from anymetric.store import Evaluation

# Numbers beside shares are anything up to this.
LARGEST = 10**9

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


def distributions_of(subjects: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the range of every parameter that the questions have: words, or numbers."""
    kinds, values = optuna.distributions, dict[str, list[Any]]()
    for one in subjects:
        for name, value in one.items():
            values.setdefault(name, []).append(value)
    found = {}
    for name, seen in values.items():
        if all(isinstance(value, numbers.Number) for value in seen):
            top = 1.0 if name == "flagged" else float(LARGEST)
            whole = all(isinstance(value, int) for value in seen)
            found[name] = (
                kinds.IntDistribution(-LARGEST, LARGEST)
                if whole
                else kinds.FloatDistribution(0.0, top)
            )
        else:
            found[name] = kinds.CategoricalDistribution(sorted(set(map(str, seen))))
    return found


def compatible(study: Any, distributions: Mapping[str, Any]) -> bool:
    """Return whether a study's trials have the same ranges: Optuna does not let words be added."""
    for trial in study.get_trials(deepcopy=False):
        for name, range_ in trial.distributions.items():
            if name in distributions and distributions[name] != range_:
                return False
    return True


def emptied(study: Any, address: str) -> Any:
    """Return a study of the same name and direction without its trials."""
    name, direction = study.study_name, study.direction.name.lower()
    optuna.delete_study(study_name=name, storage=address)
    return study_of(name, address, direction)


def trial_of(one: Evaluation, about: Mapping[str, Any], distributions: Mapping[str, Any]) -> Any:
    """Return one evaluation as a trial that has ended, with what it was about as parameters."""
    words = optuna.distributions.CategoricalDistribution
    params = {
        name: str(value) if isinstance(distributions[name], words) else value
        for name, value in about.items()
    }
    made = datetime.fromtimestamp(one.made)
    state = optuna.trial.TrialState
    found = {"key": one.key, "attempts": one.attempt, "by": one.owner, "error": one.error}
    trial = optuna.trial.create_trial(
        state=state.FAIL if one.failed else state.COMPLETE,
        value=None if one.failed else one.value,
        params=params,
        distributions={name: distributions[name] for name in params},
        user_attrs={name: value for name, value in found.items() if value is not None},
    )
    trial.datetime_start = made - timedelta(seconds=one.seconds or 0.0)
    trial.datetime_complete = made
    return trial
