"""Export: the evaluations of a run as an Optuna study, for its dashboard."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

from anymetric.cli.fit import Fit
from anymetric.cli.questions import opened
from anymetric.cli.runs import read_settings
from anymetric.cli.studies import study_of, trial_of
from anymetric.cli.voice import Voice


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


def direction_of(asked: dict[str, Any]) -> str:
    """Return which way is better, in Optuna's words."""
    greater = asked["greater"]
    if greater is None:
        home = Path(asked["home"])
        with chdir(home if home.is_dir() else Path.cwd()):
            greater = Fit.of_settings(asked).found().greater_is_better
    return "maximize" if greater else "minimize"
