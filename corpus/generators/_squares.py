"""Broadcasting where sizes alone do not tell which axes belong together: a vector and a square of its length.

Axes are lined up from the last one on, whichever operand has fewer of them.
"""

from collections.abc import Sequence

from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.specs.neuralnetworks.enums import OperandType

_ROW = (0.5, 2.0, 4.0)
_SQUARE = (1.0, 2.0, 0.5, 4.0, 0.25, 2.0, 0.5, 1.0, 8.0)
"""Powers of two: sums, products, quotients and powers are exact."""

_DESCRIPTION = "the vector is a row of the square, not a column"


def squares(
    operation: str,
    names: Sequence[str] = ("input0", "input1"),
    rest: Operands | None = None,
    *,
    result: OperandType = FLOAT32,
    sign: float = 1.0,
) -> Vectors:
    """A vector with a square, and a square with a vector. rest: further inputs. sign: of the first input."""
    for name, shapes in {"row_with_square": ((3,), (3, 3)), "square_with_row": ((3, 3), (3,))}.items():
        first, second = (_of(shape, factor) for shape, factor in zip(shapes, (sign, 1.0), strict=True))
        yield positive(
            f"float32_{name}",
            operation,
            {names[0]: first, names[1]: second, **(rest or {})},
            {"output": tensor(result, (3, 3))},
            description=_DESCRIPTION,
        )


def _of(shape: tuple[int, ...], factor: float) -> OperandSpec:
    values = _ROW if len(shape) == 1 else _SQUARE
    return tensor(FLOAT32, shape, [factor * value for value in values])
