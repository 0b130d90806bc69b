"""IF and WHILE in LiteRT: its own operators, and loops that come to an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from npu_conformance.adapters.litert_runtime import INSTALL_HINT
from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Graph, Vector, VectorOperation
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.device.executor import UNLIMITED, Limits
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason=INSTALL_HINT)

from npu_conformance.adapters.engine_executor import EngineExecutor
from npu_conformance.adapters.engine_support import obstacles
from npu_conformance.adapters.engine_witness import litert as witness
from npu_conformance.adapters.litert_engine import FIRST_ROUNDS, LiteRtEngine
from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.calls import callees
from npu_conformance.adapters.lowering.model import lower
from npu_conformance.adapters.lowering.operations import LOWERINGS

ENGINE = LiteRtEngine("reference")

ENDLESS = 2**31 - 1
"""A bound that no run of a test reaches."""


def summing() -> Vector:
    """sum += count; count += 1; while count < bound, of int32."""
    return vectors.load("WHILE", "int32_4_rounds")


def run_loop(bound: int, limits: Limits) -> list[Any]:
    """The sum of the numbers below the bound, and 3."""
    vector = summing()
    executor = EngineExecutor(build_model(vector, vector.since).model, vector.since, (), ENGINE)
    values = dict(vector.examples[0].inputs) | {"bound": np.array([bound], np.int32)}
    return [output.tolist() for output in executor.run([values[name] for name in vector.inputs], limits)]


def running_out(checks: int) -> Limits:
    """Limits whose time for loops is over at the check of that number."""
    left = iter(range(checks))

    def check() -> None:
        if next(left, None) is None:
            raise ServiceError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, "over")

    return Limits(checkpoint=lambda: None, begin_loop=lambda: check)


@pytest.mark.parametrize("rounds", [FIRST_ROUNDS - 1, FIRST_ROUNDS, FIRST_ROUNDS + 1, 50 * FIRST_ROUNDS])
def test_a_loop_makes_all_of_its_rounds(rounds: int) -> None:
    assert run_loop(rounds, UNLIMITED) == [[3 + rounds * (rounds - 1) // 2]]


def test_a_loop_that_ends_soon_asks_for_no_time() -> None:
    assert run_loop(3, running_out(0)) == [[6]]


@pytest.mark.parametrize("checks", [0, 5])
def test_a_loop_ends_with_its_time(checks: int) -> None:
    with pytest.raises(ServiceError) as raised:
        run_loop(ENDLESS, running_out(checks))
    assert raised.value.status == ErrorStatus.MISSED_DEADLINE_TRANSIENT


@pytest.mark.parametrize(("operation", "name"), [("IF", "nested_then_else"), ("WHILE", "nested")])
def test_graphs_are_those_of_the_tflite(operation: str, name: str) -> None:
    """One graph for main and one for each place that refers to one: the nested models refer to four from two places."""
    vector = vectors.load(operation, name)
    model = build_model(vector, vector.since).model
    given = {index: vector.operands[vector.inputs[place]] for place, index in enumerate(model.main.input_indexes)}
    shapes = {index: operand.dimensions for index, operand in given.items()}
    lowered = lower(model.main, {}, shapes, callees=callees(model, vector.since, ()))
    found = schema().ModelT.InitFromObj(schema().Model.GetRootAsModel(lowered.flatbuffer, 0))
    assert len(found.subgraphs) == 1 + len(vector.referenced)
    assert getattr(schema().BuiltinOperator, operation) in [code.builtinCode for code in found.operatorCodes]


def test_a_loop_without_end_is_tried_and_supported() -> None:
    """Its condition is that the bound equals itself."""
    vector = summing()
    condition, body = vector.referenced
    (less,) = condition.operations
    endless = replace(condition, operations=(replace(less, type="EQUAL", inputs=("bound", "bound")),))
    vector = replace(vector, referenced=(endless, body))
    model = build_model(vector, vector.since).model
    assert obstacles(model, vector.since, (), ENGINE) == [None]


def test_branches_of_different_sizes_are_not_supported() -> None:
    vector = vectors.load("IF", "unknown_sizes_in_branches_then")
    expanding = _expanded(vector.referenced[1])
    vector = replace(vector, referenced=(vector.referenced[0], expanding))
    model = build_model(vector, vector.since).model
    (obstacle,) = obstacles(model, vector.since, (), ENGINE)
    assert obstacle is not None
    assert "different shapes" in obstacle


def _expanded(graph: Graph) -> Graph:
    """The graph with MUL of x by a constant of one more axis in place of what it computes."""
    wide = replace(graph.operands["x"], dimensions=(2, 1, 1), value=np.ones((2, 1, 1), np.float32))
    result = replace(graph.operands["result"], dimensions=())
    operations = (VectorOperation("MUL", ("x", "wide", "none"), ("result",)),)
    return replace(graph, operands={**graph.operands, "wide": wide, "result": result}, operations=operations)


def test_an_operation_of_a_branch_that_is_not_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    vector = vectors.load("IF", "float32_condition_0")
    assert witness(vector, vector.examples[0]) is not None
    monkeypatch.delitem(LOWERINGS, OperationType.SUB)
    assert witness(vector, vector.examples[0]) is None
    model = build_model(vector, vector.since).model
    (obstacle,) = obstacles(model, vector.since, (), ENGINE)
    assert obstacle is not None
    assert "not lowered" in obstacle
