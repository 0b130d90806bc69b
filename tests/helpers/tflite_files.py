"""Small .tflite files, made tensor by tensor and operator by operator with the schema's object API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

NONE = -1
"""Stands for an input that is left out."""


@dataclass
class Graph:
    """One subgraph. Tensors go by their numbers."""

    file: File
    tensors: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def tensor(
        self,
        kind: str,
        shape: Sequence[int],
        scale: float | Sequence[float] = (),
        zero_point: int = 0,
        *,
        axis: int = 0,
        value: Any = None,
        variable: bool = False,
    ) -> int:
        """Add a tensor; constant where it has a value."""
        schema = self.file.schema
        made = schema.TensorT()
        made.name, made.type, made.shape = f"t{len(self.tensors)}", getattr(schema.TensorType, kind), list(shape)
        made.isVariable, made.hasRank = variable, True
        made.buffer = 0 if value is None else self.file.buffer(np.asarray(value, kind.lower()).reshape(shape))
        scales = [scale] if isinstance(scale, float) else list(scale)
        if scales:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = scales, [zero_point] * len(scales)
            made.quantization.quantizedDimension = axis
        self.tensors.append(made)
        return len(self.tensors) - 1

    def constant(self, kind: str, value: Any) -> int:
        """Add a constant of its own shape."""
        return self.tensor(kind, np.shape(value), value=value)

    def input(self, kind: str, shape: Sequence[int], scale: float | Sequence[float] = (), zero_point: int = 0) -> int:
        """Add an input."""
        self.inputs.append(self.tensor(kind, shape, scale, zero_point))
        return self.inputs[-1]

    def apply(self, name: str, inputs: Sequence[int], outputs: Sequence[int], kind: str = "", **options: Any) -> None:
        """Add an operator. kind: of its options, without the word."""
        schema = self.file.schema
        made = schema.OperatorT()
        made.opcodeIndex, made.inputs, made.outputs = self.file.code(name), list(inputs), list(outputs)
        if kind:
            made.builtinOptionsType = getattr(schema.BuiltinOptions, f"{kind}Options")
            made.builtinOptions = getattr(schema, f"{kind}OptionsT")()
            for option, value in options.items():
                assert hasattr(made.builtinOptions, option), option
                setattr(made.builtinOptions, option, value)
        self.operators.append(made)

    def operator(
        self, name: str, inputs: Sequence[int], result: tuple[Any, ...], kind: str = "", **options: Any
    ) -> int:
        """Add an operator with one output, of which `result` has what `tensor` takes; returns the output."""
        output = self.tensor(*result)
        self.apply(name, inputs, [output], kind, **options)
        return output


class File:
    """A file of one subgraph or more."""

    def __init__(self) -> None:
        from ai_edge_litert import schema_py_generated

        self.schema: Any = schema_py_generated
        self._codes: list[str] = []
        self._buffers: list[npt.NDArray[Any]] = [np.empty(0, np.uint8)]
        self.graphs: list[Graph] = []
        self.main = self.graph()

    def graph(self) -> Graph:
        """Add a subgraph."""
        self.graphs.append(Graph(self))
        return self.graphs[-1]

    def buffer(self, value: npt.NDArray[Any]) -> int:
        """Add a buffer."""
        self._buffers.append(np.frombuffer(value.tobytes(), np.uint8))
        return len(self._buffers) - 1

    def code(self, name: str) -> int:
        """The number of an operator's code; CUSTOM with a name of its own behind it."""
        if name not in self._codes:
            self._codes.append(name)
        return self._codes.index(name)

    def pack(self, *outputs: int) -> bytes:
        """The bytes of the file. outputs: of the main subgraph."""
        import flatbuffers

        self.main.outputs = list(outputs)
        model = self.schema.ModelT()
        model.version, model.description = 3, "made by a test"
        model.operatorCodes = [self._code(name) for name in self._codes]
        model.subgraphs = [self._subgraph(graph) for graph in self.graphs]
        model.buffers = [self._buffer(value) for value in self._buffers]
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def _code(self, name: str) -> Any:
        builtin, _, custom = name.partition(" ")
        made = self.schema.OperatorCodeT()
        made.builtinCode = getattr(self.schema.BuiltinOperator, builtin)
        # Operators that came after the deprecated field was full begin with version 2, or 1 as others.
        made.deprecatedBuiltinCode, made.version = min(made.builtinCode, 127), 2 if builtin == "BROADCAST_TO" else 1
        made.customCode = custom or None
        return made

    def _subgraph(self, graph: Graph) -> Any:
        made = self.schema.SubGraphT()
        made.tensors, made.operators = graph.tensors, graph.operators
        made.inputs, made.outputs, made.name = graph.inputs, graph.outputs, "main"
        return made

    def _buffer(self, value: npt.NDArray[Any]) -> Any:
        made = self.schema.BufferT()
        made.data = value if value.size else None
        return made
