"""Mutations of models that refer to other graphs: the references, and every other family inside what is referred to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.mutations.mutation import Family, Mutate, Mutation

_LIFETIME = OperandLifeTime


def subgraph_reference(model: Model, version: Version) -> Iterator[Mutation]:
    """References to graphs that do not exist, with more than an offset, or of another lifetime."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime != _LIFETIME.SUBGRAPH:
            continue
        place = operand.location
        places = {
            "behind_the_last": replace(place, offset=len(model.referenced)),
            "largest": replace(place, offset=2**31 - 1),
            "with_length": replace(place, length=1),
            "in_pool_1": replace(place, pool_index=1),
        }
        if version.is_aidl:
            places["negative"] = replace(place, offset=-1)
        for name, wrong in places.items():
            edited = edits.with_operand(model, index, location=wrong)
            yield Mutation(f"operand{index}.{name}", edited, breaks=("MODEL-033",))
        for lifetime in (_LIFETIME.CONSTANT_COPY, _LIFETIME.NO_VALUE, _LIFETIME.TEMPORARY_VARIABLE):
            edited = edits.with_operand(model, index, lifetime=lifetime, location=DataLocation())
            yield Mutation(f"operand{index}.{lifetime.name.lower()}", edited, breaks=("MODEL-029",))
        yield Mutation(f"operand{index}.no_graphs", replace(model, referenced=()), breaks=("MODEL-033",))


def reference_cycle(model: Model, version: Version) -> Iterator[Mutation]:
    """Graphs that refer to themselves, or around to where they began (MODEL.M4)."""
    count = len(model.referenced)
    for number in range(count):
        yield Mutation(f"graph{number}.itself", _referring(model, number, number))
    around = model
    for number in range(count if count > 1 else 0):
        around = _referring(around, number, (number + 1) % count)
    if count > 1:
        yield Mutation("graphs.around", around)


def control_flow_arity(model: Model, version: Version) -> Iterator[Mutation]:
    """IF and WHILE with an input more or less than their graphs have, and graphs without outputs.

    The operand that comes on top is as sound as its neighbours, so that the count is all that is wrong.
    """
    for position, operation in enumerate(model.main.operations):
        references = [index for index in operation.inputs if model.main.operands[index].type == OperandType.SUBGRAPH]
        if not references:
            continue
        edited = edits.with_operation(model, position, inputs=(*operation.inputs, operation.inputs[-1]))
        yield Mutation(f"operation{position}.input_more", edits.counted(edited, version))
        for place in range(len(references)):
            kept = edits.without(operation.inputs, operation.inputs.index(references[place]))
            edited = edits.counted(edits.with_operation(model, position, inputs=kept), version)
            yield Mutation(f"operation{position}.reference{place}_removed", edited)
    for number, graph in enumerate(model.referenced):
        if graph.input_indexes:
            yield Mutation(f"graph{number}.input_more", edits.within(model, number, _with_input))
        yield Mutation(f"graph{number}.no_outputs", edits.within(model, number, _without_outputs))


def inside(families: Sequence[Family]) -> Mutate:
    """What makes the mutations of other families in every referenced graph; VTS edits the main graph only."""

    def mutate(model: Model, version: Version) -> Iterator[Mutation]:
        """Each edit of the other families, in a graph that IF or WHILE refers to."""
        for number, graph in enumerate(model.referenced):
            seen_as_main = replace(model, main=graph)
            for family in families:
                if not family.since <= version <= family.until:
                    continue
                for mutation in family.mutate(seen_as_main, version):
                    edited = _put_back(model, number, mutation.model)
                    label = f"graph{number}.{family.name}.{mutation.label}"
                    yield Mutation(label, edited, breaks=("CONTROLFLOW-001", *mutation.breaks))

    return mutate


def _put_back(model: Model, number: int, edited: Model) -> Model:
    graphs = (*model.referenced[:number], edited.main, *model.referenced[number + 1 :])
    return replace(edited, main=model.main, referenced=graphs)


def _referring(model: Model, number: int, target: int) -> Model:
    """A referenced graph with one more operand, that refers to a graph."""
    operand = Operand(OperandType.SUBGRAPH, lifetime=_LIFETIME.SUBGRAPH, location=DataLocation(offset=target))
    return edits.within(model, number, lambda graph: edits.with_new_operand(graph, operand)[0])


def _with_input(model: Model) -> Model:
    """One more input like the last one, that nothing reads."""
    inputs = model.main.input_indexes
    operand = replace(model.main.operands[inputs[-1]], number_of_consumers=0)
    edited, index = edits.with_new_operand(model, operand)
    return edits.with_main(edited, input_indexes=(*inputs, index))


def _without_outputs(model: Model) -> Model:
    """All outputs become temporaries. One output less would do for IF, but WHILE may give less than its body."""
    edited = model
    for index in model.main.output_indexes:
        edited = edits.with_operand(edited, index, lifetime=_LIFETIME.TEMPORARY_VARIABLE)
    return edits.with_main(edited, output_indexes=())
