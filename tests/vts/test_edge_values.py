"""Values at the edges of their types: which operations have them, and that models stay legal."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.edge_values import EDGES, edge_vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST
from npu_conformance.vts import edge_values as area


def test_each_operation_has_a_case_where_there_are_edges() -> None:
    listed = {case.operations[0] for case in area.cases()}
    assert listed == {name for name in vectors.operations() if any(edge_vectors(name, NEWEST))}


@pytest.mark.parametrize("operation", ["ADD", "CONV_2D", "LSTM", "EQUAL"])
def test_models_are_valid(operation: str) -> None:
    for vector in edge_vectors(operation, NEWEST):
        assert validate_model(build_model(vector, NEWEST).model, NEWEST) == []


def test_every_edge_is_there_in_two_operands_at_once() -> None:
    found = {vector.name.partition(".")[2]: vector for vector in edge_vectors("ADD", NEWEST)}
    assert set(found) == set(EDGES)
    first, second = found["zeros"].examples[0].inputs.values()
    both_zero = (first == 0) & (second == 0)
    assert (numpy.signbit(first) != numpy.signbit(second))[both_zero].any()
    first, second = found["extremes"].examples[0].inputs.values()
    limits = numpy.iinfo(first.dtype)
    assert {limits.min, limits.max} <= set(first.flat) & set(second.flat)
    kinds = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    for name, allowed in (("lowest_zero_points", {0, -128}), ("highest_zero_points", {255, 127})):
        assert {one.zero_point for one in found[name].operands.values() if one.type in kinds} <= allowed
