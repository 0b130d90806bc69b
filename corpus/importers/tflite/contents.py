"""The contents of a .tflite file as plain values, every index checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npu_conformance.corpus.importers.tflite.errors import TfliteError
from npu_conformance.corpus.importers.tflite.flatbuffer import Array, Table, member_names, root

DTYPES = {
    "FLOAT32": "float32",
    "FLOAT16": "float16",
    "INT32": "int32",
    "UINT8": "uint8",
    "INT64": "int64",
    "BOOL": "bool",
    "INT16": "int16",
    "INT8": "int8",
    "FLOAT64": "float64",
    "UINT64": "uint64",
    "UINT32": "uint32",
    "UINT16": "uint16",
}
"""The element types whose constants are read, with numpy's names."""

MOST_AXES = 16
_MOST_ELEMENTS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor. data: the constant's elements, None for a tensor without. scales: none where it is not quantised."""

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    data: Array | None = None
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    channel_dim: int = 0
    is_variable: bool = False
    is_sparse: bool = False

    def __str__(self) -> str:
        return f"tensor {self.index} ({self.name})" if self.name else f"tensor {self.index}"


@dataclass(frozen=True, eq=False)
class Operator:
    """One operator. name: of the builtin operator, for a custom one CUSTOM and its own. options: None for defaults."""

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Table | None = None

    def option(self, name: str, default: Any = 0) -> Any:
        """A scalar of the options; the default where the operator has none of that name."""
        return self.options.value(name) if self.options and self.options.has(name) else default

    def text_option(self, name: str) -> str:
        """A string of the options."""
        return self.options.text(name) if self.options and self.options.has(name) else ""

    def numbers(self, name: str) -> list[int]:
        """A vector of the options."""
        return self.options.numbers(name) if self.options and self.options.has(name) else []


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Tensors, operators in an order of execution, numbers of the tensors that are inputs and outputs."""

    index: int
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Contents:
    """A file. document: its name in messages."""

    document: str
    subgraphs: tuple[Subgraph, ...] = field(default_factory=tuple)


def parse(data: bytes, document: str) -> Contents:
    """Read a file's bytes. Raises TfliteError naming the place of the first thing that is wrong."""
    model = root(data, document)
    if model.value("Version") != 3:
        raise TfliteError(document, "version", f"expected 3, found {model.value('Version')}")
    buffers = model.tables("Buffers", "buffers")
    codes = [_operator_name(code) for code in model.tables("OperatorCodes", "operator_codes")]
    subgraphs = model.tables("Subgraphs", "subgraphs")
    if not subgraphs:
        raise TfliteError(document, "subgraphs", "expected at least one")
    return Contents(document, tuple(_subgraph(i, table, buffers, codes) for i, table in enumerate(subgraphs)))


def _operator_name(code: Table) -> str:
    # Files from before 2020 have the deprecated field only, which ends at 127.
    number = max(code.value("BuiltinCode"), code.value("DeprecatedBuiltinCode"))
    name = member_names("BuiltinOperator").get(number)
    if name is None:
        raise code.error(f"there is no builtin operator {number}")
    return f"CUSTOM {code.text('CustomCode')}" if name == "CUSTOM" else name


def _subgraph(index: int, table: Table, buffers: list[Table], codes: list[str]) -> Subgraph:
    tensors = tuple(_tensor(i, one, buffers) for i, one in enumerate(table.tables("Tensors", "tensors")))
    operators = tuple(
        _operator(i, one, codes, len(tensors)) for i, one in enumerate(table.tables("Operators", "operators"))
    )
    inputs, outputs = (_indexes(table, name, len(tensors), least=0) for name in ("Inputs", "Outputs"))
    return Subgraph(index, tensors, operators, inputs, outputs)


