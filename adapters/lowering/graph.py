"""A .tflite graph being built: tensors, constants and operators, packed into a flatbuffer at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.litert_runtime import flatbuffer_builder, schema

FILE_IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
LAST_OLD_BUILTIN = 127
"""Codes up to this one also stand in the schema's older, one-byte field."""

VERSIONS = {"BROADCAST_TO": 2}
"""The first registered version of operators where it is not 1. Kernels go by the types of the tensors, not by it."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Quantization:
    """Scales and zero points of a tensor: one of each, or one for each index of `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0


@dataclass
class Tensor:
    """A tensor of the graph.

    dtype: numpy's name. shape: empty until LiteRT has inferred it. data: None unless constant.

    variable: an operator may write over it, though it is an input.
    """

    dtype: str
    shape: tuple[int, ...] = ()
    quantization: Quantization | None = None
    data: Array | None = None
    variable: bool = False


@dataclass(frozen=True)
class Operator:
    """An operator: the schema's name, tensor numbers, and its options by the schema's field names.

    routines: graphs that the operator runs, by the field of its options that holds their number. custom: the options
    of an operator that is not in the schema, whose name is LiteRT's.
    """

    builtin: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    routines: Mapping[str, Routine] = field(default_factory=dict)
    custom: bytes = b""


@dataclass(frozen=True)
class Routine:
    """A graph with the tensors that it takes and gives."""

    graph: Graph
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Graph:
    """Collects tensors and operators in order of execution."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []

    def add(self, tensor: Tensor) -> int:
        """Add a tensor and return its number."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def constant(self, data: Array, quantization: Quantization | None = None) -> int:
        """Add a constant tensor and return its number."""
        return self.add(Tensor(data.dtype.name, data.shape, quantization, np.ascontiguousarray(data)))

    def emit(
        self,
        builtin: str,
        inputs: Sequence[int],
        output: int | Sequence[int],
        options: str | None = None,
        **settings: Any,
    ) -> None:
        """Append an operator. options: name of its option table without `Options`; settings: that table's fields."""
        outputs = (output,) if isinstance(output, int) else tuple(output)
        self.operators.append(Operator(builtin, tuple(inputs), outputs, options, settings))

    def run_graphs(
        self, builtin: str, inputs: Sequence[int], outputs: Sequence[int], routines: Mapping[str, Routine]
    ) -> None:
        """Append an operator that runs other graphs. routines: by the field of its options."""
        options = builtin.capitalize()
        self.operators.append(Operator(builtin, tuple(inputs), tuple(outputs), options, {}, routines))

    def emit_custom(self, name: str, inputs: Sequence[int], outputs: Sequence[int], options: bytes) -> None:
        """Append an operator that is not in the schema. options: a flexbuffer."""
        self.operators.append(Operator(name, tuple(inputs), tuple(outputs), custom=options))

    def pack(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Return the .tflite flatbuffer with these graph inputs and outputs."""
        tables = schema()
        model = tables.ModelT()
        model.version = SCHEMA_VERSION
        model.subgraphs = []
        model.buffers = [tables.BufferT()]
        codes: dict[str, int] = {}
        routines = [Routine(self, tuple(inputs), tuple(outputs))]
        for routine in routines:
            # The list grows: the routines of a graph's operators are put behind it.
            model.subgraphs.append(_graph_table(routine, model, codes, routines))
        model.operatorCodes = [_code_table(builtin) for builtin in codes]
        builder = flatbuffer_builder()
        builder.Finish(model.Pack(builder), FILE_IDENTIFIER)
        return bytes(builder.Output())


def _graph_table(routine: Routine, model: Any, codes: dict[str, int], routines: list[Routine]) -> Any:
    table = schema().SubGraphT()
    table.name = b"main" if len(routines) == 1 else b"graph"
    table.inputs = list(routine.inputs)
    table.outputs = list(routine.outputs)
    table.tensors = [_tensor_table(number, tensor, model) for number, tensor in enumerate(routine.graph.tensors)]
    table.operators = [_operator_table(operator, codes, routines) for operator in routine.graph.operators]
    return table


def _tensor_table(number: int, tensor: Tensor, model: Any) -> Any:
    tables = schema()
    table = tables.TensorT()
    table.name = b"t%d" % number
    table.shape = list(tensor.shape)
    table.buffer = 0
    table.type = getattr(tables.TensorType, tensor.dtype.upper())
    table.isVariable = tensor.variable
    if tensor.data is not None:
        buffer = tables.BufferT()
        buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
        table.buffer = len(model.buffers)
        model.buffers.append(buffer)
    if tensor.quantization is not None:
        table.quantization = tables.QuantizationParametersT()
        table.quantization.scale = list(tensor.quantization.scales)
        table.quantization.zeroPoint = list(tensor.quantization.zero_points)
        table.quantization.quantizedDimension = tensor.quantization.axis
    return table


def _operator_table(operator: Operator, codes: dict[str, int], routines: list[Routine]) -> Any:
    tables = schema()
    table = tables.OperatorT()
    table.opcodeIndex = codes.setdefault(operator.builtin, len(codes))
    table.inputs = list(operator.inputs)
    table.outputs = list(operator.outputs)
    if operator.options is not None:
        name = f"{operator.options}Options"
        table.builtinOptionsType = getattr(tables.BuiltinOptions, name)
        table.builtinOptions = getattr(tables, f"{name}T")()
        for setting, value in operator.settings.items():
            setattr(table.builtinOptions, setting, value)
    if operator.custom:
        table.customOptions = np.frombuffer(operator.custom, np.uint8)
    for setting, routine in operator.routines.items():
        setattr(table.builtinOptions, setting, len(routines))
        routines.append(routine)
    return table


def _code_table(builtin: str) -> Any:
    tables = schema()
    table = tables.OperatorCodeT()
    table.builtinCode = getattr(tables.BuiltinOperator, builtin, tables.BuiltinOperator.CUSTOM)
    if table.builtinCode == tables.BuiltinOperator.CUSTOM:
        table.customCode = builtin
    table.deprecatedBuiltinCode = min(table.builtinCode, LAST_OLD_BUILTIN)
    table.version = VERSIONS.get(builtin, 1)
    return table
