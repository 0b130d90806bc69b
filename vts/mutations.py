"""Invalid models made from valid ones by one edit: AOSP's ValidateModel families, version by version.

Each family yields mutations of a model; every conforming device refuses each with INVALID_ARGUMENT. Source of the
families and of what they leave out: VTS ValidateModel.cpp of each HAL version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, OperandTypeInfo, ScaleRule
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    OperandExtraParams,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts import edits


@dataclass(frozen=True, slots=True)
class Mutation:
    """An invalid model, and a label that says what was done to the valid one (letters, digits, underscores)."""

    label: str
    model: Model


Family = Callable[[Model, Version], Iterator[Mutation]]

_LIFETIME = OperandLifeTime
_ALL_BITS = 0xFFFFFFFF
_UNWRITTEN = (_LIFETIME.SUBGRAPH_INPUT, _LIFETIME.CONSTANT_COPY, _LIFETIME.CONSTANT_POOL)


def operand_type(model: Model, version: Version) -> Iterator[Mutation]:
    """Operand types just outside those of the version (NNHAL-MODEL-002, -003, -005)."""
    for index in range(len(model.main.operands)):
        for value in _illegal_operand_types(version):
            yield Mutation(f"operand{index}.type_{_spell(value)}", edits.with_operand(model, index, type=value))


def operand_rank(model: Model, version: Version) -> Iterator[Mutation]:
    """A scalar with a dimension; before 1.2 a tensor without any (NNHAL-MODEL-007, -008)."""
    for index, info in _known_operands(model):
        if not info.is_tensor and info.type != OperandType.SUBGRAPH:
            yield Mutation(f"operand{index}.rank_1", edits.with_operand(model, index, dimensions=(0,)))
        elif info.is_tensor and version < Version.V1_2:
            yield Mutation(f"operand{index}.rank_0", edits.with_operand(model, index, dimensions=()))


def operand_scale(model: Model, version: Version) -> Iterator[Mutation]:
    """A scale where none belongs, a negative one, or none where one is needed (NNHAL-MODEL-012 to -014)."""
    wrong = {ScaleRule.ZERO: (1.0,), ScaleRule.NOT_NEGATIVE: (-1.0,), ScaleRule.POSITIVE: (0.0, -1.0)}
    for index, info in _known_operands(model):
        for value in wrong.get(info.scale, ()):
            label = f"operand{index}.scale_{_spell(int(value))}"
            yield Mutation(label, edits.with_operand(model, index, scale=value))


def operand_zero_point(model: Model, version: Version) -> Iterator[Mutation]:
    """A zero point just outside the range of the type (NNHAL-MODEL-015 to -019)."""
    for index, info in _known_operands(model):
        if info.zero_points is not None:
            low, high = info.zero_points
            for value in (low - 1, high + 1):
                label = f"operand{index}.zero_point_{_spell(value)}"
                yield Mutation(label, edits.with_operand(model, index, zero_point=value))


def operand_lifetime(model: Model, version: Version) -> Iterator[Mutation]:
    """A lifetime that contradicts who writes the operand, with the index lists in step (NNHAL-MODEL rule G)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime in _UNWRITTEN:
            for lifetime in (_LIFETIME.TEMPORARY_VARIABLE, _LIFETIME.SUBGRAPH_OUTPUT):
                yield Mutation(f"operand{index}.{lifetime.name.lower()}", _moved(model, index, lifetime))
        elif operand.lifetime in (_LIFETIME.TEMPORARY_VARIABLE, _LIFETIME.SUBGRAPH_OUTPUT):
            lifetime = _LIFETIME.SUBGRAPH_INPUT
            yield Mutation(f"operand{index}.{lifetime.name.lower()}", _moved(model, index, lifetime))


def operand_input_output(model: Model, version: Version) -> Iterator[Mutation]:
    """A lifetime changed while the index lists stay as they were (MODEL.G1)."""
    changes = {
        _LIFETIME.CONSTANT_COPY: _LIFETIME.SUBGRAPH_INPUT,
        _LIFETIME.SUBGRAPH_OUTPUT: _LIFETIME.TEMPORARY_VARIABLE,
        _LIFETIME.TEMPORARY_VARIABLE: _LIFETIME.SUBGRAPH_OUTPUT,
    }
    for index, operand in enumerate(model.main.operands):
        lifetime = changes.get(OperandLifeTime(operand.lifetime))
        if lifetime is not None:
            edited = edits.with_operand(model, index, lifetime=lifetime, location=DataLocation())
            yield Mutation(f"operand{index}.{lifetime.name.lower()}", edited)


def number_of_consumers(model: Model, version: Version) -> Iterator[Mutation]:
    """A count of readers that is off by one; HIDL only (MODEL.G5)."""
    if version.is_aidl:
        return
    for index, operand in enumerate(model.main.operands):
        for change in (-1, 1) if operand.number_of_consumers else (1,):
            label = f"operand{index}.consumers_{_spell(operand.number_of_consumers + change)}"
            yield Mutation(label, edits.with_consumers(model, index, change))


