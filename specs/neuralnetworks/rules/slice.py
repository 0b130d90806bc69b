"""Rules of SLICE: a block that starts at begin; a size of -1 reaches to the end."""

from collections.abc import Iterator

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, ranges

_TO_THE_END = -1


def _blocks(view: OperationView) -> Iterator[tuple[int | None, int | None, int | None]]:
    """For each dimension: its size, begin and size of the block; None where unknown."""
    dimensions = view.dimensions("input") or ()
    begins, sizes = (view.integers(name) or (None,) * len(dimensions) for name in ("begin", "size"))
    if len(begins) == len(dimensions) == len(sizes):
        yield from zip(dimensions, begins, sizes, strict=True)


def _output_shapes(view: OperationView) -> Shapes:
    dimensions = view.dimensions("input")
    if dimensions is None:
        return (None,)
    result = tuple(_block_size(*block) for block in _blocks(view))
    return (result if len(result) == len(dimensions) else (None,) * len(dimensions),)


def _block_size(whole: int | None, begin: int | None, size: int | None) -> int | None:
    if size != _TO_THE_END:
        return size
    return None if whole is None or begin is None else max(whole - begin, 0)


def _begin(view: OperationView) -> str | None:
    for whole, begin, _ in _blocks(view):
        if whole is not None and begin is not None and begin > whole:
            return f"begin {begin} is behind the size {whole}"
    return None


def _negative_begin(view: OperationView) -> str | None:
    begins = view.integers("begin") or ()
    return f"begin {list(begins)} is negative" if begins and min(begins) < 0 else None


def _end(view: OperationView) -> str | None:
    for whole, begin, size in _blocks(view):
        if size is not None and size < _TO_THE_END:
            return f"size {size} is negative"
        if whole is None or begin is None or size is None or begin < 0 or begin > whole:
            continue
        if begin + size > whole:
            return f"begin {begin} + size {size} is behind the size {whole}"
    return None


RULES = rules(
    "SLICE",
    _output_shapes,
    ranges.lengths("C1", "begin", "size"),
    clause("C2", "execution", "Begin is not greater than the size of the dimension.", _begin),
    clause(
        "C3", "execution", "Begin plus size is not greater than that of the dimension; a size is at least -1.", _end
    ),
    clause("C4", "execution", "Begin is not negative.", _negative_begin, "text"),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
    quantization.same_as_input("C7", "text"),
)
