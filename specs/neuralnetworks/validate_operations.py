"""Rules of single operations, P1 to P4: known codes, existing operands, signatures from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.catalogue import all_match
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, OperandLifeTime, OperationType
from npu_conformance.specs.neuralnetworks.operation_tables import Argument, OperationTable, Signature
from npu_conformance.specs.neuralnetworks.registered_extensions import cached_while_registered
from npu_conformance.specs.neuralnetworks.types import Subgraph
from npu_conformance.specs.neuralnetworks.validate_control_flow import check_if, check_while
from npu_conformance.specs.neuralnetworks.validate_graph import WRITTEN
from npu_conformance.specs.neuralnetworks.validate_scope import (
    ModelUnderValidation,
    extension_prefix,
    operand_label,
    type_name,
)
from npu_conformance.specs.versions import Version

_NO_VALUE = int(OperandLifeTime.NO_VALUE)
_INPUT = int(OperandLifeTime.SUBGRAPH_INPUT)


class Match(msgspec.Struct, frozen=True):
    """How types fit an operation: a problem in words, or what is left to check of ranks and omissions.

    ranks: (position, legal ranks, optional) of inputs and of outputs. required: positions of inputs that must have a
    value.
    """

    problem: str = ""
    input_ranks: tuple[tuple[int, tuple[int, ...], bool], ...] = ()
    output_ranks: tuple[tuple[int, tuple[int, ...], bool], ...] = ()
    required: frozenset[int] = frozenset()


def check_operations(scope: ModelUnderValidation, number: int, graph: Subgraph) -> None:
    """Report what is wrong with each operation of a subgraph."""
    count = len(graph.operands)
    for position, operation in enumerate(graph.operations):
        name = scope.limits.operations.get(operation.type)
        if name is None and not scope.limits.is_extension(operation.type):
            message = f"operation {position}: HAL {scope.limits.version} has no operation {operation.type}"
            scope.report("MODEL.P1", message, number, position)
            continue
        missing = [index for index in (*operation.inputs, *operation.outputs) if not 0 <= index < count]
        for index in missing:
            message = f"operation {position}: operand {index} does not exist, the graph has {count}"
            scope.report("MODEL.P2", message, number, position)
        if missing:
            continue
        _check_outputs_written(scope, number, graph, position)
        if name is None:
            _check_extension(scope, number, graph, position)
        elif operation.type == OperationType.IF:
            check_if(scope, number, graph, position)
        elif operation.type == OperationType.WHILE:
            check_while(scope, number, graph, position)
        elif operation.type != OperationType.OEM_OPERATION:
            _check_signature(scope, number, graph, position)


def _check_outputs_written(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    for index in graph.operations[position].outputs:
        operand = graph.operands[index]
        if operand.lifetime not in WRITTEN:
            message = f"operation {position}: {operand_label(index, operand)} of lifetime {operand.lifetime} is written"
            scope.report("MODEL.P4", message, number, position, index)


def _check_extension(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    """Only registered extensions have signatures here; the operations of others are known to their drivers alone."""
    code = graph.operations[position].type
    prefix = extension_prefix(code)
    if catalogue.has(scope.in_catalogue(code)):
        _check_signature(scope, number, graph, position)
    elif prefix in scope.registered_numbers:
        message = f"operation {position}: the extension of prefix {prefix} has no operation {code & BASE_TYPE_MAX}"
        scope.report("MODEL.P1", message, number, position)
    elif all(mapping.prefix != prefix for mapping in scope.model.extension_name_to_prefix):
        message = f"operation {position}: the model maps no extension to prefix {prefix}"
        scope.report("MODEL.X5", message, number, position)


def _check_signature(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    operation, operands, code = graph.operations[position], graph.operands, graph.operations[position].type
    input_types = tuple([operands[index].type for index in operation.inputs])
    output_types = tuple([operands[index].type for index in operation.outputs])
    if scope.registered_numbers:
        code = scope.in_catalogue(code)
        input_types, output_types = (tuple(map(scope.in_catalogue, types)) for types in (input_types, output_types))
    match = match_types(code, input_types, output_types, scope.limits.version)
    name = scope.limits.operations.get(code) or catalogue.operation(code).name
    if match.problem:
        scope.report("MODEL.P3", f"operation {position} ({name}): {match.problem}", number, position)
        return
    for place in match.required:
        if operands[operation.inputs[place]].lifetime == _NO_VALUE:
            message = f"operation {position} ({name}): input {place} is omitted but not optional"
            scope.report("MODEL.P3O", message, number, position, operation.inputs[place])
    _check_ranks(scope, number, graph, position, match.input_ranks, operation.inputs)
    _check_ranks(scope, number, graph, position, match.output_ranks, operation.outputs)


def _check_ranks(
    scope: ModelUnderValidation,
    number: int,
    graph: Subgraph,
    position: int,
    ranks: Sequence[tuple[int, tuple[int, ...], bool]],
    indexes: Sequence[int],
) -> None:
    for place, allowed, optional in ranks:
        index = indexes[place]
        operand = graph.operands[index]
        rank = len(operand.dimensions)
        if rank == 0 or rank in allowed or operand.lifetime == _NO_VALUE:
            continue
        if optional and operand.lifetime == _INPUT and 0 in operand.dimensions:
            continue  # A request may leave it out; then its declared shape means nothing.
        legal = " or ".join(str(number_of_dimensions) for number_of_dimensions in allowed)
        message = f"operation {position}: {operand_label(index, operand)} has rank {rank}, expected {legal}"
        scope.report("MODEL.P3R", message, number, position, index)


@cached_while_registered(maxsize=65536)
def match_types(code: int, input_types: tuple[int, ...], output_types: tuple[int, ...], version: Version) -> Match:
    """Match operand types against the signatures of an operation in a version."""
    table = catalogue.operation(code)
    problems = []
    for signature in table.signatures:
        match = _match_signature(signature, input_types, output_types, version)
        if not match.problem:
            return match
        problems.append(match.problem)
    return Match(_most_telling(table, problems, input_types))


def _most_telling(table: OperationTable, problems: list[str], input_types: tuple[int, ...]) -> str:
    for signature, problem in zip(table.signatures, problems, strict=True):
        if catalogue.fits(signature, input_types):
            return problem
    if len(problems) == 1:
        return problems[0]
    names = [f"{signature.variant}: {problem}" for signature, problem in zip(table.signatures, problems, strict=True)]
    return "; ".join(names)


def _match_signature(
    signature: Signature, input_types: tuple[int, ...], output_types: tuple[int, ...], version: Version
) -> Match:
    inputs = catalogue.expand(signature.inputs, len(input_types))
    if inputs is None or (signature.input_counts is not None and len(input_types) not in signature.input_counts):
        return Match(f"{len(input_types)} inputs, expected {_counts(signature)}")
    outputs = catalogue.expand(signature.outputs, len(output_types))
    if outputs is None or not _has_output_count(signature, len(output_types), version):
        return Match(f"{len(output_types)} outputs are not those of HAL {version}")
    newer = [argument.name for argument in inputs if catalogue.argument_since(argument) > version]
    if newer:
        return Match(f"input {newer[0]} needs HAL {_since(inputs, newer[0])}, not {version}")
    for combination in signature.combinations(version):
        if all_match(inputs, combination, input_types) and all_match(outputs, combination, output_types):
            return Match(
                "",
                _ranks(inputs),
                _ranks(outputs),
                frozenset(place for place, argument in enumerate(inputs) if not argument.optional),
            )
    types = ", ".join(map(type_name, input_types)), ", ".join(map(type_name, output_types))
    return Match(f"HAL {version} has no signature ({types[0]}) -> ({types[1]})")


def _has_output_count(signature: Signature, count: int, version: Version) -> bool:
    if signature.output_counts is None:
        return any(argument.repeat for argument in signature.outputs) or count == len(signature.outputs)
    return any(count in counts for since, counts in signature.output_counts.items() if since <= version)


def _ranks(arguments: list[Argument]) -> tuple[tuple[int, tuple[int, ...], bool], ...]:
    return tuple(
        (place, argument.rank, argument.optional)
        for place, argument in enumerate(arguments)
        if argument.rank is not None
    )


def _counts(signature: Signature) -> str:
    if signature.input_counts is None:
        return f"at least {len(signature.inputs)}"
    return " or ".join(str(count) for count in signature.input_counts)


def _since(arguments: list[Argument], name: str) -> Version:
    return max(catalogue.argument_since(argument) for argument in arguments if argument.name == name)
