"""Tensors without elements: they cannot come through a request, so an operation before the tested one makes them.

SLICE takes no slice along axis 0 of an ordinary input. In the model its output has size 0 on that axis, which the HAL
reads as unknown; the tested operation finds out at execution that it is empty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from msgspec.structs import replace

from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.vectors.element_values import dtype_of
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version


def zero_sized(
    name: str,
    operation: str,
    feature_map: OperandSpec,
    arguments: Mapping[str, OperandSpec | None],
    outputs: Operands,
    *,
    since: str = "1.2",
    hazards: Sequence[str] = (),
) -> Vector:
    """A vector whose tested operation gets a tensor of size 0 on axis 0.

    feature_map: type, quantisation and dimensions [0, ...]. arguments: inputs of the operation in order, constants;
    None where it reads the feature map. Its outputs are empty, so what is expected is certain without arithmetic.
    """
    empty = feature_map.operand
    whole = replace(empty, dimensions=(1, *empty.dimensions[1:]))
    rank = len(empty.dimensions)
    slicing = {
        "image": whole,
        "slice_begin": _operand(constant(OperandType.TENSOR_INT32, (rank,), [0] * rank)),
        "slice_size": _operand(constant(OperandType.TENSOR_INT32, (rank,), list(empty.dimensions))),
        "feature_map": empty,
    }
    own = {key: _operand(spec) for key, spec in arguments.items() if spec is not None}
    operands = {**slicing, **own, **{key: spec.operand for key, spec in outputs.items()}}
    read = tuple("feature_map" if value is None else key for key, value in arguments.items())
    expected = {key: _array_of(operands[key], 0) for key in outputs}
    signed = empty.type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    return Vector(
        name,
        operation,
        max(Version(since), catalogue.operation(operation).since, Version.V1_3 if signed else Version.V1_2),
        operands,
        (
            VectorOperation("SLICE", ("image", "slice_begin", "slice_size"), ("feature_map",)),
            VectorOperation(operation, read, tuple(outputs)),
        ),
        ("image",),
        tuple(outputs),
        examples=(Example({"image": _array_of(whole, 1)}, expected),),
        witnesses=("closed_form", "oracle"),
        description="the operation gets a tensor without elements and gives an empty result",
        hazards=tuple(hazards),
    )


def _operand(spec: OperandSpec) -> VectorOperand:
    if not isinstance(spec.data, numpy.ndarray):
        raise ValueError("the arguments of a zero-sized vector are constants")
    return replace(spec.operand, value=spec.data)


def _array_of(operand: VectorOperand, element: int) -> numpy.ndarray[Any, Any]:
    return numpy.full(operand.dimensions, element, dtype_of(operand.type))
