"""CONCATENATION, SPLIT, SLICE, STRIDED_SLICE."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, quantization


def concatenation(step: Step) -> None:
    """CONCATENATION: inputs are brought to the output's quantisation first, as NNAPI asks since 1.2."""
    last = step.input_count - 1
    rank, axis = len(step.dimensions(0)), step.scalar(last)
    if axis not in range(rank):
        raise LoweringError(f"axis {axis} of tensors of rank {rank}")
    target = quantization(step.result())
    parts = [step.requantized(step.tensor(position), target) for position in range(last)]
    step.graph.emit("CONCATENATION", parts, step.output(), "Concatenation", axis=axis, fusedActivationFunction=0)


def split(step: Step) -> None:
    """SPLIT into equal parts."""
    rank, axis, count = len(step.dimensions(0)), step.scalar(1), step.scalar(2)
    if axis not in range(-rank, rank) or count != step.output_count:
        raise LoweringError("an axis out of range, or a count that is not the number of outputs")
    if count < 1 or step.dimensions(0)[axis] % count:
        raise LoweringError("the axis does not divide into equal parts")
    outputs = [step.output(position) for position in range(count)]
    step.graph.emit("SPLIT", [step.integers([axis]), step.tensor(0)], outputs, "Split", numSplits=count)


def slice_(step: Step) -> None:
    """SLICE."""
    dimensions, begin, size = step.dimensions(0), step.value(1).tolist(), step.value(2).tolist()
    if not len(dimensions) == len(begin) == len(size):
        raise LoweringError("not one begin and size for each axis")
    for extent, first, length in zip(dimensions, begin, size, strict=True):
        if first < 0 or length < -1 or first + max(length, 0) > extent:
            raise LoweringError("a slice that leaves the tensor")
    inputs = [step.tensor(0), step.integers(begin), step.integers(size)]
    step.graph.emit("SLICE", inputs, step.output(), "Slice")


def strided_slice(step: Step) -> None:
    """STRIDED_SLICE; where every axis is shrunk NNAPI keeps [1], LiteRT nothing."""
    rank = len(step.dimensions(0))
    bounds = [step.value(position) for position in (1, 2, 3)]
    if any(bound.shape != (rank,) for bound in bounds) or not bounds[2].all():
        raise LoweringError("not one begin, end and stride for each axis, or a stride of 0")
    begin_mask, end_mask, shrink_mask = (step.scalar(position) for position in (4, 5, 6))
    shrunk = [axis for axis in range(rank) if shrink_mask >> axis & 1]
    if any(not _leaves_one(step, axis) for axis in shrunk):
        raise LoweringError("an axis to shrink of which not exactly one element is left")
    result = step.like(step.tensor(0))
    step.graph.emit(
        "STRIDED_SLICE",
        [step.tensor(0), *map(step.integers, bounds)],
        result,
        "StridedSlice",
        beginMask=begin_mask,
        endMask=end_mask,
        shrinkAxisMask=shrink_mask,
    )
    step.bind(step.reshaped(result, [1]) if len(shrunk) == rank else result)


def _leaves_one(step: Step, axis: int) -> bool:
    """True where a slice keeps exactly one element of an axis, going forward. For others LiteRT reads out of bounds."""
    begin, end, stride = (int(step.value(position)[axis]) for position in (1, 2, 3))
    start = None if step.scalar(4) >> axis & 1 else begin
    stop = None if step.scalar(5) >> axis & 1 else end
    return stride > 0 and len(range(*slice(start, stop, stride).indices(step.dimensions(0)[axis]))) == 1
