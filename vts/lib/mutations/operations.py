"""AOSP's mutations of operations: codes, indexes, order, writers, and what is taken away."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation, Subgraph
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.mutations.mutation import Mutation, spell
from npu_conformance.vts.lib.mutations.signatures import has_signature

_LIFETIME = OperandLifeTime
_SEQUENCES_1_2 = (
    OperationType.SPLIT,
    OperationType.BIDIRECTIONAL_SEQUENCE_LSTM,
    OperationType.BIDIRECTIONAL_SEQUENCE_RNN,
)
_SEQUENCES_1_3 = (
    *_SEQUENCES_1_2,
    OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM,
    OperationType.UNIDIRECTIONAL_SEQUENCE_RNN,
)


def execution_order(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation in front of what it reads, or behind what reads it (MODEL.G3)."""
    operations = model.main.operations
    written = {index for operation in operations for index in operation.outputs}
    read = {index for operation in operations for index in operation.inputs}
    for position, operation in enumerate(operations):
        others = operations[:position] + operations[position + 1 :]
        if written.intersection(operation.inputs):
            edited = edits.with_main(model, operations=(operation, *others))
            yield Mutation(f"operation{position}.to_front", edited)
        if read.intersection(operation.outputs):
            edited = edits.with_main(model, operations=(*others, operation))
            yield Mutation(f"operation{position}.to_back", edited)


def add_writer(model: Model, version: Version) -> Iterator[Mutation]:
    """A second operation writes an output again, all of them or one (MODEL.G4)."""
    for position, operation in enumerate(model.main.operations):
        edited = edits.counted(edits.with_new_operation(model, operation), version)
        yield Mutation(f"operation{position}.again", edited)
        for place in range(len(operation.outputs) if len(operation.outputs) > 1 else 0):
            edited = _writing_again(model, operation, place)
            yield Mutation(f"operation{position}.outputs{place}_again", edits.counted(edited, version))


def operation_type(model: Model, version: Version) -> Iterator[Mutation]:
    """Operation codes just outside those of the version (NNHAL-MODEL-006)."""
    for position in range(len(model.main.operations)):
        for value in _illegal_codes(version):
            edited = edits.with_operation(model, position, type=value)
            breaks = "MODEL-003" if value < 0 and version.is_aidl else "MODEL-006"
            yield Mutation(f"operation{position}.type_{spell(value)}", edited, breaks=(breaks,))


