"""Operations that get no boxes: BOX_WITH_NMS_LIMIT before them drops the only one, whose score is below its threshold.

Quantised coordinates without elements can come from nowhere else: a request cannot give them, and SLICE does not take
their type. Data without elements is sliced.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._boxes import boxes, indices, number, values, whole_numbers
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32, int32s
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.vectors.element_values import dtype_of
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

NO_ROIS, NO_BATCHES = "no_rois", "no_batches"
"""Operands of dimensions [0, 4] and [0] that the tested operation may name among its inputs."""


def without_boxes(
    operation: str,
    kind: str,
    arguments: Mapping[str, OperandSpec | str],
    outputs: Operands,
    *,
    sliced: Operands | None = None,
    between: Mapping[str, tuple[str, tuple[str, ...], OperandSpec]] | None = None,
    constants: Operands | None = None,
) -> Vector:
    """A vector whose outputs are empty, which is certain without arithmetic.

    arguments: constants of the tested operation in order, or the name of an operand made before it. sliced: data of
    dimensions [0, ...] to be made by SLICE. between: further operands, each by operation, inputs and type, which may
    read constants.
    """
    first = _suppression(kind)
    operands, operations = _suppressing(first, sliced or {})
    for name, (maker, read, spec) in (between or {}).items():
        operands[name] = spec.operand
        operations.append(VectorOperation(maker, read, (name,)))
    own = {name: spec for name, spec in arguments.items() if isinstance(spec, OperandSpec)}
    operands |= {name: _operand(spec) for name, spec in {**(constants or {}), **own, **outputs}.items()}
    inputs = tuple(spec if isinstance(spec, str) else name for name, spec in arguments.items())
    operations.append(VectorOperation(operation, inputs, tuple(outputs)))
    below = first["score"].data
    if not isinstance(below, numpy.ndarray):
        raise ValueError("the score of the box is data")
    return Vector(
        f"{kind}_no_boxes",
        operation,
        Version.V1_3 if kind == "quant8_signed" else Version.V1_2,
        operands,
        tuple(operations),
        ("score",),
        tuple(outputs),
        examples=(Example({"score": below}, {name: _empty(spec.operand) for name, spec in outputs.items()}),),
        witnesses=("closed_form", "oracle"),
        description="the operation gets no boxes, which turns out only as the model runs, and gives empty results",
        hazards=("sizes-found-late",),
    )


def _suppressing(first: Operands, sliced: Operands) -> tuple[dict[str, VectorOperand], list[VectorOperation]]:
    """Operands and operations that leave no box, and as many data."""
    operands = {name: _operand(spec) for name, spec in first.items()}
    operations = [VectorOperation("BOX_WITH_NMS_LIMIT", tuple(first)[:9], tuple(first)[9:])]
    for name, spec in sliced.items():
        parts = _slicing(name, spec)
        operands |= {key: _operand(part) for key, part in parts.items()}
        operations.append(VectorOperation("SLICE", tuple(parts)[:3], (name,)))
    return operands, operations


def _suppression(kind: str) -> Operands:
    """Inputs and outputs of BOX_WITH_NMS_LIMIT, in order."""
    return {
        "score": values(kind, (1, 2), [0.5, 0.25]),
        "some_rois": replace(boxes(kind, (1, 8), [0, 0, 1, 1, 0, 0, 2, 2]), constant=True),
        "some_batches": indices(0, constant=True),
        "score_limit": number(kind, 0.75),
        "most": int32(-1),
        "kernel": int32(0),
        "overlap": number(kind, 0.5),
        "decay": number(kind, 1.0),
        "lowest": number(kind, 0.75),
        "no_scores": values(kind, (0,)),
        NO_ROIS: boxes(kind, (0, 4)),
        "no_classes": whole_numbers((0,)),
        NO_BATCHES: whole_numbers((0,)),
    }


def _slicing(name: str, spec: OperandSpec) -> Operands:
    """Inputs of SLICE, and the operand that it makes."""
    rank = len(spec.operand.dimensions)
    whole = structs.replace(spec.operand, dimensions=(1, *spec.operand.dimensions[1:]))
    data = numpy.ones(whole.dimensions, dtype_of(whole.type))
    return {
        f"some_{name}": OperandSpec(whole, data, constant=True, shape=whole.dimensions),
        f"{name}_begin": int32s(*([0] * rank)),
        f"{name}_size": constant(OperandType.TENSOR_INT32, (rank,), list(spec.operand.dimensions)),
        name: spec,
    }


def _operand(spec: OperandSpec) -> VectorOperand:
    if spec.constant and isinstance(spec.data, numpy.ndarray):
        return structs.replace(spec.operand, value=spec.data)
    return spec.operand


def _empty(operand: VectorOperand) -> Array:
    return numpy.zeros(operand.dimensions, dtype_of(operand.type))