def add_writer(model: Model, version: Version) -> Iterator[Mutation]:
    """A second operation writes an output again (MODEL.G4)."""
    for position, operation in enumerate(model.main.operations):
        edited = edits.with_new_operation(model, operation)
        for index in operation.inputs:
            edited = edits.with_consumers(edited, index, 1)
        yield Mutation(f"operation{position}.again", edited)


def operation_type(model: Model, version: Version) -> Iterator[Mutation]:
    """Operation codes just outside those of the version (NNHAL-MODEL-006)."""
    for position in range(len(model.main.operations)):
        for value in _illegal_operation_types(version):
            edited = edits.with_operation(model, position, type=value)
            yield Mutation(f"operation{position}.type_{_spell(value)}", edited)


def operand_index(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation refers to an operand that does not exist (MODEL.P2)."""
    missing = len(model.main.operands)
    for position, operation in enumerate(model.main.operations):
        for side in ("inputs", "outputs"):
            indexes = getattr(operation, side)
            for place in range(len(indexes)):
                edited = edits.with_operation(model, position, **{side: edits.replaced(indexes, place, missing)})
                yield Mutation(f"operation{position}.{side}{place}", edited)


def remove_operation(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation is gone, and its outputs are never written (MODEL.G6)."""
    for position, operation in enumerate(model.main.operations):
        operations = model.main.operations[:position] + model.main.operations[position + 1 :]
        edited = edits.with_main(model, operations=operations)
        for index in operation.inputs:
            edited = edits.with_consumers(edited, index, -1)
        yield Mutation(f"operation{position}.removed", edited)


def remove_operation_output(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has one output too few (MODEL.P3)."""
    for position, operation in enumerate(model.main.operations):
        for place in range(len(operation.outputs)):
            edited = edits.with_operation(model, position, outputs=edits.without(operation.outputs, place))
            yield Mutation(f"operation{position}.outputs{place}_removed", edited)


def add_operation_output(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has an INT32 output too many (MODEL.P3)."""
    for position, operation in enumerate(model.main.operations):
        extra = Operand(type=OperandType.INT32, lifetime=_LIFETIME.SUBGRAPH_OUTPUT)
        edited, index = edits.with_new_operand(model, extra)
        edited = edits.with_main(edited, output_indexes=(*edited.main.output_indexes, index))
        edited = edits.with_operation(edited, position, outputs=(*operation.outputs, index))
        yield Mutation(f"operation{position}.outputs_added", edited)


def location(model: Model, version: Version) -> Iterator[Mutation]:
    """Constants that reach outside their bytes, places where none belong (MODEL.O8 to O10); not tried by VTS."""
    beyond = DataLocation(offset=len(model.operand_values), length=4)
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime == _LIFETIME.CONSTANT_COPY:
            yield Mutation(f"operand{index}.beyond_values", edits.with_operand(model, index, location=beyond))
            if operand.location.length:
                short = replace(operand.location, length=operand.location.length - 1)
                yield Mutation(f"operand{index}.short_by_one", edits.with_operand(model, index, location=short))
        elif operand.lifetime in (_LIFETIME.SUBGRAPH_INPUT, _LIFETIME.TEMPORARY_VARIABLE, _LIFETIME.SUBGRAPH_OUTPUT):
            stray = DataLocation(length=1)
            yield Mutation(f"operand{index}.stray_location", edits.with_operand(model, index, location=stray))


def channel_quantization(model: Model, version: Version) -> Iterator[Mutation]:
    """Per-channel parameters that are missing or do not fit the operand (NNHAL-MODEL-020 to -024); not tried by VTS."""
    for index, operand in enumerate(model.main.operands):
        params = operand.extra_params.channel_quant if operand.extra_params else None
        if params is None:
            continue
        wrong = {
            "axis_beyond_rank": replace(params, channel_dim=len(operand.dimensions)),
            "scale_too_many": replace(params, scales=(*params.scales, 1.0)),
            "scale_too_few": replace(params, scales=params.scales[1:]),
            "scale_0": replace(params, scales=(0.0, *params.scales[1:])),
            "scale_minus_1": replace(params, scales=(-1.0, *params.scales[1:])),
        }
        yield Mutation(f"operand{index}.no_scales", edits.with_operand(model, index, extra_params=None))
        for label, spoiled in wrong.items():
            edited = edits.with_operand(model, index, extra_params=OperandExtraParams(channel_quant=spoiled))
            yield Mutation(f"operand{index}.{label}", edited)


def extra_params(model: Model, version: Version) -> Iterator[Mutation]:
    """Extra parameters on types that take none (NNHAL-MODEL-025); not tried by VTS."""
    if version < Version.V1_2:
        return
    stray = OperandExtraParams(channel_quant=SymmPerChannelQuantParams((1.0,), 0))
    for index, operand in enumerate(model.main.operands):
        # AOSP's validator has no rule for FLOAT16 scalars.
        if operand.extra_params is None and operand.type != OperandType.FLOAT16:
            yield Mutation(f"operand{index}.extra_params", edits.with_operand(model, index, extra_params=stray))


def graph_indexes(model: Model, version: Version) -> Iterator[Mutation]:
    """Lists of the graph's inputs and outputs that name an operand twice or none that exists (MODEL.G1)."""
    for field in ("input_indexes", "output_indexes"):
        indexes = getattr(model.main, field)
        missing = len(model.main.operands)
        yield Mutation(f"{field}.beyond", edits.with_main(model, **{field: (*indexes, missing)}))
        if indexes:
            yield Mutation(f"{field}.twice", edits.with_main(model, **{field: (*indexes, indexes[0])}))
            yield Mutation(f"{field}.left_out", edits.with_main(model, **{field: indexes[1:]}))


FAMILIES: dict[str, tuple[Family, tuple[str, ...]]] = {
    "operand_type": (operand_type, ("NNHAL-MODEL-002", "NNHAL-MODEL-003", "NNHAL-MODEL-005")),
    "operand_rank": (operand_rank, ("NNHAL-MODEL-007", "NNHAL-MODEL-008")),
    "operand_scale": (operand_scale, ("NNHAL-MODEL-012", "NNHAL-MODEL-013", "NNHAL-MODEL-014")),
    "operand_zero_point": (
        operand_zero_point,
        tuple(f"NNHAL-MODEL-{number:03}" for number in range(15, 20)),
    ),
    "operand_lifetime": (operand_lifetime, ("NNHAL-MODEL-045", "NNHAL-MODEL-046", "NNHAL-MODEL-049")),
    "operand_input_output": (operand_input_output, ("NNHAL-MODEL-052",)),
    "number_of_consumers": (number_of_consumers, ("NNHAL-MODEL-050",)),
    "add_writer": (add_writer, ("NNHAL-MODEL-048",)),
    "operation_type": (operation_type, ("NNHAL-MODEL-003", "NNHAL-MODEL-006")),
    "operand_index": (operand_index, ("NNHAL-MODEL-038", "NNHAL-MODEL-039")),
    "remove_operation": (remove_operation, ("NNHAL-MODEL-001", "NNHAL-MODEL-055")),
    "remove_operation_output": (remove_operation_output, ("NNHAL-MODEL-042",)),
    "add_operation_output": (add_operation_output, ("NNHAL-MODEL-043",)),
    "location": (location, ("NNHAL-MODEL-030", "NNHAL-MODEL-032", "NNHAL-MODEL-034")),
    "channel_quantization": (
        channel_quantization,
        tuple(f"NNHAL-MODEL-{number:03}" for number in range(20, 25)),
    ),
    "extra_params": (extra_params, ("NNHAL-MODEL-025",)),
    "graph_indexes": (graph_indexes, ("NNHAL-MODEL-051", "NNHAL-MODEL-052", "NNHAL-MODEL-053")),
}
"""Each family by name, with the requirements it is evidence for."""


def _known_operands(model: Model) -> Iterator[tuple[int, OperandTypeInfo]]:
    for index, operand in enumerate(model.main.operands):
        info = OPERAND_TYPES.get(operand.type)
        if info is not None:
            yield index, info


def _moved(model: Model, index: int, lifetime: OperandLifeTime) -> Model:
    """Give an operand another lifetime and bring the input and output lists in step."""
    edited = edits.with_operand(model, index, lifetime=lifetime, location=DataLocation())
    inputs = tuple(other for other in model.main.input_indexes if other != index)
    outputs = tuple(other for other in model.main.output_indexes if other != index)
    if lifetime is OperandLifeTime.SUBGRAPH_INPUT:
        inputs = (*inputs, index)
    if lifetime is OperandLifeTime.SUBGRAPH_OUTPUT:
        outputs = (*outputs, index)
    return edits.with_main(edited, input_indexes=inputs, output_indexes=outputs)


def _illegal_operand_types(version: Version) -> tuple[int, ...]:
    if version < Version.V1_2:
        return (-1, 6, 9999, 10002)
    if version < Version.V1_3:
        return (_ALL_BITS, 14, 9999, 10002)
    return (-1, 16) if version.is_aidl else (_ALL_BITS, 16, 9999, 10002)


def _illegal_operation_types(version: Version) -> tuple[int, ...]:
    first_unknown = {Version.V1_0: 29, Version.V1_1: 38, Version.V1_2: 95, Version.V1_3: 102, Version.FL5: 102}
    last = {Version.FL6: OperationType.MIRROR_PAD}.get(version, OperationType.REVERSE + 1)
    unknown = first_unknown.get(version, int(last))
    return (-1, unknown) if version.is_aidl else (-1, unknown, 9999, 10001)


def _spell(value: int) -> str:
    return f"minus_{-value}" if value < 0 else str(value)
