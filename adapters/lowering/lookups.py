"""EMBEDDING_LOOKUP, HASHTABLE_LOOKUP, CHANNEL_SHUFFLE, LSH_PROJECTION."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.specs.neuralnetworks.enums import OperandType

_DEPRECATED, _DENSE = 1, 2
_INT32_BITS = 32


def embedding_lookup(step: Step) -> None:
    """EMBEDDING_LOOKUP; of int32 values, which LiteRT's operator does not take, as GATHER of rows."""
    if step.is_type(1, OperandType.TENSOR_INT32):
        step.graph.emit("GATHER", [step.tensor(1), step.tensor(0)], step.output(), "Gather", axis=0)
    else:
        step.graph.emit("EMBEDDING_LOOKUP", [step.tensor(0), step.tensor(1)], step.output())


def hashtable_lookup(step: Step) -> None:
    """HASHTABLE_LOOKUP."""
    if step.dimensions(1)[0] != step.dimensions(2)[0]:
        raise LoweringError("not one key for each row")
    step.graph.emit("HASHTABLE_LOOKUP", [step.tensor(i) for i in range(3)], [step.output(0), step.output(1)])


def channel_shuffle(step: Step) -> None:
    """CHANNEL_SHUFFLE: groups and members as two axes, exchanged."""
    dimensions, groups, axis = step.dimensions(0), step.scalar(1), step.scalar(2)
    rank = len(dimensions)
    if axis not in range(-rank, rank) or groups < 1 or dimensions[axis] % groups:
        raise LoweringError(f"{groups} groups along axis {axis} of dimensions {dimensions}")
    axis %= rank
    grouped = [*dimensions[:axis], groups, dimensions[axis] // groups, *dimensions[axis + 1 :]]
    order = list(range(rank + 1))
    order[axis], order[axis + 1] = axis + 1, axis
    exchanged = step.transposed(step.reshaped(step.tensor(0), grouped), order)
    step.bind(step.reshaped(exchanged, dimensions))


def lsh_projection(step: Step) -> None:
    """LSH_PROJECTION. LiteRT offsets each number of a sparse one: SUB takes that away for the deprecated type.

    A sparse projection has no weights, though the request is what leaves them out.
    """
    kind, (hashes, width) = step.scalar(3), step.dimensions(0)
    if kind != _DENSE and width >= _INT32_BITS:
        raise LoweringError("LiteRT's offset of 32 bits is undefined")
    data = step.tensor(1)
    if step.is_type(1, OperandType.TENSOR_FLOAT16):
        data = step.cast(data, "float16")  # the projection hashes its bytes
    inputs = [step.tensor(0), data, *([step.tensor(2)] if kind == _DENSE else [])]
    numbers = step.like_result() if kind == _DEPRECATED else step.output()
    types = schema().LSHProjectionType
    setting = types.DENSE if kind == _DENSE else types.SPARSE
    step.graph.emit("LSH_PROJECTION", inputs, numbers, "LSHProjection", type=setting)
    if kind == _DEPRECATED:
        offsets = step.integers(np.arange(hashes) << width)
        step.graph.emit("SUB", [numbers, offsets], step.output(), "Sub")
