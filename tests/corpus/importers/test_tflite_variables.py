"""Resource variables: each becomes an input and an output of the model, with the value that CALL_ONCE gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

import tflite_runs
from tflite_files import File, Graph

from npu_conformance.corpus.importers.tflite.errors import UnsupportedModelError
from npu_conformance.corpus.importers.tflite.importing import import_model

ROW = ("FLOAT32", (1, 3))


def handle(graph: Graph, name: str) -> int:
    return graph.operator("VAR_HANDLE", [], ("RESOURCE", ()), "VarHandle", sharedName=name)


def initialised(values: dict[str, Any]) -> File:
    """A file whose first operator gives variables their values."""
    file = File()
    first = file.graph()
    for name, value in values.items():
        given = first.tensor(*ROW, value=value)
        first.apply("ASSIGN_VARIABLE", [handle(first, name), given], [], "AssignVariable")
    file.main.apply("CALL_ONCE", [], [], "CallOnce", initSubgraphIndex=1)
    return file


def accumulator() -> bytes:
    """Gives the sum of all inputs so far, beginning with 1, 2, 3."""
    file = initialised({"sum": [[1, 2, 3]]})
    graph = file.main
    variable, given = handle(graph, "sum"), graph.input(*ROW)
    before = graph.operator("READ_VARIABLE", [variable], ROW, "ReadVariable")
    after = graph.operator("ADD", [before, given], ROW, "Add")
    graph.apply("ASSIGN_VARIABLE", [variable, after], [], "AssignVariable")
    return file.pack(after)


def test_a_variable_keeps_its_value_from_run_to_run() -> None:
    flatbuffer = accumulator()
    model = import_model(flatbuffer, "made.tflite")
    (state,) = model.states
    assert state.initial.tolist() == [[1, 2, 3]]
    assert model.vector.inputs == (model.inputs[0].operand, state.input)
    assert model.vector.outputs == (model.outputs[0].operand,)
    assert state.output == model.outputs[0].operand
    runs = [[np.array([[at, -at, 0.5]], np.float32)] for at in (1, 10, 100)]
    assert [one[0].tolist() for one in tflite_runs.on_reference(model, runs)] == [
        [[2, 1, 3.5]],
        [[12, -9, 4]],
        [[112, -109, 4.5]],
    ]
    for found, wanted in zip(
        tflite_runs.on_reference(model, runs), tflite_runs.in_litert(flatbuffer, runs), strict=True
    ):
        np.testing.assert_array_equal(found[0], wanted[0])


def test_what_is_read_behind_an_assignment_is_what_was_assigned() -> None:
    """It needs no state; neither does a variable that nothing assigns, nor one that nothing reads."""
    file = initialised({"one": [[9, 9, 9]], "constant": [[1, 2, 3]], "unread": [[5, 5, 5]]})
    graph = file.main
    given = graph.input(*ROW)
    graph.apply("ASSIGN_VARIABLE", [handle(graph, "one"), given], [], "AssignVariable")
    graph.apply("ASSIGN_VARIABLE", [handle(graph, "unread"), given], [], "AssignVariable")
    read = [graph.operator("READ_VARIABLE", [handle(graph, name)], ROW, "ReadVariable") for name in ("one", "constant")]
    flatbuffer = file.pack(graph.operator("ADD", read, ROW, "Add"))
    model = import_model(flatbuffer, "made.tflite")
    assert model.states == ()
    runs = [[np.array([[4, 5, 6]], np.float32)]]
    assert tflite_runs.on_reference(model, runs)[0][0].tolist() == [[5, 7, 9]]
    assert tflite_runs.in_litert(flatbuffer, runs)[0][0].tolist() == [[5, 7, 9]]


def test_a_variable_that_takes_the_input_itself_gets_a_copy() -> None:
    """An input cannot be an output of NNAPI's models."""
    file = initialised({"last": [[7, 8, 9]]})
    graph = file.main
    variable, given = handle(graph, "last"), graph.input(*ROW)
    before = graph.operator("READ_VARIABLE", [variable], ROW, "ReadVariable")
    graph.apply("ASSIGN_VARIABLE", [variable, given], [], "AssignVariable")
    flatbuffer = file.pack(before)
    model = import_model(flatbuffer, "made.tflite")
    runs = [[np.array([[at, 2, 3]], np.float32)] for at in (1, 2, 3)]
    found = tflite_runs.on_reference(model, runs)
    assert [one[0].tolist() for one in found] == [[[7, 8, 9]], [[1, 2, 3]], [[2, 2, 3]]]


def test_a_variable_without_a_first_value_is_named() -> None:
    file = File()
    graph = file.main
    read = graph.operator("READ_VARIABLE", [handle(graph, "lost")], ROW, "ReadVariable")
    flatbuffer = file.pack(graph.operator("ADD", [read, graph.input(*ROW)], ROW, "Add"))
    with pytest.raises(UnsupportedModelError, match="operator 1 READ_VARIABLE of subgraph 0: variable 'lost' is read"):
        import_model(flatbuffer, "made.tflite")


def test_a_subgraph_that_calls_itself_is_not_followed() -> None:
    file = File()
    first = file.graph()
    first.apply("CALL_ONCE", [], [], "CallOnce", initSubgraphIndex=1)
    graph = file.main
    graph.apply("CALL_ONCE", [], [], "CallOnce", initSubgraphIndex=1)
    flatbuffer = file.pack(graph.operator("ABS", [graph.input(*ROW)], ROW))
    with pytest.raises(UnsupportedModelError, match="operator 0 CALL_ONCE of subgraph 1"):
        import_model(flatbuffer, "made.tflite")
