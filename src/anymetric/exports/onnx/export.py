"""Export: from a fitted estimator to an ONNX model, and to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.exports.onnx.graph import Graph
from anymetric.exports.onnx.members import scores_of
from anymetric.exports.onnx.rules import moved_scores, probabilities
from anymetric.metrics import Classes

TYPES = {"float32": "FLOAT", "float64": "DOUBLE"}
# Logarithms of predictions are cut off here, as they are in Python.
LARGEST = 300.0


def export_onnx(
    fitted: Any, path: str | Path, *, decision: bool = True, dtype: str = "float32"
) -> Path:
    """Write a fitted model as an ONNX file, its decision rule inside.

    The input is ``X``, one row a line, missing values as NaN where the model reads them; groups
    with thresholds of their own are a second input, ``groups``. A classifier's outputs are
    ``label``, ``probabilities`` and ``score`` (`predict`, `predict_proba`, `decision_function`), a
    regressor's ``prediction``, a ranker's ``score``.

    Parameters
    ----------
    fitted : MetricClassifier, MetricRegressor or MetricRanker
    path : path
    decision : bool
        Whether the graph decides. False leaves ``score`` without group thresholds and without
        labels.
    dtype : {"float32", "float64"}
        Of the input; sums are in double precision either way.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from anymetric.estimators import MetricClassifier
    >>> X, y = make_classification(200, random_state=0)
    >>> clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(clf, f"{folder}/model.onnx").name
    'model.onnx'
    """
    made, path = to_onnx(fitted, decision=decision, dtype=dtype), Path(path)
    path.write_bytes(made.SerializeToString())
    return path


def to_onnx(
    fitted: Any,
    *,
    decision: bool = True,
    dtype: str = "float32",
    columns: Any = None,
    words: Any = None,
) -> Any:
    """Return a fitted model as an ONNX model.

    Parameters
    ----------
    fitted, decision, dtype
        As in `export_onnx`.
    columns : sequence of str, optional
        Names of the features.
    words : sequence, optional
        What the classes are called, where the estimator knows them by numbers from 0.
    """
    if dtype not in TYPES:
        raise ValueError(f"dtype must be one of {list(TYPES)}; got {dtype!r}.")
    if not hasattr(fitted, "n_features_in_"):
        raise ValueError(f"Call fit before the export; got {fitted!r}.")
    graph = Graph()
    X = graph.input("X", TYPES[dtype], [None, int(fitted.n_features_in_)])
    scores = scores_of(graph, graph.cast(X, "DOUBLE"), fitted)
    if hasattr(fitted, "calibrator_"):
        add_classifier(graph, scores, fitted, decision, words)
    elif hasattr(fitted, "link_"):
        add_regressor(graph, scores, fitted)
    else:
        graph.output(graph.flat(scores), "score", "DOUBLE", [None])
    return graph.model(metadata_of(fitted, columns, words))


def add_classifier(
    graph: Graph, scores: str, fitted: Any, decision: bool, words: Any = None
) -> None:
    """Add label, probabilities and score."""
    labels = fitted._labels()
    many = isinstance(labels, Classes)
    sign = 1.0 if many else direction_of(fitted, labels)
    p = probabilities(graph, scores, fitted.calibrator_)
    if not many:
        rest = graph.node("Sub", graph.constant([1.0]), p)
        p = graph.node("Concat", *([rest, p] if sign > 0.0 else [p, rest]), axis=1)
    if decision:
        scores = moved_scores(graph, scores, getattr(fitted, "decision_rule_", None))
        names = fitted.classes_ if many else fitted._pair
        add_label(graph, scores, labels, names if words is None else np.asarray(words))
    graph.output(p, "probabilities", "DOUBLE", [None, len(labels)])
    shown = scores if sign > 0.0 else graph.node("Neg", scores)
    shape = [None, len(labels)] if many else [None]
    graph.output(shown if many else graph.flat(shown), "score", "DOUBLE", shape)


def add_label(graph: Graph, scores: str, labels: Any, names: Any) -> None:
    """Add the decision in the user's own labels."""
    if isinstance(labels, Classes) and not labels.exclusive:
        above = graph.node("Greater", scores, graph.constant([0.0]))
        graph.output(graph.cast(above, "INT64"), "label", "INT64", [None, len(labels)])
        return
    if isinstance(labels, Classes):
        place = graph.node("ArgMax", scores, axis=1, keepdims=0)
    else:
        above = graph.node("Greater", graph.flat(scores), graph.constant([0.0]))
        place = graph.cast(above, "INT64")
    kind, dtype = label_type(names)
    table = graph.constant(names, dtype)
    graph.output(graph.node("Gather", table, place), "label", kind, [None])


def label_type(names: Any) -> tuple[str, Any]:
    """Return the type of labels in ONNX and in NumPy.

    Examples
    --------
    >>> label_type(np.array([0, 1]))[0], label_type(np.array(["no", "yes"]))[0]
    ('INT64', 'STRING')
    """
    kind = np.asarray(names).dtype.kind
    if kind in "iu":
        return "INT64", np.int64
    if kind == "b":
        return "BOOL", np.bool_
    return ("DOUBLE", np.float64) if kind == "f" else ("STRING", object)


def add_regressor(graph: Graph, scores: str, fitted: Any) -> None:
    """Add predictions: of logarithms, their exponential."""
    if fitted.link_ == "log":
        scores = graph.node("Exp", graph.node("Min", scores, graph.constant([LARGEST])))
    graph.output(graph.flat(scores), "prediction", "DOUBLE", [None])


def direction_of(fitted: Any, labels: Any) -> float:
    """Return -1 where the positive label is the first of the classes, else 1."""
    return -1.0 if fitted.classes_.tolist()[0] == labels[1] else 1.0


def metadata_of(fitted: Any, columns: Any, words: Any) -> dict[str, str]:
    """Return what the file says of itself: features, categories, classes, metric."""
    names = columns if columns is not None else getattr(fitted, "feature_names_in_", None)
    found = {"metric": str(getattr(getattr(fitted, "metric_", None), "name", fitted.metric))}
    if names is not None:
        found["features"] = json.dumps([str(name) for name in names])
    if hasattr(fitted, "classes_"):
        classes = fitted.classes_.tolist() if words is None else words
        found["classes"] = json.dumps([str(one) for one in classes])
    known = getattr(fitted, "_categories", None)
    if known:
        coded = {str(name): [str(one) for one in values] for name, values in known.items()}
        found["categories"] = json.dumps(coded)
    rule = getattr(fitted, "decision_rule_", None)
    return found if rule is None else {**found, "decision_rule": repr(rule)}
