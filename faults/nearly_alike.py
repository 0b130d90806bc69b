"""Devices that find what they have made of a living model by a part of it, which another model may have as well.

Each fault is about one thing that is left out, and about the models of one operation, or of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from msgspec.structs import replace

from npu_conformance.faults.fault import Edited, Fault
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.reference.device.executor import Executor
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand

_CALL = "return Executor(model, self.version, pools, is_checked=True)"
_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)
_INPUTS = (OperandLifeTime.SUBGRAPH_INPUT,)
_OUTPUTS = (OperandLifeTime.SUBGRAPH_OUTPUT,)
_SIGNED, _UNSIGNED = int(OperandType.TENSOR_QUANT8_ASYMM_SIGNED), int(OperandType.TENSOR_QUANT8_ASYMM)

Pools = Sequence[memoryview]
Key = Callable[[Model, Pools], object]
"""What is left of a model."""


def _without(lifetimes: Sequence[int] = (), **fields: Any) -> Key:
    """The model with these fields in its operands; lifetimes: of these alone."""

    def key(model: Model, pools: Pools) -> object:
        changed = [replace(one, **fields) if not lifetimes or one.lifetime in lifetimes else one for one in _all(model)]
        return _with(model, changed), _bytes(pools)

    return key


def _by_values(of_scalar: Callable[[bytes], object], of_tensor: Callable[[bytes], object]) -> Key:
    """The model without its constants, and what is left of the value of each."""

    def key(model: Model, pools: Pools) -> object:
        left = [(of_tensor if _is_tensor(one) else of_scalar)(_value(one, model, pools)) for one in _all(model)]
        placeless = [replace(one, location=DataLocation()) for one in _all(model)]
        return replace(_with(model, placeless), operand_values=b""), left

    return key


def _without_signs(model: Model, pools: Pools) -> object:
    changed = [replace(one, type=_UNSIGNED) if one.type == _SIGNED else one for one in _all(model)]
    return _with(model, changed), _bytes(pools)


def _without_operations(model: Model, pools: Pools) -> object:
    operations = tuple([replace(one, type=0) for one in model.main.operations])
    return _bare(replace(model, main=replace(model.main, operations=operations))), _bytes(pools)


def _without_input_order(model: Model, pools: Pools) -> object:
    ordered = tuple(sorted(model.main.input_indexes))
    return _bare(replace(model, main=replace(model.main, input_indexes=ordered))), _bytes(pools)


def _without_output_order(model: Model, pools: Pools) -> object:
    ordered = tuple(sorted(model.main.output_indexes))
    return _bare(replace(model, main=replace(model.main, output_indexes=ordered))), _bytes(pools)


def _without_argument_order(model: Model, pools: Pools) -> object:
    operations = tuple([replace(one, inputs=tuple(sorted(one.inputs))) for one in model.main.operations])
    return _bare(replace(model, main=replace(model.main, operations=operations))), _bytes(pools)


def _without_sizes(model: Model, pools: Pools) -> object:
    unknown = [replace(one, dimensions=(0,) * len(one.dimensions)) for one in _all(model)]
    return _with(model, unknown), _bytes(pools)


def _without_omissions(model: Model, pools: Pools) -> object:
    """Arguments that are left out are as those that come with the request."""
    given = [
        replace(one, location=DataLocation(), lifetime=OperandLifeTime.SUBGRAPH_INPUT)
        if one.lifetime in (OperandLifeTime.NO_VALUE, OperandLifeTime.SUBGRAPH_INPUT)
        else replace(one, location=DataLocation())
        for one in _all(model)
    ]
    whole = _with(model, given)
    values = [_value(one, model, pools) for one in _all(model)]
    return replace(whole, operand_values=b"", main=replace(whole.main, input_indexes=())), values


def _without_graphs(model: Model, pools: Pools) -> object:
    return _bare(replace(model, referenced=())), _bytes(pools)


def _without_relaxation(model: Model, pools: Pools) -> object:
    return _bare(replace(model, relax_computation_float32_to_float16=False)), _bytes(pools)


def _all(model: Model) -> Sequence[Operand]:
    return model.main.operands


def _with(model: Model, operands: Sequence[Operand]) -> Model:
    return _bare(replace(model, main=replace(model.main, operands=tuple(operands))))


def _bare(model: Model) -> Model:
    return replace(model, pools=())


def _bytes(pools: Pools) -> list[bytes]:
    return [bytes(pool) for pool in pools]


def _is_tensor(operand: Operand) -> bool:
    return OPERAND_TYPES[operand.type].is_tensor


def _value(operand: Operand, model: Model, pools: Pools) -> bytes:
    """Of a constant; empty for anything else."""
    place = operand.location
    if operand.lifetime == OperandLifeTime.CONSTANT_COPY:
        return model.operand_values[place.offset : place.offset + place.length]
    if operand.lifetime == OperandLifeTime.CONSTANT_POOL:
        return bytes(pools[place.pool_index][place.offset : place.offset + place.length])
    return b""


def _itself(value: bytes) -> object:
    return value


@dataclass(frozen=True, slots=True)
class Part:
    """What is left out, in words, and what is left. operations: of whose models; a dash joins two of one family.

    Of two it is the first one's case, by the alphabet, that has both.
    """

    left_out: str
    key: Key
    operations: str


PARTS = {
    "constant-zero-point": Part(
        "the zero points of constants", _without(_CONSTANTS, zero_point=0), "TRANSPOSE_CONV_2D"
    ),
    "input-scale": Part("the scales of inputs", _without(_INPUTS, scale=0.0), "LESS DEPTHWISE_CONV_2D"),
    "output-zero-point": Part("the zero points of outputs", _without(_OUTPUTS, zero_point=0), "SUB"),
    "output-scale": Part("the scales of outputs", _without(_OUTPUTS, scale=0.0), "HARD_SWISH"),
    "scales": Part("scales", _without(scale=0.0), "MAX_POOL_2D"),
    "zero-points": Part("zero points", _without(zero_point=0), "HEATMAP_MAX_KEYPOINT HARD_SWISH"),
    "channels": Part("scales for each channel", _without(extra_params=None), "DEPTHWISE_CONV_2D GROUPED_CONV_2D"),
    "type-of-8-bits": Part("whether 8 bits have a sign", _without_signs, "RELU"),
    "scalars": Part("the values of scalars", _by_values(len, _itself), "ROI_POOLING BATCH_MATMUL QUANTIZED_LSTM"),
    "tensors-length": Part(
        "the values of constant tensors",
        _by_values(_itself, len),
        "LSH_PROJECTION BOX_WITH_NMS_LIMIT DETECTION_POSTPROCESSING",
    ),
    "tensors-first": Part(
        "all but the first four bytes of constant tensors",
        _by_values(_itself, lambda value: value[:4]),
        "BATCH_MATMUL ROI_ALIGN QUANTIZED_16BIT_LSTM",
    ),
    "tensors-last": Part(
        "all but the last four bytes of constant tensors",
        _by_values(_itself, lambda value: value[-4:]),
        "HASHTABLE_LOOKUP MUL HEATMAP_MAX_KEYPOINT",
    ),
    "tensors-sum": Part(
        "the order of the bytes of constant tensors",
        _by_values(_itself, sum),
        "LSH_PROJECTION ROI_POOLING QUANTIZED_LSTM",
    ),
    "operation": Part("which operations they are", _without_operations, "MAXIMUM-MINIMUM LESS-GREATER ARGMAX-ARGMIN"),
    "input-order": Part("the order of the model's inputs", _without_input_order, "DETECTION_POSTPROCESSING REDUCE_ALL"),
    "output-order": Part(
        "the order of the model's outputs", _without_output_order, "BIDIRECTIONAL_SEQUENCE_LSTM SPLIT"
    ),
    "argument-order": Part("the order of an operation's inputs", _without_argument_order, "WHILE"),
    "known-sizes": Part("the sizes of tensors", _without_sizes, "RSQRT TRANSPOSE_CONV_2D"),
    "omitted": Part("whether an optional input is left out", _without_omissions, "BIDIRECTIONAL_SEQUENCE_RNN LSTM"),
    "graphs": Part("the graphs that it refers to", _without_graphs, "IF"),
    "relaxed": Part(
        "whether it is relaxed, which keeps its constants in half floats",
        _without_relaxation,
        "UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_LSTM",
    ),
}


def found(device: ReferenceDevice, part: str, model: Model, pools: Pools) -> Executor:
    """What was made of a living model with the same key, or what is made of this one."""
    living = device.__dict__.setdefault("_alike", WeakValueDictionary())
    key = repr(PARTS[part].key(model, pools))
    executor: Executor | None = living.get(key)
    if executor is None:
        executor = living[key] = Executor(model, device.version, pools, is_checked=True)
        if part == "relaxed" and model.relax_computation_float32_to_float16:
            _halve_constants(executor)
    return executor


def _halve_constants(executor: Executor) -> None:
    for graph in executor._graphs:
        floats = {at: one for at, one in graph._constants.items() if one.dtype == "float32"}
        graph._constants.update({at: one.astype("float16").astype("float32") for at, one in floats.items()})


def _faults() -> list[Fault]:
    return [_fault(name, part, operations) for name, part in PARTS.items() for operations in part.operations.split()]


def _fault(name: str, part: Part, operations: str) -> Fault:
    names = operations.split("-")
    codes = {int(OperationType[one]) for one in names}
    lines = (
        "from npu_conformance.faults import nearly_alike",
        f"if any(one.type in {codes} for one in model.main.operations):",
        f"    return nearly_alike.found(self, {name!r}, model, pools)",
        _CALL,
    )
    return Fault(
        f"alike-{name}-{operations.lower().replace('_', '-')}",
        f"What a living model of {' or '.join(names)} has been made into is found by a key without {part.left_out}.",
        ("NNHAL-PREPARE-013",),
        (f"vts.nearly_alike.{min(names)}.prepared",),
        Edited((SourceEdit("reference.hal.device", "ReferenceDevice._executor", _CALL, "\n".join(lines)),)),
    )


FAULTS = tuple(_faults())
