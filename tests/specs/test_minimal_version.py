"""The oldest version of a model follows from its types, fields, signatures and the rules of its operations."""

from __future__ import annotations

import msgspec
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version, without_trailing_defaults
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    Operand,
    Operation,
    Subgraph,
)
from npu_conformance.specs.versions import Version

FLOAT, QUANT = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
EXTENSION = 0x10005


def unary(operation: int, kind: int = FLOAT, *constants: Operand, scale: float = 0.0, zero_point: int = 0) -> Model:
    """A model of one operation from a tensor [2] to a tensor of the same type, with constants between them."""
    first = Operand(kind, (2,), scale, zero_point, OperandLifeTime.SUBGRAPH_INPUT)
    last = msgspec.structs.replace(first, lifetime=OperandLifeTime.SUBGRAPH_OUTPUT)
    inputs = tuple(range(1 + len(constants)))
    operands = (first, *constants, last)
    graph = Subgraph(operands, (Operation(operation, inputs, (len(inputs),)),), (0,), (len(inputs),))
    return Model(graph, operand_values=bytes(8))


PADDINGS = Operand(
    OperandType.TENSOR_INT32, (1, 2), lifetime=OperandLifeTime.CONSTANT_COPY, location=DataLocation(0, 0, 8)
)
RELU = unary(OperationType.RELU)


@pytest.mark.parametrize(
    ("model", "version"),
    [
        (RELU, Version.V1_0),
        (unary(OperationType.ABS), Version.V1_2),
        (unary(OperationType.PAD, FLOAT, PADDINGS), Version.V1_1),
        (unary(OperationType.TANH, QUANT, scale=1 / 128, zero_point=128), Version.V1_2),
        (unary(OperationType.RELU, SIGNED, scale=0.5), Version.V1_3),
        (unary(OperationType.RSQRT, QUANT, scale=0.5), Version.FL7),
        (msgspec.structs.replace(RELU, relax_computation_float32_to_float16=True), Version.V1_1),
        (msgspec.structs.replace(RELU, extension_name_to_prefix=(ExtensionNameAndPrefix("a.b", 1),)), Version.V1_2),
        (msgspec.structs.replace(RELU, referenced=(RELU.main,)), Version.V1_3),
        (msgspec.structs.replace(RELU, pools=(Memory("mappableFile", 8, token=1),)), Version.V1_0),
    ],
)
def test_minimal_version(model: Model, version: Version) -> None:
    assert minimal_version(model) is version


def test_an_extension_needs_1_2() -> None:
    mapped = unary(EXTENSION, EXTENSION)
    model = msgspec.structs.replace(mapped, extension_name_to_prefix=(ExtensionNameAndPrefix("a.b", 1),))
    assert minimal_version(model) is Version.V1_2


def test_rules_of_operations_count() -> None:
    assert minimal_version(unary(OperationType.PAD, QUANT, PADDINGS, scale=1.0)) is Version.V1_1
    assert minimal_version(unary(OperationType.PAD, QUANT, PADDINGS, scale=1.0, zero_point=3)) is Version.V1_2


def test_a_model_of_no_version_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no version has this model: MODEL\.O4"):
        minimal_version(unary(OperationType.RELU, QUANT, scale=0.0))


@pytest.mark.parametrize(
    ("operation", "name", "whole", "stripped"),
    [
        ("CONV_2D", "float32_wide_tails_stride1x1_nhwc_dilation1x1_relu", Version.V1_2, Version.V1_0),
        ("CONV_2D", "float32_wide_uneven_stride1x1_nhwc_dilation2x1_relu6", Version.V1_2, Version.V1_2),
        ("CONV_2D", "float16_wide_uneven_stride1x1_nchw", Version.V1_2, Version.V1_2),
        ("ADD", "float32_none_same", Version.V1_0, Version.V1_0),
        ("IF", "float32_condition_0", Version.V1_3, Version.V1_3),
    ],
)
def test_a_framework_strips_trailing_defaults_and_a_driver_does_not(
    operation: str, name: str, whole: Version, stripped: Version
) -> None:
    model = build_model(vectors.load(operation, name), Version.FL8).model
    assert minimal_version(model) is whole
    assert minimal_version(without_trailing_defaults(model)) is stripped


def test_a_default_that_a_request_gives_is_not_stripped() -> None:
    model = build_model(
        vectors.load("CONV_2D", "float32_wide_tails_stride1x1_nhwc_dilation1x1_relu"), Version.FL8
    ).model
    last = model.main.operations[0].inputs[-1]
    operands = list(model.main.operands)
    operands[last] = msgspec.structs.replace(
        operands[last], lifetime=OperandLifeTime.SUBGRAPH_INPUT, location=DataLocation()
    )
    opened = msgspec.structs.replace(model, main=msgspec.structs.replace(model.main, operands=tuple(operands)))
    assert without_trailing_defaults(opened) == opened
