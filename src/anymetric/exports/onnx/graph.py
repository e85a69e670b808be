"""Graph: an ONNX graph that grows node by node; all sums are in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anymetric.errors import import_extra

# Operator sets: wide-spread ones, which know trees in double precision.
OPSETS = {"": 18, "ai.onnx.ml": 3}
# The version of the file format that goes with them.
IR = 8


def onnx_package() -> Any:
    """Import onnx, or say which extra brings it."""
    return import_extra("onnx", needed_by="The ONNX export", extra="onnx")


@dataclass(eq=False)
class Graph:
    """Nodes, constants, inputs and outputs of an ONNX graph in the making.

    Values are named by strings: every method that adds a node returns the name of its result.
    """

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.onnx = onnx_package()

    def fresh(self, stem: str) -> str:
        """Return a name that nothing else has."""
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, value: ArrayLike, dtype: Any = np.float64) -> str:
        """Add an array."""
        name, array = self.fresh("constant"), np.asarray(value)
        if array.dtype.kind in "OU":
            flat = [str(one) for one in array.ravel().tolist()]
            kind = self.onnx.TensorProto.STRING
            made = self.onnx.helper.make_tensor(name, kind, array.shape, flat)
        else:
            made = self.onnx.numpy_helper.from_array(np.asarray(array, dtype=dtype), name)
        self.constants.append(made)
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        """Add an operator with one result."""
        name = self.fresh(operator.lower())
        self.nodes.append(
            self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **settings)
        )
        return name

    def cast(self, value: str, kind: str) -> str:
        """Convert to a type of ONNX, such as DOUBLE."""
        return self.node("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def columns(self, value: str, places: ArrayLike) -> str:
        """Return some columns of a table."""
        return self.node("Gather", value, self.constant(places, np.int64), axis=1)

    def flat(self, value: str) -> str:
        """Return a table of one column as a vector."""
        return self.node("Reshape", value, self.constant([-1], np.int64))

    def input(self, name: str, kind: str, shape: list[Any]) -> str:
        """Declare an input."""
        type_ = getattr(self.onnx.TensorProto, kind)
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, type_, shape))
        return name

    def output(self, value: str, name: str, kind: str, shape: list[Any]) -> None:
        """Declare an output, and call it by a name of its own."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        type_ = getattr(self.onnx.TensorProto, kind)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, type_, shape))

    def model(self, metadata: Mapping[str, str]) -> Any:
        """Return the whole, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "anymetric", self.inputs, self.outputs, initializer=self.constants
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="anymetric")
        made.ir_version = IR
        helper.set_model_props(made, dict(metadata))
        self.onnx.checker.check_model(made)
        return made
