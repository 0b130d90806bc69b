"""CONCATENATION, SPLIT, SLICE, STRIDED_SLICE and GATHER: parts of tensors."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step


def concatenation(step: Step) -> None:
    """CONCATENATION."""
    rank = len(step.result().dimensions)
    axis = _axis(step.operator.option("Axis"), rank)
    step.and_activation("CONCATENATION", [*step.names(), step.int32(axis)])


def split(step: Step) -> None:
    """SPLIT, whose axis comes first in LiteRT."""
    count = len(step.operator.outputs)
    step.apply("SPLIT", [step.name(1), step.int32(step.integer(0)), step.int32(count)])


def split_v(step: Step) -> None:
    """SPLIT_V: SPLIT where all parts are equal, else a SLICE for each."""
    count, source = len(step.operator.outputs), step.operand(0)
    axis = _axis(step.integer(2), len(source.dimensions))
    sizes = [step.result(position).dimensions for position in range(count)]
    if len(set(sizes)) == 1:
        step.apply("SPLIT", [step.name(0), step.int32(axis), step.int32(count)])
        return
    begin = [0] * len(source.dimensions)
    for position, size in enumerate(sizes):
        step.apply("SLICE", [step.name(0), step.vector(begin), step.vector(size)], position)
        begin[axis] += size[axis] if axis < len(size) else 0


def slice_(step: Step) -> None:
    """SLICE; the size -1, up to the end, follows from the result."""
    step.apply("SLICE", [step.name(0), step.vector(step.integers(1)), step.vector(step.result().dimensions)])


def strided_slice(step: Step) -> None:
    """STRIDED_SLICE without ellipsis and new axes; bounds may stand for fewer axes than there are."""
    option, rank = step.operator.option, len(step.operand(0).dimensions)
    if option("EllipsisMask") or option("NewAxisMask") or option("Offset"):
        raise Unsupported("NNAPI's STRIDED_SLICE has no ellipsis, no new axes and no offsets as ends")
    begin, end, strides = (step.integers(position) for position in (1, 2, 3))
    missing = rank - len(begin)
    if missing < 0 or not len(begin) == len(end) == len(strides):
        raise Unsupported(f"its bounds are {begin}, {end} and {strides} for a tensor of rank {rank}")
    _end_behind_the_picked(step, begin, end)
    whole = ((1 << missing) - 1) << len(begin)
    bounds = [step.vector([*given, *[filler] * missing]) for given, filler in ((begin, 0), (end, 0), (strides, 1))]
    masks = [option("BeginMask"), option("EndMask") | whole, option("ShrinkAxisMask")]
    step.apply("STRIDED_SLICE", [step.name(0), *bounds, *map(step.int32, masks)])


def _end_behind_the_picked(step: Step, begin: list[int], end: list[int]) -> None:
    """Of a dimension that is dropped one element is picked: LiteRT reads no end there, and NNAPI wants the right one.

    Converters write x[-1] with begin -1 and end 0.
    """
    option = step.operator.option
    for axis, size in zip(range(len(begin)), step.operand(0).dimensions, strict=False):
        if option("ShrinkAxisMask") >> axis & 1:
            place = 0 if option("BeginMask") >> axis & 1 else begin[axis]
            begin[axis] = place + size if place < 0 else place
            end[axis] = begin[axis] + 1


def gather(step: Step) -> None:
    """GATHER without dimensions that count as batches; what a single index picks has no dimension for it."""
    if step.operator.option("BatchDims"):
        raise Unsupported("NNAPI's GATHER has no batch dimensions")
    source = step.operand(0)
    axis = _axis(step.operator.option("Axis"), len(source.dimensions))
    arguments = [step.name(0), step.int32(axis), step.name(1)]
    if step.tensor(1).shape:
        step.apply("GATHER", arguments)
        return
    one = tuple(1 if at == axis else size for at, size in enumerate(source.dimensions))
    picked = step.emit("GATHER", arguments, replace(source, dimensions=one, value=None))
    step.apply("RESHAPE", [picked, step.vector(step.result().dimensions)])


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise Unsupported(f"there is no axis {axis} among {rank}")
    return axis % rank