def _operator(index: int, table: Table, codes: list[str], tensor_count: int) -> Operator:
    code = table.value("OpcodeIndex")
    if code not in range(len(codes)):
        raise table.error(f"there is no operator code {code}", "OpcodeIndex")
    inputs = _indexes(table, "Inputs", tensor_count, least=-1)
    outputs = _indexes(table, "Outputs", tensor_count, least=0)
    return Operator(index, codes[code], inputs, outputs, table.union("BuiltinOptions"))


def _indexes(table: Table, field: str, tensor_count: int, least: int) -> tuple[int, ...]:
    """Numbers of tensors. least: -1 where one may be left out."""
    indexes = tuple(table.numbers(field))
    wrong = next((index for index in indexes if not least <= index < tensor_count), None)
    if wrong is not None:
        raise table.error(f"there is no tensor {wrong}", field)
    return indexes


def _tensor(index: int, table: Table, buffers: list[Table]) -> Tensor:
    kind = member_names("TensorType").get(table.value("Type"))
    if kind is None:
        raise table.error(f"there is no tensor type {table.value('Type')}", "Type")
    shape = tuple(table.numbers("Shape"))
    # A size of 0 does not make the others harmless.
    if len(shape) > MOST_AXES or min(shape, default=0) < 0 or math.prod(filter(None, shape)) > _MOST_ELEMENTS:
        raise table.error(f"a tensor cannot have the shape {list(shape)[: MOST_AXES + 1]}", "Shape")
    is_sparse = table.table("Sparsity") is not None
    data = None if is_sparse else _data(table, buffers, kind, shape)
    quantization = table.table("Quantization")
    quantized = {} if quantization is None else _quantization(quantization, shape)
    is_variable = bool(table.value("IsVariable"))
    return Tensor(
        index, table.text("Name"), kind, shape, data, is_variable=is_variable, is_sparse=is_sparse, **quantized
    )


def _data(table: Table, buffers: list[Table], kind: str, shape: tuple[int, ...]) -> Array | None:
    number = table.value("Buffer")
    if number not in range(len(buffers)):
        raise table.error(f"there is no buffer {number}", "Buffer")
    stored = _bytes(buffers[number])
    if not stored.size or kind not in DTYPES:
        return None
    dtype = np.dtype(DTYPES[kind])
    if stored.size != math.prod(shape) * dtype.itemsize:
        raise table.error(
            f"buffer {number} has {stored.size} bytes, the shape {list(shape)} of {kind} asks for "
            f"{math.prod(shape) * dtype.itemsize}"
        )
    if kind == "BOOL":
        return np.not_equal(stored, 0).reshape(shape)
    return np.asarray(stored.view(dtype).reshape(shape))


def _bytes(buffer: Table) -> Array:
    """The bytes of a buffer, which in a large file stand behind all tables."""
    offset, size = buffer.value("Offset"), buffer.value("Size")
    if offset <= 1:
        return buffer.array("Data")
    data = buffer.source.data
    if offset + size > len(data):
        raise buffer.error(f"{size} bytes at {offset} lie beyond the end of the file", "Offset")
    return np.frombuffer(data, np.uint8, size, offset)


def _quantization(table: Table, shape: tuple[int, ...]) -> dict[str, Any]:
    if table.value("DetailsType"):
        raise table.error("custom quantisation cannot be read")
    scales, points = table.numbers("Scale"), table.numbers("ZeroPoint")
    if not scales:
        return {}
    axis = table.value("QuantizedDimension")
    if points and len(points) not in (1, len(scales)):
        raise table.error(f"{len(scales)} scales and {len(points)} zero points")
    if len(scales) > 1 and (axis not in range(len(shape)) or shape[axis] != len(scales)):
        raise table.error(f"{len(scales)} scales along dimension {axis} of the shape {list(shape)}")
    if not all(0 <= scale < math.inf for scale in scales):
        raise table.error("a scale is negative or not finite", "Scale")
    return {"scales": tuple(scales), "zero_points": tuple(points) or (0,), "channel_dim": axis}
