"""Twins that differ in the quantisation of an operand, or of all operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from npu_conformance.corpus.nearly_alike import ASYMMETRIC
from npu_conformance.corpus.vectors import Vector, VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

_OTHER_BITS = 20
"""Of a zero point: few enough to stay in the type."""
_LARGEST_OF_BOTH = 127


def zero_points(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Another zero point of one operand, or of all, as operations demand that keep the quantisation."""
    for title, names in _one_and_all(vector, lambda operand: operand.type in ASYMMETRIC):
        yield f"zero_point_of_{title}", _edited(vector, names, _of_other_zero_point)


def scales(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Twice the scale of one operand, or of all; that of a bias, which the others give, may have to follow."""
    biases = [name for name, one in vector.operands.items() if _has_scale(one) and _is_bias(one)]
    for title, names in _one_and_all(vector, lambda operand: _has_scale(operand) and not _is_bias(operand)):
        edited = _edited(vector, names, _of_twice_the_scale)
        yield f"scale_of_{title}", edited
        if biases:
            yield f"scale_of_{title}_and_bias", _edited(edited, biases, _of_twice_the_scale)


def scales_of_channels(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """The scales of channels in the opposite order, or twice the last one."""
    for name, operand in vector.operands.items():
        if operand.channel_quant is not None:
            *others, last = operand.channel_quant.scales
            for found in ((last, *others[::-1]), (*others, 2 * last)):
                quantised = replace(operand, channel_quant=replace(operand.channel_quant, scales=found))
                yield "scales_of_channels", replace(vector, operands={**vector.operands, name: quantised})


def of_either_sign(vector: Vector) -> Vector:
    """The vector with zero points that 8 bits have with and without a sign."""
    names = [name for name, one in vector.operands.items() if one.type == OperandType.TENSOR_QUANT8_ASYMM]
    return _edited(vector, names, _of_small_zero_point)


def _one_and_all(vector: Vector, has: Callable[[VectorOperand], bool]) -> Iterator[tuple[str, Sequence[str]]]:
    """Operands that have something: each by its name, then all of them."""
    chosen = [name for name, operand in vector.operands.items() if has(operand) and not operand.omitted]
    yield from ((name, [name]) for name in chosen)
    if len(chosen) > 1:
        yield "all", chosen


def _has_scale(operand: VectorOperand) -> bool:
    return operand.scale != 0


def _is_bias(operand: VectorOperand) -> bool:
    return operand.type == OperandType.TENSOR_INT32


def _edited(vector: Vector, names: Sequence[str], edit: Callable[[VectorOperand], VectorOperand]) -> Vector:
    return replace(vector, operands={**vector.operands, **{name: edit(vector.operands[name]) for name in names}})


def _of_other_zero_point(operand: VectorOperand) -> VectorOperand:
    return replace(operand, zero_point=operand.zero_point ^ _OTHER_BITS)


def _of_small_zero_point(operand: VectorOperand) -> VectorOperand:
    return replace(operand, zero_point=min(operand.zero_point, _LARGEST_OF_BOTH))


def _of_twice_the_scale(operand: VectorOperand) -> VectorOperand:
    return replace(operand, scale=2 * operand.scale)
