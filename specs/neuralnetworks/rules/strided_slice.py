"""Rules of STRIDED_SLICE: elements begin, begin + stride, ... before end; masks by bits, one for each dimension."""

from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, ranges


@dataclass(frozen=True)
class _Range:
    """One dimension: how many elements are taken (None where unknown), the stride, and whether it is dropped."""

    length: int | None
    stride: int
    dropped: bool


def _ranges(view: OperationView) -> Iterator[_Range]:
    """The ranges of all dimensions; none where values, masks or ranks are unknown or do not fit."""
    dimensions = view.dimensions("input")
    begins, ends, strides = (view.integers(name) for name in ("begin", "end", "strides"))
    masks = [view.integer(name) for name in ("begin_mask", "end_mask", "shrink_axis_mask")]
    if dimensions is None or begins is None or ends is None or strides is None:
        return
    if 0 in strides or not len(dimensions) == len(begins) == len(ends) == len(strides):
        return
    begin_mask, end_mask, shrink_mask = masks
    if begin_mask is None or end_mask is None or shrink_mask is None:
        return
    for axis, (size, begin, end, stride) in enumerate(zip(dimensions, begins, ends, strides, strict=True)):
        bit = 1 << axis
        free_begin, free_end = bool(begin_mask & bit), bool(end_mask & bit)
        length = None if size is None else _length(size, begin, end, stride, free_begin, free_end)
        yield _Range(length, stride, bool(shrink_mask & bit))


def _length(size: int, begin: int, end: int, stride: int, free_begin: bool, free_end: bool) -> int:
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    start = (0 if stride > 0 else size - 1) if free_begin else _clamp(begin, size, low, high)
    stop = (size if stride > 0 else -1) if free_end else _clamp(end, size, low, high)
    return max(0, -((start - stop) // stride))


def _clamp(index: int, size: int, low: int, high: int) -> int:
    return min(max(index + size if index < 0 else index, low), high)


def _output_shapes(view: OperationView) -> Shapes:
    dimensions, ranges_ = view.dimensions("input"), list(_ranges(view))
    if dimensions is None or not ranges_:
        return (None,)
    return (tuple(one.length for one in ranges_ if not one.dropped) or (1,),)


def _strides(view: OperationView) -> str | None:
    return "a stride is 0" if 0 in (view.integers("strides") or ()) else None


def _shrunk(view: OperationView) -> str | None:
    for axis, one in enumerate(_ranges(view)):
        if one.dropped and (one.stride < 0 or one.length not in (None, 1)):
            return f"dimension {axis} is dropped with stride {one.stride} and {one.length} elements"
    return None


RULES = rules(
    "STRIDED_SLICE",
    _output_shapes,
    general.ranks("C1"),
    ranges.lengths("C2", "begin", "end", "strides"),
    clause("C3", "execution", "No stride is 0.", _strides),
    clause("C4", "execution", "A dropped dimension has a positive stride and exactly one element.", _shrunk),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
    quantization.same_as_input("C7", "text"),
)
