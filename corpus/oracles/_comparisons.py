"""What the six comparisons share: operands as float32 sees them."""

from collections.abc import Callable

from npu_conformance.corpus.oracles.base import Inputs, Real, Result, elementwise, present, rounded_float
from npu_conformance.specs.neuralnetworks.enums import OperandType

Relation = Callable[[Real, Real], bool]


def compared(inputs: Inputs, relation: Relation) -> list[Result]:
    """1 where the relation holds between two elements, else 0, broadcast. Integers and bytes stay as they are."""
    first, second = present(inputs[0]), present(inputs[1])
    if first.is_quantized:
        return elementwise(first, second, lambda a, b: int(relation(_dequantized(a), _dequantized(b))))
    return elementwise(first, second, lambda a, b: int(relation(a, b)))


def _dequantized(value: Real) -> float:
    """Quantised elements are compared as float32: each operand's own (q - zero point) * scale, rounded once."""
    return rounded_float(value, OperandType.TENSOR_FLOAT32)
