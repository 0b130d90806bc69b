"""From a vector's document to a Vector: every rule that the structs alone cannot express is checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus import hazards, oracles
from npu_conformance.corpus.vector_types import (
    ChannelQuant,
    Example,
    Graph,
    Vector,
    VectorOperand,
    VectorOperation,
)
from npu_conformance.corpus.vectors import completeness, element_values
from npu_conformance.corpus.vectors.fields import parse_since, rejected_of
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.vectors import (
    ChannelQuantDocument,
    ExampleDocument,
    GeneratedDocument,
    GeneratorDocument,
    GraphDocument,
    OperandDocument,
    OperationDocument,
    Values,
    VectorDocument,
)
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType, is_registered
from npu_conformance.specs.neuralnetworks.operand_types import operand_type as type_named

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array


MOST_EVALUATED = 1 << 18
"""Elements of the largest operand of a vector of which the oracle finds the expected values, within seconds."""


def vector(operation: str, document: VectorDocument, where: str) -> Vector:
    """Build a Vector; `where` names file and vector in errors. Raises DocumentError."""
    operations = document.operations or [_whole(operation, document)]
    completeness.require_kind(document.kind, [operation.type for operation in operations], where, "$.kind")
    if not document.rejected:
        completeness.require_examples(document.examples, where)
    main = GraphDocument(
        operands=document.operands, operations=operations, inputs=document.inputs, outputs=document.outputs
    )
    graph = _graph(main, len(document.referenced), where, "$")
    referenced = tuple(
        _graph(part, len(document.referenced), where, f"$.referenced[{index}]")
        for index, part in enumerate(document.referenced)
    )
    return Vector(
        name=document.name,
        operation=operation,
        since=parse_since(document.since, where),
        operands=graph.operands,
        operations=graph.operations,
        inputs=graph.inputs,
        outputs=graph.outputs,
        witnesses=tuple(document.witnesses),
        taken_by=tuple(document.taken_by),
        rejected=rejected_of(document.rejected, where),
        relaxed=document.relaxed,
        ignored=_known(document.ignored, document.outputs, where, "$.ignored"),
        excluded=tuple(document.excluded),
        referenced=referenced,
        description=document.description,
        hazards=hazards.names_of(document.traps, where),
        requirements=tuple(document.requirements),
        kind=document.kind,
        multinomial_tolerance=document.multinomial_tolerance,
        generators=_generators(document),
        examples=tuple(
            _example(example, graph, referenced, document, where, f"$.examples[{index}]")
            for index, example in enumerate(document.examples)
        ),
    )


def _whole(operation: str, document: VectorDocument) -> OperationDocument:
    arguments = [name for name in document.operands if name not in document.outputs]
    return OperationDocument(type=operation, inputs=arguments, outputs=document.outputs)


def _graph(document: GraphDocument, referenced: int, where: str, path: str) -> Graph:
    operands = {
        name: _operand(operand, referenced, where, f"{path}.operands.{name}")
        for name, operand in document.operands.items()
    }
    operations = tuple(
        _operation(operation, operands, where, f"{path}.operations[{index}]")
        for index, operation in enumerate(document.operations)
    )
    inputs = _known(document.inputs, operands, where, f"{path}.inputs")
    outputs = _known(document.outputs, operands, where, f"{path}.outputs")
    return Graph(operands, operations, inputs, outputs)


def _operation(
    document: OperationDocument, operands: Mapping[str, VectorOperand], where: str, path: str
) -> VectorOperation:
    try:
        catalogue.operation_code(document.type)
    except LookupError:
        raise DocumentError(where, f"{path}.type", f"unknown operation {document.type!r}") from None
    inputs = _known(document.inputs, operands, where, f"{path}.inputs")
    return VectorOperation(document.type, inputs, _known(document.outputs, operands, where, f"{path}.outputs"))


def _known(names: Sequence[str], known: Mapping[str, object] | Sequence[str], where: str, path: str) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if name not in known:
            raise DocumentError(where, f"{path}[{index}]", f"there is no such operand: {name!r}")
    return tuple(names)


def _operand(document: OperandDocument, referenced: int, where: str, path: str) -> VectorOperand:
    try:
        operand_type = type_named(document.type)
    except LookupError:
        raise DocumentError(where, f"{path}.type", f"unknown operand type {document.type!r}") from None
    if document.extension is not None and not is_registered(operand_type):
        raise DocumentError(where, f"{path}.extension", f"{document.type} is no type of an extension: it has none")
    if document.subgraph is not None and not 0 <= document.subgraph < referenced:
        raise DocumentError(where, f"{path}.subgraph", f"there is no referenced graph {document.subgraph}")
    dimensions = tuple(document.dimensions)
    value = None
    if document.value is not None:
        value = _array(document.value, operand_type, dimensions, where, f"{path}.value")
    return VectorOperand(
        operand_type,
        dimensions,
        _scale(document.scale, where, f"{path}.scale"),
        document.zero_point,
        _channel_quant(document.channel_quant, where, f"{path}.channel_quant"),
        value,
        document.omitted,
        document.subgraph,
        None if document.extension is None else bytes.fromhex(document.extension),
    )


def _channel_quant(document: ChannelQuantDocument | None, where: str, path: str) -> ChannelQuant | None:
    if document is None:
        return None
    return ChannelQuant(tuple(_scale(scale, where, path) for scale in document.scales), document.channel_dim)


def _scale(scale: float, where: str, path: str) -> float:
    try:
        return element_values.float32(scale)
    except element_values.ValueRuleError as error:
        raise DocumentError(where, path, str(error)) from None


def _array(values: Values, operand_type: AnyOperandType, dimensions: tuple[int, ...], where: str, path: str) -> Array:
    try:
        if isinstance(values, GeneratedDocument):
            return element_values.generate(values.generate, operand_type, dimensions)
        return element_values.to_array(values, operand_type, dimensions)
    except element_values.ValueRuleError as error:
        raise DocumentError(where, path, str(error)) from None


def _example(
    document: ExampleDocument,
    graph: Graph,
    referenced: Sequence[Graph],
    vector: VectorDocument,
    where: str,
    path: str,
) -> Example:
    completeness.require_inputs(document.inputs, graph, where, f"{path}.inputs")
    shapes = _shapes(document, graph, where, f"{path}.dimensions")
    inputs = {
        name: _array(values, graph.operands[name].type, shapes[name], where, f"{path}.inputs.{name}")
        for name, values in document.inputs.items()
    }
    if vector.rejected:
        return Example(inputs, {})
    if not document.outputs and (vector.kind == "multinomial" or _is_generated(document, vector)):
        return Example(inputs, _evaluated(graph, inputs, referenced, where, path))
    completeness.require_outputs(document.outputs, graph, where, f"{path}.outputs")
    outputs = {
        name: _array(values, graph.operands[name].type, shapes[name], where, f"{path}.outputs.{name}")
        for name, values in document.outputs.items()
    }
    return Example(inputs, outputs)


def _evaluated(
    graph: Graph, inputs: Mapping[str, Array], referenced: Sequence[Graph], where: str, path: str
) -> dict[str, Array]:
    largest = max(math.prod(operand.dimensions) for operand in graph.operands.values())
    if largest > MOST_EVALUATED:
        rule = f"expected outputs: {largest} elements are too many for the oracle, which takes {MOST_EVALUATED}"
        raise DocumentError(where, path, rule)
    try:
        return oracles.evaluate(graph, inputs, referenced)
    except Exception as error:  # oracles expect a valid model: whatever another makes them raise is told of the file
        rule = f"no expected values can be found for it: {type(error).__name__}: {error}"
        raise DocumentError(where, path, rule) from error


def _shapes(document: ExampleDocument, graph: Graph, where: str, path: str) -> dict[str, tuple[int, ...]]:
    boundary = (*graph.inputs, *graph.outputs)
    shapes = {name: graph.operands[name].dimensions for name in boundary}
    for name, dimensions in document.dimensions.items():
        if name not in shapes:
            raise DocumentError(where, f"{path}.{name}", "there is no such input or output")
        completeness.require_fitting(graph.operands[name], dimensions, where, f"{path}.{name}")
        shapes[name] = dimensions
    return shapes


def _generators(vector: VectorDocument) -> dict[str, GeneratorDocument]:
    found = {name: operand.value for name, operand in vector.operands.items()}
    for example in vector.examples:
        found.update(example.inputs)
    return {name: values.generate for name, values in found.items() if isinstance(values, GeneratedDocument)}


def _is_generated(document: ExampleDocument, vector: VectorDocument) -> bool:
    constants = [operand.value for operand in vector.operands.values()]
    return any(isinstance(values, GeneratedDocument) for values in [*document.inputs.values(), *constants])
