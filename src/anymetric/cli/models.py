"""Models: saved without pickle, and loaded only if all that is in a file is known."""

from __future__ import annotations

import zipfile
from pathlib import Path

from anymetric.cli.faults import UserError, first_line, need
from anymetric.cli.table_model import TableModel

__all__ = ["TRUSTED", "TableModel", "dump_model", "load_model", "trusted"]

# What a model's file may be made of, beside plain values, NumPy's arrays and scikit-learn's
# estimators, which skops itself trusts, and skrub's encoders. Everything else is refused by name.
TRUSTED = (
    "anymetric.calibration.ClassCalibrator",
    "anymetric.calibration.Isotonic",
    "anymetric.calibration.LabelCalibrator",
    "anymetric.calibration.Sigmoid",
    "anymetric.cli.kinds.Column",
    "anymetric.cli.roles.Roles",
    "anymetric.cli.schema.Schema",
    "anymetric.cli.slim.Scored",
    "anymetric.cli.table_model.TableModel",
    "anymetric.cli.targets.Target",
    "anymetric.cli.vectors.Features",
    "anymetric.estimators.classifier.MetricClassifier",
    "anymetric.estimators.regressor.MetricRegressor",
    "anymetric.metrics.classes.Classes",
    "anymetric.metrics.linear_gains.LinearGains",
    "anymetric.metrics.profit.Profit",
    "anymetric.models.ensemble.Ensemble",
    "anymetric.models.ensemble.LinearScorer",
    "anymetric.models.forest.Grown",
    "anymetric.models.linear.Linear",
    "anymetric.models.outputs.Outputs",
    "anymetric.models.tables.Plain",
    "anymetric.models.trees.Trees",
    "anymetric.rules.GroupRule",
    "anymetric.rules.OffsetRule",
    "anymetric.rules.RowRule",
    "anymetric.rules.ScoreRule",
    "anymetric.rules.ThresholdRule",
    "anymetric.rules.TopRule",
    "numpy.dtype",
)


def dump_model(model: TableModel, path: Path) -> None:
    """Write a model with skops."""
    need("skops.io").dump(model, path, compression=zipfile.ZIP_DEFLATED)


def trusted(name: str) -> bool:
    """Whether a type may be in a model's file: our own few, and skrub's steps.

    Examples
    --------
    >>> trusted("skrub._to_float.ToFloat"), trusted("os.system")
    (True, False)
    """
    # skrub's recorded operations can name any function at all.
    return name in TRUSTED or (name.startswith("skrub.") and "data_op" not in name)


def load_model(path: Path) -> TableModel:
    """Read a model that `dump_model` wrote; a type that is not trusted is refused by name.

    Examples
    --------
    >>> load_model(Path("nowhere.skops"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.skops'
    """
    io = need("skops.io")
    with open(path, "rb"):
        pass
    try:
        unknown = io.get_untrusted_types(file=path)
    except Exception as error:  # a damaged file fails in many ways
        message = f"{path} is no model that `anymetric fit` saved: {first_line(error)}."
        raise UserError(message) from error
    refused = [name for name in unknown if not trusted(name)]
    if refused:
        raise UserError(
            f"{path} holds the type {refused[0]}, which no model of ours is made of: it was not "
            "opened."
        )
    try:
        model = io.load(path, trusted=unknown)
    except Exception as error:
        message = f"{path} cannot be opened by these versions: {first_line(error)}."
        raise UserError(message) from error
    if not isinstance(model, TableModel):
        kind = type(model).__name__
        raise UserError(f"{path} holds a {kind}, not a model that `anymetric fit` saved.")
    return model
