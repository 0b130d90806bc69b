"""Which variations a vector allows, as its header alone tells: cheaply, for listing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from npu_conformance.corpus.vectors import HeaderOperand, Vector, VectorHeader, VectorOperand
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, operand_type
from npu_conformance.specs.versions import Version

FLOAT16 = {"TENSOR_FLOAT32": "TENSOR_FLOAT16", "FLOAT32": "FLOAT16"}
SIGNED = {"TENSOR_QUANT8_ASYMM": "TENSOR_QUANT8_ASYMM_SIGNED"}
NOT_COUPLED = {"HASHTABLE_LOOKUP", "LSH_PROJECTION", "PAD_V2", "CAST", "QUANTIZED_16BIT_LSTM"}
"""Operations whose signed form is not the unsigned one with everything shifted by 128."""

RETYPED = {"float16": FLOAT16, "quant8_signed": SIGNED}
"""What variations make of types; others stay."""

_ADDABLE = {"TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"}
FUSING = {
    "ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "DIV", "FULLY_CONNECTED", "GROUPED_CONV_2D", "L2_POOL_2D",
    "MAX_POOL_2D", "MUL", "SUB", "TRANSPOSE_CONV_2D",
}  # fmt: skip
"""Operations whose output is clamped by a fused activation, and whose results nothing else reads."""

ACTIVATION = "activation"
LAYOUT = "nchw_layout"
"""The argument that says whether channels come first."""

_OTHER_LAYOUT = {"GENERATE_PROPOSALS", "HEATMAP_MAX_KEYPOINT"}
"""Operations in which more, or less, than input 0 and output 0 has the layout."""


def applicable(header: VectorHeader) -> dict[str, Version]:
    """The variations that a vector allows, each with the first version in which its result is legal."""
    if header.rejected is not None:
        return {}
    found = ((name, since_of(header)) for name, since_of in _SINCE.items() if name not in header.excluded)
    return {name: max(since, header.since) for name, since in found if since is not None}


def header_of(vector: Vector) -> VectorHeader:
    """The header of a vector in memory."""
    boundary = (vector.operands[name].type.name for name in (*vector.inputs, *vector.outputs))
    return VectorHeader(
        operation=vector.operation,
        name=vector.name,
        since=vector.since,
        operations=tuple(operation.type for operation in vector.operations),
        arguments=vector.operations[0].inputs,
        operands={
            name: HeaderOperand(operand.type.name, operand.dimensions, _role(vector, name), _scalar(operand))
            for name, operand in vector.operands.items()
        },
        relaxed=vector.relaxed,
        hazards=vector.hazards,
        rejected=vector.rejected,
        excluded=vector.excluded,
        types=tuple(dict.fromkeys(boundary)),
    )


def _relaxed_since(header: VectorHeader) -> Version | None:
    has_float = any(operand.type == "TENSOR_FLOAT32" for operand in header.operands.values())
    known = all(catalogue.operation(name).relaxed for name in header.operations)
    return Version.V1_1 if has_float and known and not header.relaxed else None


def _float16_since(header: VectorHeader) -> Version | None:
    if header.relaxed or not any(operand.type == "TENSOR_FLOAT32" for operand in header.operands.values()):
        return None
    return _retyped_since(header, FLOAT16)


def _signed_since(header: VectorHeader) -> Version | None:
    if NOT_COUPLED.intersection(header.operations) or catalogue.is_registered(header.operation):
        return None
    if not any(operand.type == "TENSOR_QUANT8_ASYMM" for operand in header.operands.values()):
        return None
    return _retyped_since(header, SIGNED)


def _retyped_since(header: VectorHeader, types: Mapping[str, str]) -> Version | None:
    """Since when a vector of one operation may have these types; None for several: a header does not connect them."""
    if len(header.operations) != 1:
        return None
    kinds = {name: types.get(operand.type, operand.type) for name, operand in header.operands.items()}
    outputs = tuple(kinds[name] for name, operand in header.operands.items() if operand.role == "output")
    return combination_since(header.operation, tuple(kinds[name] for name in header.arguments), outputs)


def _nchw_since(header: VectorHeader) -> Version | None:
    if len(header.operations) != 1 or header.operation in _OTHER_LAYOUT:
        return None
    kinds = tuple(operand_type(header.operands[name].type) for name in header.arguments)
    signature = catalogue.find_signature(header.operation, kinds)
    position = signature.position(LAYOUT) if signature else -1
    output = next(operand for operand in header.operands.values() if operand.role == "output")
    first = header.operands[header.arguments[0]]
    if position < 0 or position > len(kinds) or len(first.dimensions) != 4 or len(output.dimensions) != 4:
        return None
    if position < len(kinds) and header.operands[header.arguments[position]].scalar != 0:
        return None
    return Version.V1_2


def _internal_since(header: VectorHeader) -> Version | None:
    inputs = [operand for operand in header.operands.values() if operand.role == "input"]
    addable = [operand.type for operand in inputs if is_addable(operand.type, operand.dimensions)]
    if len(header.operations) != 1 or not addable:
        return None
    return max(OPERAND_TYPES[operand_type(kind)].since for kind in addable)


def _inputs_since(header: VectorHeader) -> Version | None:
    constants = [operand for operand in header.operands.values() if operand.role == "constant"]
    if len(header.operations) != 1 or not any(is_tensor(operand.type) for operand in constants):
        return None
    return Version.V1_0


def _fused_since(header: VectorHeader) -> Version | None:
    """Where nothing is fused yet. Integers of 32 bits have no fused activation."""
    if header.operation not in FUSING or len(header.operations) != 1:
        return None
    kinds = tuple(operand_type(header.operands[name].type) for name in header.arguments)
    signature = catalogue.find_signature(header.operation, kinds)
    position = signature.position(ACTIVATION) if signature else -1
    if position < 0 or header.operands[header.arguments[0]].type == "TENSOR_INT32":
        return None
    return Version.V1_0 if header.operands[header.arguments[position]].scalar == 0 else None


def is_addable(kind: str, dimensions: tuple[int, ...]) -> bool:
    """True where ADD can take a tensor of this type and shape."""
    return kind in _ADDABLE and 1 <= len(dimensions) <= 4 and 0 not in dimensions


def is_tensor(kind: str) -> bool:
    """True for the name of a type of tensors."""
    return OPERAND_TYPES[operand_type(kind)].is_tensor


def _scalar(operand: VectorOperand) -> float | None:
    return None if operand.value is None or operand.dimensions else float(operand.value)


def _role(vector: Vector, name: str) -> str:
    operand = vector.operands[name]
    if operand.omitted:
        return "omitted"
    if name in vector.inputs:
        return "input"
    if name in vector.outputs:
        return "output"
    return "temporary" if operand.value is None else "constant"


_SINCE: dict[str, Callable[[VectorHeader], Version | None]] = {
    "relaxed": _relaxed_since,
    "float16": _float16_since,
    "quant8_signed": _signed_since,
    "nchw": _nchw_since,
    "fused": _fused_since,
    "all_inputs_as_internal": _internal_since,
    "all_tensors_as_inputs": _inputs_since,
}
