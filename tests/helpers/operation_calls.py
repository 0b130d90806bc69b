"""Calls of operations for the tests of rules: operands named by one letter, and edits that break a clause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import (
    Operand,
    OperandExtraParams,
    Operation,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version


@dataclass(frozen=True)
class Given:
    """An operand with what is known of it: its value, and its real shape where that is known only at execution."""

    operand: Operand
    value: Any = None
    shape: tuple[int, ...] | None = None


def tensor(kind: OperandType, *dimensions: int, shape: tuple[int, ...] | None = None, **rest: Any) -> Given:
    return Given(Operand(kind, dimensions, **rest), shape=shape)


def f(*dimensions: int, shape: tuple[int, ...] | None = None) -> Given:
    """A float tensor; without dimensions its rank is unknown."""
    return tensor(OperandType.TENSOR_FLOAT32, *dimensions, shape=shape)


def t(*dimensions: int, shape: tuple[int, ...] | None = None) -> Given:
    """A tensor of truth values."""
    return tensor(OperandType.TENSOR_BOOL8, *dimensions, shape=shape)


def n(*dimensions: int, scale: float = 0.0) -> Given:
    """An integer tensor of unknown value."""
    return tensor(OperandType.TENSOR_INT32, *dimensions, scale=scale)


def q(*dimensions: int, scale: float = 0.5, zero: int = 0, shape: tuple[int, ...] | None = None) -> Given:
    """An unsigned quantised tensor."""
    return tensor(OperandType.TENSOR_QUANT8_ASYMM, *dimensions, shape=shape, scale=scale, zero_point=zero)


def s(*dimensions: int, scale: float = 0.5, zero: int = 0) -> Given:
    """A signed quantised tensor."""
    return tensor(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, *dimensions, scale=scale, zero_point=zero)


def channels(dimension: int, *dimensions: int) -> Given:
    """A filter with its scales along one dimension."""
    quant = SymmPerChannelQuantParams((0.5,) * dimensions[dimension], dimension)
    kind = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
    return tensor(kind, *dimensions, extra_params=OperandExtraParams(quant))


def i(value: int) -> Given:
    return Given(Operand(OperandType.INT32), value)


def r(value: float) -> Given:
    return Given(Operand(OperandType.FLOAT32), value)


def b(value: bool) -> Given:
    return Given(Operand(OperandType.BOOL), int(value))


def v(*values: Any) -> Given:
    """An integer tensor with a value, a list of rows or of numbers."""
    array = numpy.array(values, numpy.int32)
    return Given(Operand(OperandType.TENSOR_INT32, array.shape), array)


OMITTED = Given(Operand(OperandType.TENSOR_INT32, (1,), lifetime=OperandLifeTime.NO_VALUE))

Call = dict[str, Given]


def view(name: str, version: Version, call: Call) -> OperationView:
    """The view of a call whose inputs are in order; outputs are those whose name starts with `out`."""
    inputs = [given for key, given in call.items() if not key.startswith("out")]
    outputs = [given.operand for key, given in call.items() if key.startswith("out")]
    values, shapes = {}, {}
    for position, given in enumerate(inputs):
        if given.value is not None:
            values[position] = numpy.array(given.value, OPERAND_TYPES[given.operand.type].dtype)
        if given.shape is not None:
            shapes[position] = given.shape
    operation = Operation(catalogue.operation(name).code, tuple(range(len(inputs))), ())
    operands = [given.operand for given in inputs]
    return OperationView(operation, version, operands, outputs, shapes=shapes, values=values)


@dataclass(frozen=True)
class Broken:
    """A clause, and what to change in a sound call to break it. Outputs are left open where they do not matter."""

    clause: str
    changes: Call
    sound: Call
    version: Version

    @property
    def operation(self) -> str:
        return self.clause.partition(".")[0]

    @property
    def call(self) -> Call:
        return self.sound | self.changes
