"""AOSP's mutations of single operands: type, rank, quantisation, lifetime, consumers."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, OperandTypeInfo, ScaleRule, byte_size
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.mutations.mutation import LARGEST_CONSTANT, Mutation, spell

_LIFETIME = OperandLifeTime
_ALL_BITS = 0xFFFFFFFF
_UNWRITTEN = (_LIFETIME.SUBGRAPH_INPUT, _LIFETIME.CONSTANT_COPY, _LIFETIME.CONSTANT_POOL)
_SCALES = {ScaleRule.ZERO: "MODEL-012", ScaleRule.NOT_NEGATIVE: "MODEL-013", ScaleRule.POSITIVE: "MODEL-014"}
_ZERO_POINTS: dict[AnyOperandType, str] = {
    OperandType.TENSOR_QUANT8_ASYMM: "MODEL-015",
    OperandType.TENSOR_QUANT16_ASYMM: "MODEL-016",
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: "MODEL-017",
    OperandType.TENSOR_QUANT8_SYMM: "MODEL-018",
    OperandType.TENSOR_QUANT16_SYMM: "MODEL-018",
}
"""The requirements on the scale and the zero point of a type; of all other types MODEL-019."""
_WRITTEN = (_LIFETIME.TEMPORARY_VARIABLE, _LIFETIME.SUBGRAPH_OUTPUT)


def operand_type(model: Model, version: Version) -> Iterator[Mutation]:
    """Operand types just outside those of the version (NNHAL-MODEL-002, -003, -005)."""
    for index in range(len(model.main.operands)):
        for value in _illegal_types(version):
            breaks = "MODEL-003" if value < 0 and version.is_aidl else "MODEL-005" if value >= 9999 else "MODEL-002"
            edited = edits.with_operand(model, index, type=value)
            yield Mutation(f"operand{index}.type_{spell(value)}", edited, breaks=(breaks,))


def operand_rank(model: Model, version: Version) -> Iterator[Mutation]:
    """A scalar with a dimension; before 1.2 a tensor without any (NNHAL-MODEL-007, -008)."""
    for index, info in _known(model):
        if not info.is_tensor and info.type != OperandType.SUBGRAPH:
            yield Mutation(f"operand{index}.rank_1", edits.with_operand(model, index, dimensions=(0,)))
            one = edits.with_operand(model, index, dimensions=(1,))
            yield Mutation(f"operand{index}.one_element", one, in_aosp=False)
        elif info.is_tensor and version < Version.V1_2:
            edited = edits.with_operand(model, index, dimensions=())
            yield Mutation(f"operand{index}.rank_0", edited, breaks=("MODEL-008",))


def operand_scale(model: Model, version: Version) -> Iterator[Mutation]:
    """A scale where none belongs, a negative one, or none where one is needed (NNHAL-MODEL-012 to -014)."""
    wrong = {ScaleRule.ZERO: (1.0,), ScaleRule.NOT_NEGATIVE: (-1.0,), ScaleRule.POSITIVE: (0.0, -1.0)}
    for index, info in _known(model):
        for place, value in enumerate(wrong.get(info.scale, ())):
            label = f"operand{index}.scale_{spell(int(value))}"
            edited = edits.with_operand(model, index, scale=value)
            yield Mutation(label, edited, in_aosp=place == 0, breaks=(_SCALES[info.scale],))


def operand_zero_point(model: Model, version: Version) -> Iterator[Mutation]:
    """A zero point just outside the range of the type, or of its integers (NNHAL-MODEL-015 to -019)."""
    for index, info in _known(model):
        for value in _illegal_zero_points(info):
            # AOSP's list leaves out the signed type, and values below 0 of types that are not quantised.
            in_aosp = (info.is_quantized and info.type != OperandType.TENSOR_QUANT8_ASYMM_SIGNED) or value == 1
            label = f"operand{index}.zero_point_{spell(value)}"
            breaks = _ZERO_POINTS.get(info.type, "MODEL-019")
            yield Mutation(label, edits.with_operand(model, index, zero_point=value), in_aosp, (breaks,))


def operand_lifetime(model: Model, version: Version) -> Iterator[Mutation]:
    """A lifetime that contradicts who writes the operand, with the index lists in step (NNHAL-MODEL rule G)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime in _UNWRITTEN:
            targets = [_LIFETIME.TEMPORARY_VARIABLE, _LIFETIME.SUBGRAPH_OUTPUT]
        elif operand.lifetime in _WRITTEN:
            targets = [_LIFETIME.SUBGRAPH_INPUT, *([_LIFETIME.CONSTANT_COPY] if _constant_size(model, index) else ())]
        else:
            targets = []
        # What was only read is now never written; what was written may not be any more.
        breaks = ("MODEL-049", "MODEL-046") if operand.lifetime in _UNWRITTEN else ("MODEL-045",)
        for lifetime in targets:
            yield Mutation(f"operand{index}.{lifetime.name.lower()}", _moved(model, index, lifetime), breaks=breaks)


