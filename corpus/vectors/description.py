"""What a vector is about, in one line for people: `PAD, TENSOR_QUANT8_ASYMM [3], paddings [[1, 2]], zero point 9`.

The operation, type and shape of its first input, the other arguments by the catalogue's names, quantisation where it
is not symmetric or changes, what is asked beside a right result, and the variation in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents.vectors import OperandDocument, OperationDocument, VectorDocument
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, PaddingScheme
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, operand_type

_ELEMENTS, _ARGUMENTS = 8, 10
"""How many elements a constant has at most, and how many arguments there are, that all are shown."""

_ENUMS = {"activation": FusedActivation, "padding_scheme": PaddingScheme}
"""Arguments whose numbers have names."""

VARIATIONS = {
    "relaxed": "relaxed to the range and precision of float16",
    "float16": "in float16",
    "quant8_signed": "in signed 8 bit, with every value and zero point less 128",
    "nchw": "with the channels in front (NCHW)",
    "fused": "with a fused activation that clamps the output",
    "all_inputs_as_internal": "with all inputs as internal, each behind an ADD of zero",
    "all_tensors_as_inputs": "with all constant tensors as inputs",
}
"""Each variation in words."""


def describe(operation: str, document: VectorDocument, variation: str = "") -> str:
    """The line of a vector, or of a variation of it."""
    under_test = _operation_under_test(operation, document)
    parts = [operation, *_arguments(document, under_test), *_quantisation(document, under_test)]
    text = ", ".join([*parts, *_circumstances(document)])
    if document.description:
        text += f": {document.description}"
    return one_line(f"{text}; {VARIATIONS[variation]}" if variation else text)


def _operation_under_test(operation: str, document: VectorDocument) -> OperationDocument:
    """The last operation of the name that the vector has; where it names none, one over all its operands."""
    named = [part for part in document.operations if part.type == operation] or document.operations
    arguments = [name for name in document.operands if name not in document.outputs]
    return named[-1] if named else OperationDocument(type=operation, inputs=arguments, outputs=document.outputs)


def _arguments(document: VectorDocument, operation: OperationDocument) -> Iterator[str]:
    """Type and shape of the first argument, then the others; of very many the small constants alone."""
    operands = [document.operands[name] for name in operation.inputs]
    for first in operands[:1]:
        yield f"{first.type}{_shape(first)}"
    named = zip(_names(document, operation)[1:], operands[1:], strict=True)
    others = [(name, operand) for name, operand in named if not operand.omitted and operand.subgraph is None]
    shown = others if len(others) <= _ARGUMENTS else [each for each in others if _is_small(each[1])][:_ARGUMENTS]
    yield from (_argument(name, operand) for name, operand in shown)
    if len(others) > len(shown):
        yield f"and {len(others) - len(shown)} more arguments"


def _names(document: VectorDocument, operation: OperationDocument) -> Sequence[str]:
    """The catalogue's names of the arguments; the vector's own ones where no signature fits."""
    kinds = tuple(operand_type(document.operands[name].type) for name in operation.inputs)
    known = {position: name for name, position in catalogue.reading(operation.type, kinds).positions.items()}
    return [known.get(position, name) for position, name in enumerate(operation.inputs)]


def _is_small(operand: OperandDocument) -> bool:
    """True for a constant that can be shown. Other tensors hold data, not parameters of the operation."""
    is_data = _is_tensor(operand) and operand.type not in ("TENSOR_INT32", "TENSOR_BOOL8")
    return isinstance(operand.value, list) and len(operand.value) <= _ELEMENTS and not is_data


def _is_tensor(operand: OperandDocument) -> bool:
    return OPERAND_TYPES[operand_type(operand.type)].is_tensor


def _argument(name: str, operand: OperandDocument) -> str:
    """A small constant with its value, anything else with its shape."""
    return f"{name} {_value(name, operand)}" if _is_small(operand) else f"{name}{_shape(operand)}"


def _value(name: str, operand: OperandDocument) -> str:
    elements = cast(Sequence[object], operand.value)
    if _is_tensor(operand):
        return str(_nested(elements, operand.dimensions)).replace("'", "")
    if len(elements) != 1:
        return str(list(elements))
    (element,) = elements
    if operand.type == "BOOL":
        return "true" if element else "false"
    named: dict[object, str] = {member.value: member.name for member in _ENUMS.get(name, ())}
    return named.get(element, str(element))


def _nested(elements: Sequence[object], dimensions: Sequence[int]) -> list[object]:
    """The elements as lists of lists, a level for each dimension."""
    if len(dimensions) < 2 or 0 in dimensions:
        return list(elements)
    size = len(elements) // dimensions[0]
    rows = (elements[start : start + size] for start in range(0, len(elements), size))
    return [_nested(row, dimensions[1:]) for row in rows]


def _shape(operand: OperandDocument) -> str:
    """The shape behind a blank, with ? for a size that the model leaves open; nothing for a scalar."""
    if not _is_tensor(operand):
        return ""
    sizes = ", ".join(str(size or "?") for size in operand.dimensions)
    return f" [{sizes}]" if sizes else " of unknown rank"


def _quantisation(document: VectorDocument, operation: OperationDocument) -> Iterator[str]:
    """The zero point of an asymmetric first input; all of input and output where they differ."""
    source = document.operands[operation.inputs[0]]
    result = document.operands[operation.outputs[0]]
    if (result.scale, result.zero_point) == (source.scale, source.zero_point):
        if "_ASYMM" in source.type:
            yield f"zero point {source.zero_point}"
        return
    for label, operand in (("", source), ("output ", result)):
        if operand.scale:
            yield f"{label}scale {operand.scale:g} and zero point {operand.zero_point}"


def _circumstances(document: VectorDocument) -> Iterator[str]:
    if len(document.operations) > 1:
        yield f"in a graph of {', '.join(part.type for part in document.operations)}"
    if document.relaxed:
        yield "relaxed"
    if document.rejected:
        yield f"refused by clause {document.rejected.clause}" if document.rejected.clause else "refused"
