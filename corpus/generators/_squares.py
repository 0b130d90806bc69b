"""Broadcasting where sizes alone do not tell which axes belong together, such as a vector and a square of its length.

Axes are lined up from the last one on, whichever operand has fewer of them.
"""

from collections.abc import Sequence

import numpy

from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._other_types import in_other_types
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

Shape = tuple[int, ...]

_ROW = (0.5, 2.0, 4.0)
_SQUARE = (1.0, 2.0, 0.5, 4.0, 0.25, 2.0, 0.5, 1.0, 8.0)
"""Powers of two: sums, products, quotients and powers are exact."""

_CASES: dict[str, tuple[Shape, Shape, Shape, str]] = {
    "row_with_square": ((3,), (3, 3), (3, 3), "the vector is a row of the square, not a column"),
    "square_with_row": ((3, 3), (3,), (3, 3), "the vector is a row of the square, not a column"),
    "columns_in_cube": ((2, 3, 4), (3, 1), (2, 3, 4), "the operand of lower rank is not repeated as it lies in memory"),
    "cube_of_columns": ((3, 1), (2, 3, 4), (2, 3, 4), "the operand of lower rank is not repeated as it lies in memory"),
    "second_is_one": ((2, 3, 4), (1,), (2, 3, 4), "one element for all"),
    "67_columns": ((3, 67), (67,), (3, 67), "rows that are no multiples of a block"),
    "columns_of_300": ((2, 300), (300,), (2, 300), BEHIND_255),
    "rows_of_300": ((300, 1), (300, 2), (300, 2), BEHIND_255),
}
"""Shapes of the inputs and the output, and what is told by them."""


def squares(
    operation: str,
    names: Sequence[str] = ("input0", "input1"),
    rest: Operands | None = None,
    *,
    result: OperandType = FLOAT32,
    sign: float = 1.0,
) -> Vectors:
    """A vector with a square, a square with a vector, and others; long axes in other types, too.

    rest: further inputs. sign: of the first input.
    """
    for name, (first, second, output, about) in _CASES.items():
        inputs = {names[0]: _of(first, sign), names[1]: _of(second, 1.0), **(rest or {})}
        outputs = {"output": tensor(result, output)}
        yield positive(f"float32_{name}", operation, inputs, outputs, description=about)
        if about is BEHIND_255:
            yield from in_other_types(name, operation, inputs, outputs, about)


def _of(shape: Shape, factor: float) -> OperandSpec:
    if max(shape) == LONG:
        low, high = sorted((factor, 2 * factor))
        return tensor(FLOAT32, shape, GeneratorDocument(kind="dyadic", seed=len(shape), low=low, high=high, step=1.0))
    values = numpy.resize(_ROW if len(shape) == 1 else _SQUARE, shape)
    return tensor(FLOAT32, shape, factor * values)