def operand_index(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation refers to an operand that does not exist (MODEL.P2)."""
    missing = len(model.main.operands)
    for position, operation in enumerate(model.main.operations):
        for side, breaks in {"inputs": "MODEL-038", "outputs": "MODEL-039"}.items():
            indexes = getattr(operation, side)
            for place in range(len(indexes)):
                edited = edits.with_operation(model, position, **{side: edits.replaced(indexes, place, missing)})
                yield Mutation(f"operation{position}.{side}{place}", edited, breaks=(breaks,))


def remove_write(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation writes into a new temporary, and what others read is never written (MODEL.G3)."""
    read = {index for operation in model.main.operations for index in operation.inputs}
    for position, operation in enumerate(model.main.operations):
        for place, index in enumerate(operation.outputs):
            if index in read:
                edited, other = edits.with_new_operand(model, _copy_of(model, index))
                outputs = edits.replaced(operation.outputs, place, other)
                edited = edits.with_operation(edited, position, outputs=outputs)
                yield Mutation(
                    f"operation{position}.outputs{place}_elsewhere", edited, breaks=("MODEL-049", "MODEL-046")
                )


def remove_operand(model: Model, version: Version) -> Iterator[Mutation]:
    """An operand is gone from all lists, and the indexes behind it are off by one (MODEL.P2, G1).

    As in AOSP, greater indexes are not counted down. Left out is what AOSP leaves out, and a last operand without
    which every operation still has a signature.
    """
    for index in range(len(model.main.operands)):
        if _may_go(model, version, index):
            continue
        edited = edits.with_main(model, **_without_operand(model.main, index))
        last = len(model.main.operands) - 1
        if last in _indexes(edited.main) or not _has_signatures(edited, version):
            yield Mutation(f"operand{index}.removed", edited)


def remove_operation(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation is gone, and its outputs are never written (MODEL.G6)."""
    for position in range(len(model.main.operations)):
        operations = model.main.operations[:position] + model.main.operations[position + 1 :]
        edited = edits.counted(edits.with_main(model, operations=operations), version)
        yield Mutation(f"operation{position}.removed", edited, breaks=("MODEL-055",) if operations else ("MODEL-001",))


def remove_operation_input(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has one input too few (MODEL.P3); inputs that a signature lets go stay, as in AOSP."""
    for position, operation in enumerate(model.main.operations):
        for place in range(len(operation.inputs)):
            edited = edits.with_operation(model, position, inputs=edits.without(operation.inputs, place))
            if not has_signature(edited.main, position, version):
                label = f"operation{position}.inputs{place}_removed"
                yield Mutation(label, edits.counted(edited, version))


def remove_operation_output(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has one output too few (MODEL.P3)."""
    for position, operation in enumerate(model.main.operations):
        for place in range(len(operation.outputs)):
            edited = edits.with_operation(model, position, outputs=edits.without(operation.outputs, place))
            yield Mutation(f"operation{position}.outputs{place}_removed", edited)


def add_operation_input(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has an INT32 input too many (MODEL.P3), where no signature has a place for it, as in AOSP."""
    for position, operation in enumerate(model.main.operations):
        edited, index = edits.with_new_operand(model, Operand(OperandType.INT32, lifetime=_LIFETIME.SUBGRAPH_INPUT))
        edited = edits.with_main(edited, input_indexes=(*edited.main.input_indexes, index))
        edited = edits.with_operation(edited, position, inputs=(*operation.inputs, index))
        if not has_signature(edited.main, position, version):
            yield Mutation(f"operation{position}.inputs_added", edits.counted(edited, version))


def add_operation_output(model: Model, version: Version) -> Iterator[Mutation]:
    """An operation has an INT32 output too many (MODEL.P3)."""
    for position, operation in enumerate(model.main.operations):
        extra = Operand(type=OperandType.INT32, lifetime=_LIFETIME.SUBGRAPH_OUTPUT)
        edited, index = edits.with_new_operand(model, extra)
        edited = edits.with_main(edited, output_indexes=(*edited.main.output_indexes, index))
        edited = edits.with_operation(edited, position, outputs=(*operation.outputs, index))
        yield Mutation(f"operation{position}.outputs_added", edited)


def _copy_of(model: Model, index: int) -> Operand:
    """A temporary like an operand, that nobody reads."""
    operand = model.main.operands[index]
    lifetime = _LIFETIME.TEMPORARY_VARIABLE
    return replace(operand, lifetime=lifetime, location=DataLocation(), number_of_consumers=0)


def _writing_again(model: Model, operation: Operation, place: int) -> Model:
    """A copy of the operation writes one output again; its other outputs are new temporaries."""
    outputs = list(operation.outputs)
    for other, index in enumerate(operation.outputs):
        if other != place:
            model, outputs[other] = edits.with_new_operand(model, _copy_of(model, index))
    return edits.with_new_operation(model, replace(operation, outputs=tuple(outputs)))


def _illegal_codes(version: Version) -> tuple[int, ...]:
    first_unknown = {Version.V1_0: 29, Version.V1_1: 38, Version.V1_2: 95, Version.V1_3: 102, Version.FL5: 102}
    last = {Version.FL6: OperationType.MIRROR_PAD}.get(version, OperationType.REVERSE + 1)
    unknown = first_unknown.get(version, int(last))
    if version.is_aidl:
        return (-1, unknown)
    # HIDL's codes are unsigned: since 1.2, when extensions came, the largest one is a code of an extension.
    return (unknown, 9999, 10001) if version >= Version.V1_2 else (-1, unknown, 9999, 10001)


def _may_go(model: Model, version: Version, index: int) -> bool:
    """What AOSP leaves out: outputs whose number is free, and since 1.3 what nobody reads."""
    operations = model.main.operations
    if version >= Version.V1_3 and all(index not in operation.inputs for operation in operations):
        return True
    free = _SEQUENCES_1_3 if version >= Version.V1_3 else _SEQUENCES_1_2 if version >= Version.V1_2 else ()
    return any(operation.type in free and index in operation.outputs for operation in operations)


def _without_operand(graph: Subgraph, index: int) -> dict[str, object]:
    def left(indexes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(other for other in indexes if other != index)

    operations = [replace(one, inputs=left(one.inputs), outputs=left(one.outputs)) for one in graph.operations]
    return {
        "operands": graph.operands[:index] + graph.operands[index + 1 :],
        "operations": tuple(operations),
        "input_indexes": left(graph.input_indexes),
        "output_indexes": left(graph.output_indexes),
    }


def _indexes(graph: Subgraph) -> set[int]:
    found = {*graph.input_indexes, *graph.output_indexes}
    return found.union(*(one.inputs for one in graph.operations), *(one.outputs for one in graph.operations))


def _has_signatures(model: Model, version: Version) -> bool:
    return all(has_signature(model.main, position, version) for position in range(len(model.main.operations)))
