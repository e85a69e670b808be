"""ONNX: a fitted model as a graph that other runtimes evaluate, its decision rule inside."""

from anymetric.exports.onnx.export import export_onnx

__all__ = ["export_onnx"]
