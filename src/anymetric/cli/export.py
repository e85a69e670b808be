"""Export: the evaluations of a run as an Optuna study, a model as an ONNX file."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError
from anymetric.cli.fit import Fit
from anymetric.cli.models import TableModel, load_model
from anymetric.cli.questions import opened
from anymetric.cli.runs import read_settings
from anymetric.cli.studies import compatible, distributions_of, emptied, study_of, trial_of
from anymetric.cli.tables import check_out
from anymetric.cli.voice import Voice

# Columns that are named in the terminal; the file names them all.
SHOWN = 8


def chosen(
    source: Path, optuna: str | None, onnx: Path | None, voice: Voice, force: bool = False
) -> dict[str, Any]:
    """Export as the options say; exactly one of the two must be there."""
    if (optuna is None) == (onnx is None):
        raise UserError("Give one of --optuna ADDRESS (for a run) and --onnx FILE (for a model).")
    if optuna is not None:
        return export(source, optuna, voice)
    assert onnx is not None
    check_out(onnx, source, force=force)
    return export_model(source, onnx, voice)


def export_model(source: Path, out: Path, voice: Voice) -> dict[str, Any]:
    """Write the model behind the vectoriser, and say which columns it takes."""
    from anymetric.exports.onnx.export import to_onnx

    path = source / "model.skops" if source.is_dir() else source
    model = load_model(path)
    columns = [str(name) for name in model.feature_names]
    try:
        words = model.target.labels
        made = to_onnx(model.estimator, dtype="float64", columns=columns, words=words)
    except ValueError as error:
        raise UserError(str(error)) from error
    out.write_bytes(made.SerializeToString())
    inputs = [one.name for one in made.graph.input]
    voice.line(f"{out}: {sentence_of(model, columns)}")
    if "groups" in inputs:
        voice.line(f"A second input, groups: {' x '.join(model.roles.groups)}, one value a row.")
    return {"onnx": str(out), "inputs": inputs, "columns": columns}


def sentence_of(model: TableModel, columns: list[str]) -> str:
    """Say what the input of an exported model is."""
    shown = ", ".join(columns[:SHOWN]) + (", ..." if len(columns) > SHOWN else "")
    return (
        f"the input X has {len(columns)} columns, vectorised as in training ({shown}; the file "
        "has all names). `TableModel.matrix` makes them of a table; words, dates and text are not "
        "read by the graph itself."
    )


def export(folder: Path, address: str, voice: Voice) -> dict[str, Any]:
    """Write what a run was told as trials of a study; those that are there are left alone."""
    asked = read_settings(folder)
    with opened(folder) as store:
        known, subjects = list(store.known().values()), store.subjects()
    study = study_of(folder.resolve().name, address, direction_of(asked))
    ranges = distributions_of(subjects.get(one.key, {}) for one in known)
    if not compatible(study, ranges):
        study = emptied(study, address)
    there = {trial.user_attrs.get("key") for trial in study.get_trials(deepcopy=False)}
    fresh = [one for one in known if one.key not in there]
    study.add_trials([trial_of(one, subjects.get(one.key, {}), ranges) for one in fresh])
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
