"""Models: a trained model with the steps that feed it, saved without pickle."""

from __future__ import annotations

import copy
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric import __version__
from anymetric.cli.asked import find_metric, for_target
from anymetric.cli.faults import UserError, first_line, need
from anymetric.cli.reading import check_plain
from anymetric.cli.roles import Roles, crossed, filled, require
from anymetric.cli.schema import Schema
from anymetric.cli.targets import Target
from anymetric.cli.vectors import Features
from anymetric.cli.voice import Voice
from anymetric.metrics import Metric
from anymetric.metrics.ranked import QUERY

# What a model's file may be made of, beside scikit-learn's estimators and plain arrays, which
# skops itself lets pass. Everything else is refused by name.
OURS = (
    "anymetric.calibration.ClassCalibrator",
    "anymetric.calibration.Isotonic",
    "anymetric.calibration.LabelCalibrator",
    "anymetric.calibration.Sigmoid",
    "anymetric.cli.kinds.Column",
    "anymetric.cli.models.TableModel",
    "anymetric.cli.roles.Roles",
    "anymetric.cli.schema.Schema",
    "anymetric.cli.targets.Target",
    "anymetric.cli.vectors.Features",
    "anymetric.estimators.classifier.MetricClassifier",
    "anymetric.estimators.regressor.MetricRegressor",
    "anymetric.many.pool.Table",
    "anymetric.metrics.classes.Classes",
    "anymetric.models.ensemble.Ensemble",
    "anymetric.models.ensemble.LinearScorer",
    "anymetric.models.linear.Linear",
    "anymetric.models.outputs.Outputs",
    "anymetric.models.tables.Plain",
    "anymetric.metrics.profit.Profit",
    "anymetric.models.trees.Trees",
    "anymetric.rules.GroupRule",
    "anymetric.rules.OffsetRule",
    "anymetric.rules.RowRule",
    "anymetric.rules.ScoreRule",
    "anymetric.rules.ThresholdRule",
    "anymetric.rules.TopRule",
    "numpy.dtype",
)
# Of a fitted estimator: what predicting, judging and explaining read.
KEPT = (
    "coef_",
    "intercept_",
    "link_",
    "model_",
    "decision_rule_",
    "calibrator_",
    "n_features_in_",
    "_classes",
    "weights_",
    "validation_",
    "validation_score_",
    "n_metric_calls_",
)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A model that reads tables as they come: columns in, scores and labels out.

    Parameters
    ----------
    features : Features
        From a table to a matrix: how columns are read, and the steps after it.
    estimator : MetricClassifier or MetricRegressor
    roles : Roles
    target : Target
    metric : str
        As it was asked for: a name, or a function's address.
    greater : bool or None
        Which way is better, where it was said.
    made : str
        The version that made it.
    box : str
        The command that was the metric, or what was told; empty for names and functions.
    """

    features: Features
    estimator: Any
    roles: Roles
    target: Target
    metric: str
    greater: bool | None = None
    made: str = field(default=__version__)
    box: str = ""

    def matrix(self, table: Any, name: str = "The table") -> NDArray[np.float64]:
        """Return the features of a table's rows; other columns are not looked at."""
        present = list(table.columns)
        for column in self.schema.features:
            require(column, present, name)
        check_plain(table, self.schema.features, name)
        return self.features.matrix(table)

    def check(self, table: Any, name: str, voice: Voice, lenient: bool = False) -> None:
        """Refuse a file without a column that is read, or one in which much cannot be read."""
        for column in self.schema.features:
            require(column, list(table.columns), name)
        # Of the columns with other roles, only groups may be read to predict.
        read = {*self.schema.features, *self.roles.groups} & set(table.columns)
        check_plain(table, read, name)
        self.schema.check(table[sorted(read)], name, voice, lenient)

    @property
    def schema(self) -> Schema:
        """The columns that it reads, and how."""
        return self.features.schema

    def scores(self, table: Any, name: str = "The table") -> NDArray[np.float64]:
        """Return each row's score, positive for the positive label; or one a class; or a number."""
        X = self.matrix(table, name)
        needs = getattr(getattr(self.estimator, "decision_rule_", None), "needs", ())
        groups = self.roles.groups if "groups" in needs else ()
        for column in groups:
            require(column, list(table.columns), name, "groups have thresholds of their own")
        side = [column for column in needs if column != "groups"]
        for column in side:
            require(column, list(table.columns), name, "the decision rule reads it")
        read = self.schema.read(table) if needs else table
        columns = {column: filled(read[column], name, "--side") for column in side}
        return self.of_matrix(X, crossed(read, groups, name) if groups else None, columns)

    def of_matrix(
        self,
        X: NDArray[np.float64],
        groups: NDArray[Any] | None = None,
        side: dict[str, Any] | None = None,
    ) -> NDArray[np.float64]:
        """Return the scores of rows that are numbers already; a rule may read their metadata."""
        try:
            return np.asarray(self.estimator._told_scores(X, groups, side))
        except ValueError as error:
            raise UserError(str(error)) from error

    def predict(self, table: Any, name: str = "The table") -> NDArray[Any]:
        """Return each row's label in the user's own words, or its number."""
        return self.decide(self.scores(table, name))

    def decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label of each score."""
        if self.target.labels is None:
            return scores
        codes = np.argmax(scores, axis=1) if self.target.many else (scores > 0.0).astype(np.int64)
        return self.target.words(codes)

    @property
    def calls(self) -> bool:
        """Whether rows are called something: an order within queries calls them nothing."""
        return self.target.labels is not None and QUERY not in self.roles.side

    @property
    def score_names(self) -> list[str]:
        """The names of the columns that hold scores: one, or one a class."""
        classes = self.target.labels if self.target.many else None
        return ["score"] if classes is None else [f"score_{label}" for label in classes]

    def columns_of(self, scores: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return scores as the columns of a table."""
        return dict(zip(self.score_names, scores.reshape(len(scores), -1).T, strict=True))

    def asked(self) -> Metric:
        """Return the metric that it was trained for; a function is imported anew."""
        if getattr(self, "box", ""):  # nothing that a file names is run
            raise UserError(
                f"The model was trained for {self.box!r}, which is not run from its file: name a "
                "metric with --metric, or the command with --metric-command."
            )
        metric = find_metric(self.metric, self.greater, self.roles.side)
        return self.read_as(metric, ":" not in self.metric)

    def read_as(self, metric: Metric, named: bool) -> Metric:
        """Return what a metric means for the model's target."""
        return for_target(metric, self.target, named, f"The model's target {self.roles.target!r}")

    @property
    def feature_names(self) -> list[str]:
        """A name for each coefficient."""
        return self.features.names

    def __getstate__(self) -> dict[str, Any]:
        steps = copy.deepcopy(self.features.steps)
        for words in _vocabularies(steps):
            # One array instead of a node for each of 100,000 terms.
            words.vocabulary_ = np.array(sorted(words.vocabulary_, key=words.vocabulary_.get))
        features = replace(self.features, steps=steps)
        slimmer = {"features": features, "estimator": slim(self.estimator, self.metric)}
        return {**self.__dict__, **slimmer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for words in _vocabularies(self.features.steps):
            if not isinstance(words.vocabulary_, dict):
                terms = words.vocabulary_.tolist()
                words.vocabulary_ = {term: k for k, term in enumerate(terms)}


def _vocabularies(steps: Any) -> Iterator[Any]:
    for _, encoder, _ in steps["table"].transformers_:
        words = getattr(encoder, "vectorizer_", None)
        if hasattr(words, "vocabulary_"):
            yield words


def slim(estimator: Any, metric: str) -> Any:
    """Return a copy of a fitted estimator with what predicting and explaining need.

    Neither the run nor the metric itself is in it: a user's function does not belong in a file
    that others open.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(random_state=0)
    >>> small = slim(MetricClassifier("f1", random_state=0).fit(X, y), "f1")
    >>> small.predict(X).shape, hasattr(small, "history_")
    ((100,), False)
    """
    kept = type(estimator)(metric, model=estimator.model, random_state=estimator.random_state)
    for name in (*KEPT, "classes_"):
        if hasattr(estimator, name):
            setattr(kept, name, getattr(estimator, name))
    return kept


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
    return name in OURS or (name.startswith("skrub.") and "data_op" not in name)


def load_model(path: Path) -> TableModel:
    """Read a model that `dump_model` wrote; a type that we do not know is refused by name.

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
