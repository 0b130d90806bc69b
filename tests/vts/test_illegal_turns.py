"""Legal and illegal requests of one model: which operations have them, and what is illegal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npu_conformance.corpus import illegal_turns, vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts import illegal_turns as area

Find = Callable[[str, Version], list[Vector]]


@pytest.mark.parametrize("kind", area.KINDS, ids=[kind.name for kind in area.KINDS])
def test_each_operation_that_is_listed_has_illegal_requests_of_a_valid_model(kind: area.Kind) -> None:
    found = {name: kind.find(name, NEWEST) for name in vectors.operations()}
    assert {name for name, models in found.items() if models} == {name for name in found if kind.has(name)}
    for vector in (one for models in found.values() for one in models):
        assert validate_model(build_model(vector, NEWEST).model, NEWEST) == []
        legal, *illegal = vector.examples
        assert illegal_turns.broken(vector, legal.inputs, NEWEST) == []
        assert illegal
        assert all(not example.outputs for example in illegal)


@pytest.mark.parametrize("find", [illegal_turns.illegal_shapes, illegal_turns.illegal_values])
def test_one_input_alone_breaks_a_clause(find: Find) -> None:
    for operation in ("ADD", "CONV_2D", "CONCATENATION", "SPACE_TO_BATCH_ND"):
        for vector in find(operation, NEWEST):
            legal, *illegal = vector.examples
            for example in illegal:
                given = example.inputs.items()
                changed = [name for name, array in given if array.tobytes() != legal.inputs[name].tobytes()]
                reshaped = [name for name, array in given if array.shape != legal.inputs[name].shape]
                assert len({*changed, *reshaped}) == 1
                assert illegal_turns.broken(vector, example.inputs, NEWEST)


def test_each_tensor_of_an_operation_gets_an_illegal_shape() -> None:
    whole = illegal_turns.illegal_shapes("CONV_2D", NEWEST)[1]
    legal, *illegal = whole.examples
    changed = {name for one in illegal for name in legal.inputs if one.inputs[name].shape != legal.inputs[name].shape}
    assert changed == {"input", "filter", "bias"}


def test_the_sizes_of_the_outputs_are_open() -> None:
    for find in (illegal_turns.illegal_shapes, illegal_turns.illegal_values):
        vector = find("SPLIT", NEWEST)[0]
        assert all(set(vector.operands[name].dimensions) == {0} for name in vector.outputs)


def test_what_android_takes_is_not_asked_for() -> None:
    assert illegal_turns.illegal_shapes("LSTM", NEWEST) == []


def test_a_required_input_is_left_out() -> None:
    (_, *others) = illegal_turns.left_out("SELECT", NEWEST)[0].examples
    assert [set(one.inputs) for one in others] == [
        {"input_true", "input_false"},
        {"condition", "input_false"},
        {"condition", "input_true"},
    ]
