"""Stored vectors for the unit tests of somebody else: a JSON document for each, and a header for C and C++."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.harness.judge.tolerance import Circumstances, floor
from npu_conformance.specs.neuralnetworks.enums import OperandType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Example, Vector

HEADER = "npu_vectors.h"
_C_TYPES = {
    "float32": "float", "float16": "uint16_t", "bool": "uint8_t", "int8": "int8_t", "uint8": "uint8_t",
    "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t", "uint32": "uint32_t",
}  # fmt: skip
_A_LINE = 16


def write(chosen: Iterable[Vector], folder: Path) -> list[Path]:
    """Write OPERATION.NAME.json for each vector, and the header with the values of those of one operation.

    Raises OSError where the folder cannot be written.
    """
    from npu_conformance.corpus.vectors import writing

    folder.mkdir(parents=True, exist_ok=True)
    found = list({(vector.operation, vector.name): vector for vector in chosen}.values())
    for vector in found:
        text = json.dumps({"operation": vector.operation, **writing.document_of(vector)}, indent=1)
        (folder / f"{vector.operation}.{vector.name}.json").write_text(text + "\n", encoding="utf-8")
    (folder / HEADER).write_text(header(found), encoding="utf-8")
    return [*(folder / f"{vector.operation}.{vector.name}.json" for vector in found), folder / HEADER]


def header(chosen: Iterable[Vector]) -> str:
    """C99 and C++11: npu_vectors[], an entry for each example that has one operation and has to be computed."""
    blocks: list[str] = []
    entries: list[str] = []
    for vector in chosen:
        if vector.rejected is None and len(vector.operations) == 1 and not vector.referenced:
            for number, example in enumerate(vector.examples):
                name = f"{_identifier(f'{vector.operation}_{vector.name}')}_{number}"
                blocks += _block(name, vector, example)
                entries.append(_entry(name, vector))
    table = f"static const npu_vector npu_vectors[] = {{\n{_joined(entries)}}};\n" if entries else ""
    count = f"enum {{ npu_vector_count = {len(entries)} }};\n"
    return f"{_BEGINNING}\n{''.join(blocks)}\n{table}{count}#endif\n"


def _block(name: str, vector: Vector, example: Example) -> Iterator[str]:
    """The values and the lists of inputs and outputs of one example."""
    for role, values in _roles(vector, example).items():
        rows = []
        for number, (operand, array) in enumerate(values):
            given = "0"
            if array is not None and array.size:
                given = f"{name}_{role}_{number}"
                yield f"static const {_C_TYPES[array.dtype.name]} {given}[] = {{{_numbers(array)}}};\n"
            rows.append(_value(vector, operand, array, given))
        yield f"static const npu_value {name}_{role}[] = {{\n{_joined(rows)}}};\n"


def _roles(vector: Vector, example: Example) -> dict[str, list[tuple[str, Array | None]]]:
    """The arguments of the operation in order, constants among them, and its results."""
    (operation,) = vector.operations
    inputs = [(name, example.inputs.get(name, vector.operands[name].value)) for name in operation.inputs]
    return {"inputs": inputs, "outputs": [(name, example.outputs.get(name)) for name in operation.outputs]}


def _value(vector: Vector, name: str, array: Array | None, given: str) -> str:
    operand = vector.operands[name]
    shape = operand.dimensions if array is None else array.shape
    is_float16 = any(one.type is OperandType.TENSOR_FLOAT16 for one in vector.operands.values())
    judged = floor(operand.type, Circumstances(relaxed=vector.relaxed, any_float16=is_float16)).judged
    sizes = ", ".join(map(str, shape)) or "0"
    return (
        f'{{"{_escaped(name)}", {int(operand.type)}, {len(shape)}, {{{sizes}}}, {_number(operand.scale)}, '
        f"{operand.zero_point}, {0 if array is None else array.nbytes}, {given}, {judged.atol!r}, {judged.rtol!r}}}"
    )


def _entry(name: str, vector: Vector) -> str:
    (operation,) = vector.operations
    title = f"{vector.operation}.{vector.name}"
    return (
        f'{{"{title}", "{_escaped(vector.description)}", {len(operation.inputs)}, {name}_inputs, '
        f"{len(operation.outputs)}, {name}_outputs}}"
    )


def _joined(rows: Iterable[str]) -> str:
    return "".join(f"  {row},\n" for row in rows)


def _numbers(array: Array) -> str:
    stored = array.view("uint16") if array.dtype.name == "float16" else array
    told = [_number(value) for value in stored.reshape(-1).tolist()]
    lines = [", ".join(told[start : start + _A_LINE]) for start in range(0, len(told), _A_LINE)]
    return ",\n  ".join(lines)


def _number(value: float) -> str:
    """As C reads it. A float32 is written with the nine digits that tell it from any other."""
    if isinstance(value, int):
        return str(int(value)) if value != -(2**31) else "(-2147483647 - 1)"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = f"{value:.9g}"
    return f"{text}f" if re.search(r"[.e]", text) else f"{text}.0f"


def _identifier(text: str) -> str:
    return re.sub(r"\W", "_", text)


def _escaped(text: str) -> str:
    return text.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


_BEGINNING = """/* Stored vectors of npu-conformance, made by `npu-conformance vectors export`; C99 and C++11.

An element of an output passes where |expected - actual| <= atol + rtol * |expected|, in stored values.
The numbers of types are those of OperandType. float16 stands as its 16 bits. */
#ifndef NPU_VECTORS_H
#define NPU_VECTORS_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { npu_most_dimensions = 8 };

/* data: 0 where an optional argument is left out, or has no element. */
typedef struct {
  const char* name;
  int32_t type;
  uint32_t rank;
  uint32_t dimensions[npu_most_dimensions];
  float scale;
  int32_t zero_point;
  size_t bytes;
  const void* data;
  double atol, rtol;
} npu_value;

/* inputs: the arguments of the operation in order, parameters among them. */
typedef struct {
  const char* name;
  const char* description;
  size_t input_count;
  const npu_value* inputs;
  size_t output_count;
  const npu_value* outputs;
} npu_vector;
"""
