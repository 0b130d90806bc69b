"""EMBEDDING_LOOKUP, HASHTABLE_LOOKUP, CHANNEL_SHUFFLE."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.specs.neuralnetworks.enums import OperandType


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
