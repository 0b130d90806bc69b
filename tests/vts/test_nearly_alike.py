"""Models that are nearly alike: two of an operation differ in what their name says, and in their results."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.twins import Twins, twins
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST
from npu_conformance.vts import nearly_alike

FOUND = {
    "MUL": {"zero_point_of_input0", "scale_of_output", "input1_first", "activation", "operation_SUB", "type_of_8_bits"},
    "CONV_2D": {"scale_of_filter_and_bias", "scales_of_channels", "filter_order", "stride_width", "relaxed"},
    "SELECT": {"order_of_inputs", "input_true_for_input_false", "zero_point_of_all"},
    "ROI_ALIGN": {"rois_first", "rois_last", "rois_order"},
    "BOX_WITH_NMS_LIMIT": {"rois_all"},
    "SVDF": {"omitted_bias", "order_of_outputs", "activation"},
    "CAST": {"type_of_output", "type_of_32_bits"},
    "IF": {"graphs", "a_for_b"},
    "WHILE": {"order_of_inputs"},
}
"""Some of what two models of an operation differ in."""


def _pairs(operation: str) -> dict[str, Twins]:
    return {pair.name: pair for pair in twins(operation, NEWEST)}


def _model(vector: Vector) -> Model:
    return build_model(vector, NEWEST).model


def test_every_operation_of_known_results_has_a_case() -> None:
    subjects = {case.id.split(".")[2] for case in nearly_alike.cases()}
    assert subjects == {*vectors.operations()} - {"RANDOM_MULTINOMIAL"}


@pytest.mark.parametrize("operation", FOUND)
def test_two_models_are_valid_and_told_apart_by_results(operation: str) -> None:
    pairs = _pairs(operation)
    assert FOUND[operation] <= pairs.keys()
    for name, one, other in pairs.values():
        assert not validate_model(_model(one), NEWEST), name
        assert not validate_model(_model(other), NEWEST), name
        assert _model(one) != _model(other), name
        orders = (one.inputs, one.outputs) != (other.inputs, other.outputs)
        results = [[vector.examples[0].outputs[at].tobytes() for at in one.outputs] for vector in (one, other)]
        assert orders or name == "relaxed" or results[0] != results[1], name


def test_what_a_pair_is_named_for_is_all_that_differs() -> None:
    pairs = _pairs("MUL")
    for name, field in (("zero_point_of_input0", "zero_point"), ("scale_of_output", "scale")):
        one, other = _model(pairs[name].one), _model(pairs[name].other)
        pairs_of_operands = zip(one.main.operands, other.main.operands, strict=True)
        ((mine, its),) = [pair for pair in pairs_of_operands if pair[0] != pair[1]]
        assert [at for at in mine.__struct_fields__ if getattr(mine, at) != getattr(its, at)] == [field]
        assert one.operand_values == other.operand_values


def test_a_relaxed_twin_is_of_constants_that_half_floats_do_not_hold() -> None:
    one, other = _pairs("CONV_2D")["relaxed"][1:]
    assert (one.relaxed, other.relaxed) == (False, True)
    operands = [at for at in one.operands.values() if at.type == OperandType.TENSOR_FLOAT32]
    floats = [at.value for at in operands if at.value is not None]
    assert floats
    assert any((array.astype(numpy.float16) != array).any() for array in floats)
