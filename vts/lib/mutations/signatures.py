"""Operands of another type, and which types an operation takes: what no signature rejects cannot be expected rejected.

The signatures are read off the catalogue here, apart from the contract's validator, so that a mistake there does not
hide mutations here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.catalogue import all_match
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.operation_tables import Signature
from npu_conformance.specs.neuralnetworks.types import (
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.mutations.mutation import LARGEST_CONSTANT, Mutation

_T, _Op, _V = OperandType, OperationType, Version
_FLOATS = frozenset({_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32})
_UNSIGNED, _SIGNED = frozenset({_T.TENSOR_QUANT8_ASYMM}), frozenset({_T.TENSOR_QUANT8_ASYMM_SIGNED})
_PER_CHANNEL, _SYMMETRIC = frozenset({_T.TENSOR_QUANT8_SYMM_PER_CHANNEL}), frozenset({_T.TENSOR_QUANT8_SYMM})
_EVERY = frozenset(_T)
_TENSORS = frozenset(one for one in _T if OPERAND_TYPES[one].is_tensor)

_LENIENT = {_Op.CAST, _Op.ARGMAX, _Op.ARGMIN}
"""A model with one of them keeps the types of all its operands (AOSP, since 1.2)."""

_LENIENT_TYPES = _FLOATS | {_T.TENSOR_INT32} | _UNSIGNED

_Place = tuple[int, str, int]
_ALLOWED: dict[_Place, tuple[tuple[Version, frozenset[OperandType]], ...]] = {
    (_Op.LSH_PROJECTION, "inputs", 1): ((_V.V1_0, _EVERY),),
    (_Op.QUANTIZE, "inputs", 0): ((_V.V1_2, _FLOATS),),
    (_Op.QUANTIZE, "outputs", 0): ((_V.V1_3, _UNSIGNED | _SIGNED),),
    (_Op.RANDOM_MULTINOMIAL, "inputs", 0): ((_V.V1_2, _FLOATS),),
    (_Op.DEQUANTIZE, "inputs", 0): ((_V.V1_2, _UNSIGNED | _SYMMETRIC | _PER_CHANNEL), (_V.V1_3, _SIGNED)),
    (_Op.DEQUANTIZE, "outputs", 0): ((_V.V1_2, _FLOATS),),
    **{
        (code, "inputs", 1): ((_V.V1_2, _UNSIGNED | _PER_CHANNEL),)
        for code in (_Op.CONV_2D, _Op.DEPTHWISE_CONV_2D, _Op.GROUPED_CONV_2D, _Op.TRANSPOSE_CONV_2D)
    },
    (_Op.AXIS_ALIGNED_BBOX_TRANSFORM, "inputs", 1): ((_V.V1_3, _UNSIGNED | _SIGNED),),
    (_Op.RANK, "inputs", 0): ((_V.V1_3, _TENSORS),),
}
"""Types that AOSP's validator takes at a place, whatever the other operands are: operation, side and position."""


def operation_operand_type(model: Model, version: Version) -> Iterator[Mutation]:
    """An operand of every other type, where no signature takes it (NNHAL-MODEL-044), as in AOSP."""
    for index, operand in enumerate(model.main.operands):
        for target in _types(version):
            if target == operand.type or _is_allowed(model.main, index, target, version):
                continue
            edited = _retyped(model, index, target)
            if _is_rejected(edited.main, index, version):
                yield Mutation(f"operand{index}.{target.name.lower()}", edited)


def has_signature(graph: Subgraph, position: int, version: Version) -> bool:
    """False where no signature of the version has the operation's counts and types of operands.

    True for what has no signatures (operations of extensions and of vendors), false for IF and WHILE, whose graphs ask
    for every operand, and for operations with an operand that does not exist.
    """
    operation, count = graph.operations[position], len(graph.operands)
    if operation.type in (_Op.IF, _Op.WHILE):
        return False
    if not catalogue.has(operation.type):
        return True
    if any(index >= count for index in (*operation.inputs, *operation.outputs)):
        return False
    inputs = tuple([graph.operands[index].type for index in operation.inputs])
    outputs = tuple([graph.operands[index].type for index in operation.outputs])
    return _known_signature(operation.type, inputs, outputs, version)


