"""What operations share that move blocks of pixels between space and depth or batches."""

from collections.abc import Callable, Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, clause

Block = tuple[int, int]
"""Height and width."""
Parts = Callable[[OperationView], Sequence[tuple[str, int | None, int]]]
"""What has to divide: name, size, divisor. Nothing where the block is unknown."""

_AXES = 2


def side(view: OperationView) -> int | None:
    """The side of a square block; None where it is unknown or not positive."""
    size = view.integer("block_size")
    return None if size is None or _check_side(view) is not None else size


def block(view: OperationView) -> Block | None:
    """The block that a tensor gives; None where it is unknown or has no area."""
    sizes = view.integers("block_shape")
    if sizes is None or len(sizes) != _AXES or _check_sizes(view) is not None:
        return None
    return sizes[0], sizes[1]


def times(size: int | None, factor: int) -> int | None:
    """A size multiplied; None where it is unknown."""
    return None if size is None else size * factor


def share(size: int | None, count: int) -> int | None:
    """One of so many equal parts of a size; None where it is unknown."""
    return None if size is None else size // count


def two_elements(number: str) -> Clause:
    """The clause about the length of a block that is a tensor."""
    return clause(number, "execution", "The block has two elements: height and width.", _check_length)


def positive_side(number: str) -> Clause:
    """The clause about the side of a square block."""
    return clause(number, "execution", "The block size is greater than 0.", _check_side)


def positive(number: str) -> Clause:
    """The clause about the sizes of the block."""
    return clause(number, "execution", "The height and the width of the block are greater than 0.", _check_sizes)


def divisible(number: str, text: str, parts: Parts) -> Clause:
    """The clause that sizes divide into blocks."""

    def check(view: OperationView) -> str | None:
        for name, size, divisor in parts(view):
            if size is not None and size % divisor:
                return f"{name} {size} does not divide by {divisor}"
        return None

    return clause(number, "execution", text, check)


def _check_length(view: OperationView) -> str | None:
    wrong = [size for size in view.dimensions("block_shape") or () if size not in (None, _AXES)]
    return f"the block has {wrong[0]} elements" if wrong else None


def _check_side(view: OperationView) -> str | None:
    size = view.integer("block_size")
    return f"block size {size} must be greater than 0" if size is not None and size < 1 else None


def _check_sizes(view: OperationView) -> str | None:
    sizes = view.integers("block_shape")
    return f"block {list(sizes)} must be greater than 0" if sizes and min(sizes) < 1 else None
