"""Trees: LightGBM's trees as one node of ONNX, thresholds and leaves in double precision.

Converters to single precision move a threshold to the nearest float, and rows that lie between the
two fall to the other side; here every comparison is LightGBM's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anymetric.exports.onnx.graph import Graph

# How LightGBM names what it does with missing values.
MISSING_NAN, MISSING_NONE = "NaN", "None"


@dataclass(eq=False)
class Nodes:
    """The nodes and leaves of all trees, in the columns that ONNX wants."""

    tree: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    mode: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    true: list[int] = field(default_factory=list)
    false: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    leaves: list[tuple[int, int, int, float]] = field(default_factory=list)

    def add(self, tree: int, mode: str, feature: int = 0, value: float = 0.0) -> int:
        """Add a node without children; return its place in the list."""
        number = len(self.tree)
        before = self.place[-1] + 1 if self.tree and self.tree[-1] == tree else 0
        self.tree.append(tree)
        self.place.append(before)
        self.mode.append(mode)
        self.feature.append(feature)
        self.value.append(value)
        self.true.append(0)
        self.false.append(0)
        self.missing.append(0)
        return number

    def grow(self, node: dict[str, Any], tree: int, output: int) -> int:
        """Add a node of LightGBM's and all below it; return its place in its tree."""
        if "split_feature" not in node:
            number = self.add(tree, "LEAF")
            self.leaves.append((tree, self.place[number], output, float(node["leaf_value"])))
            return self.place[number]
        if node["decision_type"] == "==":
            return self._categories(node, tree, output)
        value = float(node["threshold"])
        number = self.add(tree, "BRANCH_LEQ", int(node["split_feature"]), value)
        self.missing[number] = int(missing_left(node, value))
        self.true[number] = self.grow(node["left_child"], tree, output)
        self.false[number] = self.grow(node["right_child"], tree, output)
        return self.place[number]

    def _categories(self, node: dict[str, Any], tree: int, output: int) -> int:
        """Add one comparison a category; those that go left share one child, as ONNX allows."""
        feature = int(node["split_feature"])
        codes = [float(code) for code in str(node["threshold"]).split("||")]
        numbers = [self.add(tree, "BRANCH_EQ", feature, code) for code in codes]
        left = self.grow(node["left_child"], tree, output)
        right = self.grow(node["right_child"], tree, output)
        for number, after in zip(numbers, [*numbers[1:], None], strict=True):
            self.true[number] = left
            self.false[number] = right if after is None else self.place[after]
        return self.place[numbers[0]]


def missing_left(node: dict[str, Any], value: float) -> bool:
    """Return whether a missing value goes left: LightGBM may read it as zero.

    Examples
    --------
    >>> missing_left({"missing_type": "None", "default_left": False}, 1.0)
    True
    """
    kind = node["missing_type"]
    if kind == MISSING_NONE:
        return value >= 0.0
    if kind == MISSING_NAN:
        return bool(node["default_left"])
    raise ValueError(
        "The trees read zeros as missing (zero_as_missing), which ONNX has no word for: train "
        "without that setting."
    )


def tree_scores(graph: Graph, X: str, booster: Any) -> str:
    """Add the trees of a booster; return the sums of their leaves, ``(n, outputs)``."""
    dump = booster.dump_model()
    outputs = int(dump["num_tree_per_iteration"])
    nodes = Nodes()
    for k, tree in enumerate(dump["tree_info"]):
        nodes.grow(tree["tree_structure"], k, k % outputs)
    from_array = graph.onnx.numpy_helper.from_array
    trees, places, targets, weights = (list(c) for c in zip(*nodes.leaves, strict=True))
    sums = graph.node(
        "TreeEnsembleRegressor",
        X,
        domain="ai.onnx.ml",
        n_targets=outputs,
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_treeids=nodes.tree,
        nodes_nodeids=nodes.place,
        nodes_featureids=nodes.feature,
        nodes_modes=nodes.mode,
        nodes_values_as_tensor=from_array(np.array(nodes.value), "nodes_values"),
        nodes_truenodeids=nodes.true,
        nodes_falsenodeids=nodes.false,
        nodes_missing_value_tracks_true=nodes.missing,
        target_treeids=trees,
        target_nodeids=places,
        target_ids=targets,
        target_weights_as_tensor=from_array(np.array(weights), "target_weights"),
    )
    return graph.cast(sums, "DOUBLE")
