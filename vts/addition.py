"""The smallest useful model, out = a + b over two float32 values, for cases whose subject is not the operation."""

from __future__ import annotations

import struct

from npu_conformance.harness import checks
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import NotSupported
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, Memory, Model, Operand, Operation, Subgraph

SIZE = 8
"""Bytes of each of the three tensors."""

A, B, SUM = (1.5, -2.0), (0.25, 4.0), (1.75, 2.0)
"""Values that every legal device adds exactly."""


def packed(values: tuple[float, float]) -> bytes:
    """Two float32 values as bytes."""
    return struct.pack("<2f", *values)


def unpacked(data: bytes) -> tuple[float, float]:
    """Bytes as two float32 values."""
    first, second = struct.unpack("<2f", data)
    return first, second


def tensor(lifetime: OperandLifeTime, consumers: int = 0, location: DataLocation | None = None) -> Operand:
    """A float32 tensor of two elements."""
    place = location or DataLocation()
    return Operand(
        OperandType.TENSOR_FLOAT32, (2,), lifetime=lifetime, number_of_consumers=consumers, location=place
    )  # fmt: skip


def model() -> Model:
    """Both summands are inputs of the model."""
    summand = tensor(OperandLifeTime.SUBGRAPH_INPUT, 1)
    return Model(main=_graph(summand, summand, (0, 1)), operand_values=bytes(4))


def model_with_constant(pool: Memory) -> Model:
    """The second summand is a constant in the first bytes of a pool."""
    constant = tensor(OperandLifeTime.CONSTANT_POOL, 1, DataLocation(length=SIZE))
    main = _graph(tensor(OperandLifeTime.SUBGRAPH_INPUT, 1), constant, (0,))
    return Model(main=main, operand_values=bytes(4), pools=(pool,))


def prepared(trial: Trial, addition: Model) -> PreparedModel:
    """Prepare one of the models. NotSupported where the device said that it does not support it."""
    is_supported = all(trial.supported_operations(addition))
    preparation = trial.prepare(addition)
    if preparation.prepared_model is not None:
        return preparation.prepared_model
    if is_supported:
        checks.status(preparation.status, {ErrorStatus.NONE}, "prepareModel of a supported ADD, notified")
    raise NotSupported("ADD of TENSOR_FLOAT32 is not supported")


def _graph(first: Operand, second: Operand, inputs: tuple[int, ...]) -> Subgraph:
    place = DataLocation(length=4)
    activation = Operand(
        OperandType.INT32, lifetime=OperandLifeTime.CONSTANT_COPY, location=place, number_of_consumers=1
    )
    operands = (first, second, activation, tensor(OperandLifeTime.SUBGRAPH_OUTPUT))
    return Subgraph(operands, (Operation(OperationType.ADD, (0, 1, 2), (3,)),), inputs, (3,))