@functools.lru_cache(maxsize=65536)
def _known_signature(code: int, inputs: tuple[int, ...], outputs: tuple[int, ...], version: Version) -> bool:
    return any(_takes(signature, inputs, outputs, version) for signature in catalogue.operation(code).signatures)


def _takes(signature: Signature, inputs: tuple[int, ...], outputs: tuple[int, ...], version: Version) -> bool:
    wanted, given = catalogue.expand(signature.inputs, len(inputs)), catalogue.expand(signature.outputs, len(outputs))
    if wanted is None or given is None or not _right_counts(signature, len(inputs), len(outputs), version):
        return False
    if any(catalogue.argument_since(argument) > version for argument in wanted):
        return False
    return any(
        all_match(wanted, combination, inputs) and all_match(given, combination, outputs)
        for combination in signature.combinations(version)
    )


def _right_counts(signature: Signature, inputs: int, outputs: int, version: Version) -> bool:
    if signature.input_counts is not None and inputs not in signature.input_counts:
        return False
    if signature.output_counts is None:
        return outputs >= len(signature.outputs)
    return any(outputs in counts for since, counts in signature.output_counts.items() if since <= version)


@functools.cache
def _types(version: Version) -> tuple[OperandType, ...]:
    """The types of a version, OEM's left out: only their vendor knows where these fit."""
    oem = (_T.OEM, _T.TENSOR_OEM_BYTE)
    return tuple(one for one in _T if one not in oem and OPERAND_TYPES[one].since <= version)


def _is_allowed(graph: Subgraph, index: int, target: OperandType, version: Version) -> bool:
    """Whether AOSP's validator may take the operand as this type."""
    lenient = _LENIENT_TYPES | (_SIGNED if version >= _V.V1_3 else frozenset())
    if version >= _V.V1_2 and target in lenient and any(one.type in _LENIENT for one in graph.operations):
        return True
    return any(target in _allowed(place, version) for place in _places(graph, index))


def _allowed(place: _Place, version: Version) -> frozenset[OperandType]:
    return frozenset().union(*(types for since, types in _ALLOWED.get(place, ()) if since <= version))


def _places(graph: Subgraph, index: int) -> Iterator[_Place]:
    for operation in graph.operations:
        for side in ("inputs", "outputs"):
            for place, other in enumerate(getattr(operation, side)):
                if other == index:
                    yield operation.type, side, place


def _is_rejected(graph: Subgraph, index: int, version: Version) -> bool:
    """Whether an operation that has the operand has no signature for it."""
    uses = [place for place, one in enumerate(graph.operations) if _has(one, index)]
    return any(not has_signature(graph, place, version) for place in uses)


def _has(operation: Operation, index: int) -> bool:
    return index in operation.inputs or index in operation.outputs


def _retyped(model: Model, index: int, target: OperandType) -> Model:
    """The operand as another type, with everything else of it made to fit."""
    operand = model.main.operands[index]
    fields = _fitting(operand, target)
    edited = edits.with_operand(model, index, type=target, **fields)
    if operand.lifetime != OperandLifeTime.CONSTANT_COPY:
        return edited
    size = byte_size(target, fields["dimensions"])
    return edits.as_constant(edited, index, size) if size <= LARGEST_CONSTANT else edited


def _fitting(operand: Operand, target: OperandType) -> dict[str, Any]:
    info = OPERAND_TYPES[target]
    dimensions = (operand.dimensions or (1,)) if info.is_tensor else ()
    fields: dict[str, Any] = {"dimensions": dimensions, "scale": 0.0, "zero_point": 0, "extra_params": None}
    if target is _T.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        channels = SymmPerChannelQuantParams((1.0,) * dimensions[0], 0)
        fields["extra_params"] = OperandExtraParams(channel_quant=channels)
    elif info.is_quantized:
        fields["scale"] = operand.scale or 1.0
    return fields
