"""Rules: decision rules and calibrated probabilities as nodes of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.calibration import (
    STRICT,
    ClassCalibrator,
    Isotonic,
    LabelCalibrator,
    Sigmoid,
)
from anymetric.exports.onnx.graph import Graph
from anymetric.rules import GroupRule, OffsetRule, RowRule, ScoreRule, ThresholdRule, TopRule

WITHOUT = "Export the scores with decision=False, and apply `decision_rule_` to them."


def moved_scores(graph: Graph, scores: str, rule: Any) -> str:
    """Add what a rule does to scores; return them, positive where it decides for a row."""
    if rule is None or isinstance(rule, ThresholdRule | OffsetRule | ScoreRule):
        return scores
    if isinstance(rule, GroupRule):
        return group_scores(graph, scores, rule)
    if isinstance(rule, TopRule):
        raise ValueError(
            f"{rule!r} flags the best of all rows that are given together, and a graph decides row "
            f"by row. {WITHOUT}"
        )
    if isinstance(rule, RowRule):
        raise ValueError(
            f"{rule!r} reads the gains of each row from metadata, which the graph has no input "
            f"for. {WITHOUT}"
        )
    raise ValueError(f"The decision rule {type(rule).__name__} has no ONNX form. {WITHOUT}")


def group_scores(graph: Graph, scores: str, rule: GroupRule) -> str:
    """Add each group's own number; a group that fit never saw adds nothing."""
    names, shifts = list(rule.shifts), list(rule.shifts.values())
    places = list(range(len(names)))
    if all(isinstance(name, str) for name in names):
        groups = graph.input("groups", "STRING", [None])
        kind: dict[str, Any] = {"keys_strings": names}
    elif all(float(name) == int(name) for name in names):
        groups = graph.input("groups", "INT64", [None])
        kind = {"keys_int64s": [int(name) for name in names]}
    else:
        raise ValueError(
            f"The groups {names[:3]} are neither words nor whole numbers, which is all that an "
            f"ONNX graph can look up. {WITHOUT}"
        )
    place = graph.node(
        "LabelEncoder",
        groups,
        domain="ai.onnx.ml",
        values_int64s=places,
        default_int64=len(names),
        **kind,
    )
    shift = graph.node("Gather", graph.constant([*shifts, 0.0]), place)
    column = graph.node("Reshape", shift, graph.constant([-1, 1], np.int64))
    return graph.node("Add", scores, column)


def probabilities(graph: Graph, scores: str, calibrator: Any) -> str:
    """Add a calibrator; return ``(n, 1)`` of the positive class, or ``(n, C)``."""
    if isinstance(calibrator, Sigmoid):
        return sigmoid(graph, scores, calibrator)
    if isinstance(calibrator, Isotonic):
        return isotonic(graph, scores, calibrator)
    if isinstance(calibrator, ClassCalibrator):
        return by_class(graph, scores, calibrator)
    if isinstance(calibrator, LabelCalibrator):
        parts = [
            probabilities(graph, graph.columns(scores, [k]), one)
            for k, one in enumerate(calibrator.labels)
        ]
        return graph.node("Concat", *parts, axis=1)
    raise ValueError(f"The calibrator {type(calibrator).__name__} has no ONNX form.")


def sigmoid(graph: Graph, scores: str, curve: Sigmoid) -> str:
    """Add a logistic curve."""
    sloped = graph.node("Mul", scores, graph.constant([curve.slope]))
    return graph.node("Sigmoid", graph.node("Add", sloped, graph.constant([curve.offset])))


def isotonic(graph: Graph, scores: str, curve: Isotonic) -> str:
    """Add lines between steps: every piece rises from its start to its end, and then no more."""
    x, y = np.asarray(curve.scores), np.asarray(curve.shares)
    base = graph.constant([[y[0]]])
    if len(x) > 1:
        inside = graph.node("Sub", scores, graph.constant(x[np.newaxis, :-1]))
        inside = graph.node("Max", inside, graph.constant([0.0]))
        inside = graph.node("Min", inside, graph.constant(np.diff(x)[np.newaxis, :]))
        slopes = (np.diff(y) / np.diff(x))[:, np.newaxis]
        base = graph.node("Add", graph.node("MatMul", inside, graph.constant(slopes)), base)
    trace = graph.node("Mul", sigmoid(graph, scores, curve.sigmoid), graph.constant([STRICT]))
    return graph.node("Add", graph.node("Mul", base, graph.constant([1.0 - STRICT])), trace)


def by_class(graph: Graph, scores: str, curve: ClassCalibrator) -> str:
    """Add a softmax of scaled scores, and steps for each class."""
    sloped = graph.node("Mul", scores, graph.constant([curve.slope]))
    softly = graph.node("Softmax", graph.node("Add", sloped, graph.constant(curve.offsets)), axis=1)
    if not curve.steps:
        return softly
    parts = [isotonic(graph, graph.columns(softly, [k]), one) for k, one in enumerate(curve.steps)]
    table = graph.node("Concat", *parts, axis=1)
    total = graph.node("ReduceSum", table, graph.constant([1], np.int64), keepdims=1)
    return graph.node("Div", table, total)
