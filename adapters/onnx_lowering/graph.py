"""An ONNX graph being built: nodes, initializers and inputs, which become a model at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import EngineError, Shape, module
from npu_conformance.specs.installing import pip_install

INSTALL_HINT = f"ONNX is not installed: {pip_install('onnx')}"

OPSET = 21
"""The first operator set that quantises 16-bit values."""

IR_VERSION = 10

Array = npt.NDArray[Any]


def onnx(part: str = "") -> Any:
    """The package `onnx` or a module of it. Raises EngineMissingError where it is not installed."""
    return module(f"onnx.{part}" if part else "onnx", INSTALL_HINT)


class OnnxError(EngineError):
    """ONNX rejected a model or failed to run it; the message is ONNX's."""


class Graph:
    """Collects nodes in order of execution. Values have names; the empty name is an input left out."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []
        self._inputs: list[Any] = []
        self._inferred: tuple[int, dict[str, Shape]] = (0, {})

    def constant(self, data: Array) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self._initializers)}"
        self._initializers.append(onnx("numpy_helper").from_array(np.ascontiguousarray(data).reshape(data.shape), name))
        return name

    def input(self, dtype: np.dtype[Any], shape: Shape) -> str:
        """Add an input of the model and return its name."""
        name = f"i{len(self._inputs)}"
        self._inputs.append(_value(name, dtype, shape))
        return name

    def emit(self, operator: str, inputs: Sequence[str], count: int = 1, **attributes: Any) -> list[str]:
        """Append a node and return the names of its outputs."""
        names = [f"n{len(self._nodes)}_{position}" for position in range(count)]
        self._nodes.append(onnx("helper").make_node(operator, list(inputs), names, **attributes))
        return names

    def shapes(self) -> Mapping[str, Shape]:
        """Shapes of values by name, as far as ONNX infers them from the graph so far."""
        if self._inferred[0] != len(self._nodes):
            self._inferred = len(self._nodes), shapes_of(self.model([], []))
        return self._inferred[1]

    def model(self, outputs: Sequence[str], dtypes: Sequence[np.dtype[Any]]) -> Any:
        """The model with these outputs and the shapes that ONNX infers; dtypes: element type of each output."""
        helper = onnx("helper")
        results = [_value(name, dtype, None) for name, dtype in zip(outputs, dtypes, strict=True)]
        graph = helper.make_graph(self._nodes, "main", self._inputs, results, self._initializers)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
        try:
            return onnx("shape_inference").infer_shapes(model)
        except onnx("shape_inference").InferenceError as error:
            raise OnnxError(f"ONNX infers no shapes: {error}") from error


def shapes_of(model: Any) -> dict[str, Shape]:
    """Shapes of the values between inputs and outputs of a model, as far as ONNX infers them."""
    found = ((info.name, _shape(info)) for info in model.graph.value_info)
    return {name: shape for name, shape in found if shape is not None}


def _value(name: str, dtype: np.dtype[Any], shape: Shape | None) -> Any:
    helper = onnx("helper")
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def _shape(info: Any) -> Shape | None:
    """The shape of a value; None where a size is open."""
    if not info.type.tensor_type.HasField("shape"):
        return None
    sizes = info.type.tensor_type.shape.dim
    return tuple(size.dim_value for size in sizes) if all(size.HasField("dim_value") for size in sizes) else None
