"""Models for people: as text, one line an operation, and as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_view import constant_value
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph

_SHOWN = 8
_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)


def text(model: Model) -> str:
    """The model in lines: what each graph takes and gives, its constants, and its operations in order.

    Also for models that are wrong: what does not exist or has no name is shown by its number.
    """
    return "\n".join(_lines(with_registered_codes(model)))


def dot(model: Model) -> str:
    """The model in Graphviz's language: boxes are operations, ellipses are inputs, outputs and constants."""
    lines = ["digraph model {", "  rankdir=TB; node [fontname=Helvetica, fontsize=10];"]
    known = with_registered_codes(model)
    for number, graph in enumerate((known.main, *known.referenced)):
        lines += [f"  subgraph cluster_{number} {{", f'    label="{_graph_name(number)}";']
        lines += [f"    {line}" for line in _dot_lines(number, graph)]
        lines.append("  }")
    return "\n".join([*lines, "}"])


def operand_type_name(code: int) -> str:
    """The name of an operand type; `extension 0x10005` and the like where no version has the code."""
    return OPERAND_TYPES[code].type.name if code in OPERAND_TYPES else f"extension {code:#x}"


def operation_name(code: int) -> str:
    """The name of an operation's type; as of `operand_type_name`."""
    if catalogue.has(code):
        return catalogue.operation(code).name
    return "OEM_OPERATION" if code == OperationType.OEM_OPERATION else f"extension {code:#x}"


def operand_line(operand: Operand) -> str:
    """Type, dimensions and quantisation of an operand: `TENSOR_QUANT8_ASYMM[1,?,3] scale 0.5 zero point 128`."""
    kind = operand_type_name(operand.type)
    info = OPERAND_TYPES.get(operand.type)
    if operand.dimensions:
        kind += "[" + ",".join(str(size) if size else "?" for size in operand.dimensions) + "]"
    elif info is None or info.is_tensor:
        kind += "[unknown rank]"
    if operand.scale or operand.zero_point:
        kind += f" scale {operand.scale:g} zero point {operand.zero_point}"
    if operand.extra_params is not None and operand.extra_params.channel_quant is not None:
        quant = operand.extra_params.channel_quant
        kind += f" {len(quant.scales)} scales along dimension {quant.channel_dim}"
    if operand.extra_params is not None and operand.extra_params.extension is not None:
        kind += f" parameters {operand.extra_params.extension.hex() or 'of no bytes'}"
    return kind


def _lines(model: Model) -> Iterator[str]:
    relaxed = ", float32 as coarse as float16" if model.relax_computation_float32_to_float16 else ""
    count = 1 + len(model.referenced)
    yield f"model of {count} graph{'s' if count > 1 else ''} and {len(model.pools)} pools{relaxed}"
    for number, graph in enumerate((model.main, *model.referenced)):
        yield f"{_graph_name(number)}:"
        yield from (f"  {line}" for line in _graph_lines(model, graph))


def _graph_lines(model: Model, graph: Subgraph) -> Iterator[str]:
    for word, indexes in (("input", graph.input_indexes), ("output", graph.output_indexes)):
        yield from (f"{word} %{index}: {_described(graph, index)}" for index in indexes)
    for index, operand in enumerate(graph.operands):
        if operand.lifetime in _CONSTANTS:
            yield f"constant %{index}: {operand_line(operand)} = {_content(model, operand)}"
        elif operand.lifetime == OperandLifeTime.NO_VALUE:
            yield f"omitted %{index}: {operand_line(operand)}"
    yield from (f"{position}: {_call(graph, one)}" for position, one in enumerate(graph.operations))


def _call(graph: Subgraph, operation: Operation) -> str:
    arguments = ", ".join(_argument(graph, index) for index in operation.inputs)
    results = ", ".join(f"%{index}" for index in operation.outputs)
    return f"{results} = {operation_name(operation.type)}({arguments})"


def _argument(graph: Subgraph, index: int) -> str:
    operand = graph.operands[index] if 0 <= index < len(graph.operands) else None
    if operand is not None and operand.type == OperandType.SUBGRAPH:
        return _graph_name(operand.location.offset + 1)
    return f"%{index}"


def _described(graph: Subgraph, index: int) -> str:
    return operand_line(graph.operands[index]) if 0 <= index < len(graph.operands) else "no such operand"


def _content(model: Model, operand: Operand) -> str:
    if operand.lifetime == OperandLifeTime.CONSTANT_POOL:
        place = operand.location
        return f"pool {place.pool_index}, {place.length} bytes at {place.offset}"
    try:
        value = constant_value(model, operand)
    except ValueError:
        return f"{operand.location.length} bytes that do not fit"
    elements = [] if value is None else value.ravel().tolist()
    more = f", ... ({len(elements)} elements)" if len(elements) > _SHOWN else ""
    return ", ".join(f"{element:g}" for element in elements[:_SHOWN]) + more


def _graph_name(number: int) -> str:
    return "main" if number == 0 else f"referenced {number - 1}"


def _dot_lines(number: int, graph: Subgraph) -> Iterator[str]:
    ends = {*graph.input_indexes, *graph.output_indexes}
    for index, operand in enumerate(graph.operands):
        shape = "ellipse" if index in ends else "plaintext" if operand.lifetime in _CONSTANTS else "point"
        yield f'v{number}_{index} [shape={shape}, label="%{index}\\n{operand_line(operand)}"];'
    for position, operation in enumerate(graph.operations):
        node = f"o{number}_{position}"
        yield f'{node} [shape=box, style=filled, fillcolor=lightgrey, label="{operation_name(operation.type)}"];'
        yield from _edges(number, node, operation.inputs, "{value} -> {node};")
        yield from _edges(number, node, operation.outputs, "{node} -> {value};")


def _edges(number: int, node: str, indexes: Iterable[int], form: str) -> Iterator[str]:
    return (form.format(value=f"v{number}_{index}", node=node) for index in indexes)
