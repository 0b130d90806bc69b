"""Rules of the LSTM operations: operands that belong together, known, omitted or still open."""

from __future__ import annotations

import math

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.operation_view import OperationView, view_of
from npu_conformance.specs.versions import NEWEST

SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"
PEEPHOLES = {name: f"cell_to_{name}" for name in ("input", "forget", "output")}


def at_execution(vector: Vector, *omitted: str) -> OperationView:
    """The view of the first operation with a request; omitted: inputs that it leaves out beside the vector's own."""
    operation = vector.operations[0]
    model = build_model(vector, NEWEST).model
    given = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    given.update(vector.examples[0].inputs)
    known = {place: given[name] for place, name in enumerate(operation.inputs) if name in given and name not in omitted}
    wire = model.main.operations[0]
    return OperationView(
        wire,
        NEWEST,
        [model.main.operands[index] for index in wire.inputs],
        [model.main.operands[index] for index in wire.outputs],
        shapes={place: array.shape for place, array in known.items()},
        values=known,
        omitted=frozenset(range(len(operation.inputs))) - known.keys(),
    )


def broken(vector: Vector, *omitted: str) -> list[str]:
    return [violation.clause for violation in rules.check(at_execution(vector, *omitted))]


def with_peepholes() -> Vector:
    return next(
        vectors.load(SEQUENCE, header.name)
        for header in vectors.headers(SEQUENCE)
        if "_peephole" in header.name and "cifg" not in header.name
    )


@pytest.mark.parametrize(
    ("omitted", "clauses"),
    [
        ((), []),
        (("input",), ["C4"]),
        (("forget",), ["C3"]),
        (("output",), ["C3"]),
        (("forget", "output"), ["C4"]),
        (("input", "forget", "output"), []),
    ],
)
def test_peepholes_come_together(omitted: tuple[str, ...], clauses: list[str]) -> None:
    found = broken(with_peepholes(), *(PEEPHOLES[name] for name in omitted))
    assert found == [f"{SEQUENCE}.{number}" for number in clauses]


def test_a_peephole_of_an_input_gate_that_is_not_there_is_ignored() -> None:
    gate = ("input_to_input", "recurrent_to_input", "input_gate_bias", "input_layer_norm_weights")
    assert broken(with_peepholes(), *gate) == []


def test_nothing_is_wrong_while_a_request_may_decide() -> None:
    vector = vectors.load("LSTM", "refused_input_gate_bias_omitted_in_request")
    model = build_model(vector, NEWEST).model
    assert rules.check(view_of(model, 0, NEWEST)) == []
    assert broken(vector) == ["LSTM.C2"]


def test_the_scratch_buffer_is_open_while_the_input_gate_is() -> None:
    vector = vectors.load("LSTM", "omitted_in_request_cifg")
    model = build_model(vector, NEWEST).model
    assert rules.output_shapes(view_of(model, 0, NEWEST)) == ((2, 0), (2, 3), (2, 4), (2, 3))
    assert rules.output_shapes(at_execution(vector)) == ((2, 12), (2, 3), (2, 4), (2, 3))


@pytest.mark.parametrize(
    ("place", "value", "clauses"),
    [
        (24, -0.5, ["C12"]),
        (25, math.nan, ["C12"]),
        (24, math.inf, []),
        (26, 0.0, ["C13"]),
        (31, -0.0, ["C13"]),
    ],
)
def test_clips_and_scales_of_the_quantised_cell(place: int, value: float, clauses: list[str]) -> None:
    header = next(one for one in vectors.headers("QUANTIZED_LSTM") if one.rejected is None)
    vector = vectors.load("QUANTIZED_LSTM", header.name)
    name = vector.operations[0].inputs[place]
    changed = replace(vector.operands[name], value=numpy.array(value, numpy.float32))
    found = broken(replace(vector, operands={**vector.operands, name: changed}))
    assert found == [f"QUANTIZED_LSTM.{number}" for number in clauses]