def operand_input_output(model: Model, version: Version) -> Iterator[Mutation]:
    """A lifetime changed while the index lists stay as they were (MODEL.G1)."""
    changes = {
        _LIFETIME.CONSTANT_COPY: _LIFETIME.SUBGRAPH_INPUT,
        _LIFETIME.CONSTANT_POOL: _LIFETIME.SUBGRAPH_INPUT,
        _LIFETIME.SUBGRAPH_INPUT: _LIFETIME.CONSTANT_COPY,
        _LIFETIME.SUBGRAPH_OUTPUT: _LIFETIME.TEMPORARY_VARIABLE,
        _LIFETIME.TEMPORARY_VARIABLE: _LIFETIME.SUBGRAPH_OUTPUT,
    }
    for index, operand in enumerate(model.main.operands):
        lifetime = changes.get(OperandLifeTime(operand.lifetime))
        if lifetime is None or (lifetime is _LIFETIME.CONSTANT_COPY and not _constant_size(model, index)):
            continue
        yield Mutation(f"operand{index}.{lifetime.name.lower()}", _with_lifetime(model, index, lifetime))


def number_of_consumers(model: Model, version: Version) -> Iterator[Mutation]:
    """A count of readers that is off by one; HIDL only (MODEL.G5)."""
    for index, operand in enumerate(model.main.operands):
        for change in (-1, 1) if operand.number_of_consumers else (1,):
            label = f"operand{index}.consumers_{spell(operand.number_of_consumers + change)}"
            yield Mutation(label, edits.with_consumers(model, index, change))


def _known(model: Model) -> Iterator[tuple[int, OperandTypeInfo]]:
    for index, operand in enumerate(model.main.operands):
        info = OPERAND_TYPES.get(operand.type)
        if info is not None:
            yield index, info


def _constant_size(model: Model, index: int) -> int:
    """Bytes of the operand's value; 0 where they are not known, or too many to be put into a model."""
    operand = model.main.operands[index]
    size = byte_size(operand.type, operand.dimensions)
    return size if size <= LARGEST_CONSTANT else 0


def _with_lifetime(model: Model, index: int, lifetime: OperandLifeTime) -> Model:
    if lifetime is _LIFETIME.CONSTANT_COPY:
        return edits.as_constant(model, index, _constant_size(model, index))
    return edits.with_operand(model, index, lifetime=lifetime, location=DataLocation())


def _moved(model: Model, index: int, lifetime: OperandLifeTime) -> Model:
    """Give an operand another lifetime and bring the input and output lists in step."""
    edited = _with_lifetime(model, index, lifetime)
    inputs = tuple(other for other in model.main.input_indexes if other != index)
    outputs = tuple(other for other in model.main.output_indexes if other != index)
    if lifetime is OperandLifeTime.SUBGRAPH_INPUT:
        inputs = (*inputs, index)
    if lifetime is OperandLifeTime.SUBGRAPH_OUTPUT:
        outputs = (*outputs, index)
    return edits.with_main(edited, input_indexes=inputs, output_indexes=outputs)


def _illegal_types(version: Version) -> tuple[int, ...]:
    if version < Version.V1_2:
        return (-1, 6, 9999, 10002)
    if version < Version.V1_3:
        return (_ALL_BITS, 14, 9999, 10002)
    return (-1, 16) if version.is_aidl else (_ALL_BITS, 16, 9999, 10002)


def _illegal_zero_points(info: OperandTypeInfo) -> tuple[int, ...]:
    if info.zero_points is None:
        return ()
    low, high = info.zero_points
    if info.type == OperandType.TENSOR_QUANT8_SYMM:
        return (-129, low - 1, high + 1, 128)
    if info.type == OperandType.TENSOR_QUANT16_SYMM:
        return (-32769, low - 1, high + 1, 32768)
    return (low - 1, high + 1)
