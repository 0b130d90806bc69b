"""A vector that keeps a device busy for a while: a long chain of additions, each on the result of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_ELEMENTS = 1 << 14
_START, _UP, _DOWN = -4.0, -0.5, 0.75
"""Every partial sum is exact in each of the types, so that all devices agree."""
_TYPES = {
    OperandType.TENSOR_FLOAT32: (0.0, 0),
    OperandType.TENSOR_FLOAT16: (0.0, 0),
    OperandType.TENSOR_QUANT8_ASYMM: (0.25, 128),
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: (0.25, 0),
}
"""The types in the order in which they are tried, with scale and zero point."""


def supported(device: Device, version: Version, additions: int) -> Vector:
    """The chain in the first type in which the device supports it. Raises NotSupported where there is none."""
    for vector in _vectors(version, additions):
        if all(device.get_supported_operations(build_model(vector, version).model)):
            return vector
    raise NotSupported("ADD is supported of no type")


def busy_vector(operand_type: OperandType, additions: int, version: Version) -> Vector:
    """start + up + down + up + ..., so many additions, with the exact result by its closed form."""
    tensor = VectorOperand(operand_type, (_ELEMENTS,), *_TYPES[operand_type])
    sums = [f"sum{number}" for number in range(additions + 1)]
    operands = dict.fromkeys(("up", "down", *sums), tensor)
    operands["activation"] = VectorOperand(OperandType.INT32, value=np.array(0, np.int32))
    operations = tuple(
        VectorOperation("ADD", (sums[number], ("up", "down")[number % 2], "activation"), (sums[number + 1],))
        for number in range(additions)
    )
    inputs = {"sum0": _elements(tensor, _START), "up": _elements(tensor, _UP), "down": _elements(tensor, _DOWN)}
    total = _START + additions // 2 * (_UP + _DOWN) + additions % 2 * _UP
    example = Example(inputs, {sums[-1]: _elements(tensor, total)})
    return Vector("busy", "ADD", version, operands, operations, tuple(inputs), (sums[-1],), (example,))


def _vectors(version: Version, additions: int) -> Iterator[Vector]:
    for operand_type in _TYPES:
        if OPERAND_TYPES[operand_type].since <= version:
            yield busy_vector(operand_type, additions, version)


def _elements(tensor: VectorOperand, value: float) -> Array:
    stored = value / tensor.scale + tensor.zero_point if tensor.scale else value
    return np.full(tensor.dimensions, stored, OPERAND_TYPES[tensor.type].dtype)
