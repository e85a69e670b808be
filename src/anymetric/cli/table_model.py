"""Table model: a trained model with the steps before it; data frames in, predictions out."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from anymetric import __version__
from anymetric.auto.decisions.named import top_of
from anymetric.cli.asked import find_metric, for_target
from anymetric.cli.faults import UserError
from anymetric.cli.frames import as_frame, ranks_of
from anymetric.cli.reading import check_plain, read_table
from anymetric.cli.roles import Roles, crossed, filled, require
from anymetric.cli.schema import Schema
from anymetric.cli.slim import slim, with_short_vocabularies, with_vocabularies
from anymetric.cli.targets import Target
from anymetric.cli.vectors import Features
from anymetric.cli.voice import Voice
from anymetric.errors import warn
from anymetric.estimators._shell import MetricEstimator
from anymetric.metrics import Metric
from anymetric.metrics.ranked import QUERY
from anymetric.rules import TopRule

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Warned(Voice):
    """In Python, notes on the rows are warnings.

    Examples
    --------
    >>> Warned().quiet
    False
    """

    def note(self, line: str) -> None:
        """Warn."""
        warn(line.removeprefix("Note: "))


@dataclass(frozen=True, eq=False)
class TableModel:
    """A trained model that reads tables as they come: what `anymetric.load` returns.

    `predict`, `predict_proba`, `decision_function` and `rank` take a data frame with the columns
    of training, in any order, and more if need be; or a list of dictionaries, one a row. Columns
    are read as in training, whatever types they have.

    Parameters
    ----------
    features : Features
        From a table to a matrix: how columns are read, and the steps after it.
    estimator : fitted estimator
    roles : Roles
    target : Target
    metric : str
        The metric's name, or its function's address; its code is not in the model.
    greater : bool or None
        Which way is better, where it was given.
    made : str
        The version that made it.
    box : str
        The command that was the metric, or who was asked; empty for names and functions.
    trained_on : str
        Which rows trained it, in words.
    importances : dict
        The permutation importance of every column, as measured at fit.

    Examples
    --------
    >>> import anymetric
    >>> model = anymetric.load("model.skops")  # doctest: +SKIP
    >>> model.predict(pandas.read_csv("new.csv"))  # doctest: +SKIP
    array(['no', 'yes', ...])
    """

    features: Features
    estimator: Any
    roles: Roles
    target: Target
    metric: str
    greater: bool | None = None
    made: str = field(default=__version__)
    box: str = ""
    trained_on: str = ""
    importances: dict[str, Any] = field(default_factory=dict)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two, the positive one last."""
        if self.target.labels is None:
            raise AttributeError("classes_ is there only where the target is a label.")
        return np.array(self.target.labels)

    @property
    def feature_names_in_(self) -> list[str]:
        """The columns that it reads to score rows."""
        return list(self.schema.features)

    def read(self, path: str | Path, encoding: str = "") -> Any:
        """Return the rows of a file as the command line reads it: text stays as it is written.

        Parameters
        ----------
        path : str or Path
            CSV, TSV, JSON lines, Excel, Parquet, Arrow or Feather.
        encoding : str
            Of a text file; by default the one that it is in.

        Returns
        -------
        pandas.DataFrame
        """
        return read_table(Path(path), encoding)

    def predict(self, X: Any, *, allow_unknown: bool = False) -> NDArray[Any]:
        """Return each row's label, or its number.

        Trained for a metric at the top, such as ``precision@5%``, it flags the top of the rows
        that are given together.

        Parameters
        ----------
        X : DataFrame or list of dict
        allow_unknown : bool
            Take values as missing that training never saw or that cannot be read, however many
            they are; by default a column in which they are many is refused.

        Returns
        -------
        array of shape (n,)
        """
        return self.decide(self.scores(self._checked(X, allow_unknown)))

    def decision_function(self, X: Any, *, allow_unknown: bool = False) -> Floats:
        """Return each row's score: above zero for the positive label; of many classes, one each.

        Parameters
        ----------
        X, allow_unknown
            As in `predict`.

        Returns
        -------
        array of shape (n,) or (n, C)
        """
        return self._row_scores(self._checked(X, allow_unknown))

    def predict_proba(self, X: Any, *, allow_unknown: bool = False) -> Floats:
        """Return the probability of every label, calibrated on rows that did not train the model.

        Parameters
        ----------
        X, allow_unknown
            As in `predict`.

        Returns
        -------
        array of shape (n, C)
            In the order of `classes_`.
        """
        return self.probabilities(self.matrix(self._checked(X, allow_unknown)))

    def rank(self, X: Any, *, allow_unknown: bool = False) -> NDArray[np.intp]:
        """Return each row's rank by score, 1 for the highest; within queries where there are any.

        Parameters
        ----------
        X, allow_unknown
            As in `predict`.

        Returns
        -------
        array of shape (n,)
        """
        table = self._checked(X, allow_unknown)
        return self.ranks(self._row_scores(table), table)

    def _checked(self, X: Any, allow_unknown: bool) -> Any:
        table = as_frame(X)
        self.check(table, "The table", Warned(), allow_unknown)
        return table

    def check(self, table: Any, name: str, voice: Voice, lenient: bool = False) -> None:
        """Refuse a table without a column that is read, or one in which much cannot be read."""
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

    @property
    def rule(self) -> Any:
        """What turns scores into decisions; None if they are read as they are."""
        rule = getattr(self.estimator, "decision_rule_", None)
        named = not (self.box or ":" in self.metric or QUERY in self.roles.side)
        if isinstance(rule, TopRule) or not named or len(self.target.labels or ()) != 2:
            return rule
        # A baseline knows no top; the metric does.
        top = top_of("auto", find_metric(self.metric, self.greater))
        return rule if top is None else top.rule

    def matrix(self, table: Any, name: str = "The table") -> Floats:
        """Return the features of a table's rows; other columns are not read."""
        present = list(table.columns)
        for column in self.schema.features:
            require(column, present, name)
        check_plain(table, self.schema.features, name)
        return self.features.matrix(table)

    def scores(self, table: Any, name: str = "The table") -> Floats:
        """Return scores of which those above zero are decided for; or one a class; or numbers."""
        return self.decided(self._row_scores(table, name))

    def decided(self, scores: Floats) -> Floats:
        """Return scores that are above zero where a row is flagged among all that are given."""
        return self.rule.moved(scores, {}) if isinstance(self.rule, TopRule) else scores

    def _row_scores(self, table: Any, name: str = "The table") -> Floats:
        X = self.matrix(table, name)
        needs = getattr(self.rule, "needs", ())
        groups = self.roles.groups if "groups" in needs else ()
        for column in groups:
            require(column, list(table.columns), name, "groups have thresholds of their own")
        there = list(table.columns)
        for column in needs:
            if column != "groups":
                require(column, there, name, "the decision rule reads it")
        reads = getattr(self.rule, "reads", needs)
        side = [column for column in reads if column in there and column != "groups"]
        read = self.schema.read(table) if reads else table
        columns = {column: filled(read[column], name, "--side") for column in side}
        return self._of_matrix(X, crossed(read, groups, name) if groups else None, columns)

    def of_matrix(
        self, X: Floats, groups: NDArray[Any] | None = None, side: dict[str, Any] | None = None
    ) -> Floats:
        """Return the `scores` of rows that are numbers already; a rule may read their metadata."""
        return self.decided(self._of_matrix(X, groups, side))

    def _of_matrix(
        self, X: Floats, groups: NDArray[Any] | None = None, side: dict[str, Any] | None = None
    ) -> Floats:
        try:
            return np.asarray(self._own._ruled_scores(X, groups, side))
        except ValueError as error:
            raise UserError(str(error)) from error

    @property
    def _own(self) -> Any:
        """The estimator as one of ours; it is one in every model that was loaded."""
        ours = isinstance(self.estimator, MetricEstimator)
        return self.estimator if ours else slim(self.estimator, self.metric)

    def probabilities(self, X: Floats) -> Floats:
        """Return the probabilities of rows that are numbers already."""
        if self.target.labels is None:
            raise UserError("The model predicts numbers: it has no probabilities.")
        if not hasattr(self.estimator, "predict_proba"):
            raise UserError("The model has no probabilities; it has scores.")
        return np.asarray(self.estimator.predict_proba(X))

    def ranks(self, scores: Floats, table: Any) -> NDArray[np.intp]:
        """Return the ranks of scores, within the queries of the table if it has any."""
        if scores.ndim > 1:
            raise UserError("Rows of more than two classes have no one rank: read the scores.")
        by_query = QUERY in self.roles.side and QUERY in table.columns
        return ranks_of(scores, table[QUERY].to_numpy() if by_query else None)

    def decide(self, scores: Floats) -> NDArray[Any]:
        """Return the label of each of the `scores`."""
        if self.target.labels is None:
            return scores
        codes = np.argmax(scores, axis=1) if self.target.many else (scores > 0.0).astype(np.int64)
        return self.target.words(codes)

    @property
    def calls(self) -> bool:
        """Whether rows get a label: an order within queries gives them none."""
        return self.target.labels is not None and QUERY not in self.roles.side

    @property
    def score_names(self) -> list[str]:
        """The names of the columns that hold scores: one, or one a class."""
        classes = self.target.labels if self.target.many else None
        return ["score"] if classes is None else [f"score_{label}" for label in classes]

    def columns_of(self, scores: Floats) -> dict[str, Floats]:
        """Return scores as the columns of a table."""
        return dict(zip(self.score_names, scores.reshape(len(scores), -1).T, strict=True))

    def asked(self) -> Metric:
        """Return the metric that it was trained for; a function is imported again."""
        if self.box:  # nothing that a file names is run
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
        """A name for each column of the matrix."""
        return self.features.names

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __getstate__(self) -> dict[str, Any]:
        steps = with_short_vocabularies(copy.deepcopy(self.features.steps))
        features = replace(self.features, steps=steps)
        slimmer = {"features": features, "estimator": slim(self.estimator, self.metric)}
        return {**self.__dict__, **slimmer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with_vocabularies(self.features.steps)
