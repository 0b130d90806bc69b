"""What the interpreter of plans keeps in memory does not grow with the rounds of a loop, nor with a driver's lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from reference_driver import Clock, LocalMemory
from runtime_plans import Graph

from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.graph_plan import GraphPlan, PartStep, WhileStep
from npu_conformance.reference.runtime.planning.interpreter import Interpreter, StepFailed
from npu_conformance.reference.runtime.planning.parts import NO_TIMING
from npu_conformance.reference.runtime.planning.pools import LocalPools
from npu_conformance.reference.runtime.planning.values import Scratch
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import OutputShape

BOOL = OperandType.TENSOR_BOOL8
NO_PART: Any = None
"""What the scripted engine computes."""


class Engine:
    """Computes parts as the test says, and counts them."""

    def __init__(self) -> None:
        self.scratch = Scratch(LocalPools(LocalMemory()))
        self.calls = 0

    def settle(self) -> None:
        """Everything is computed at once."""

    def run(self, plan: GraphPlan) -> int:
        """Run a plan of one input and one output; return how many pools it made."""
        places = [self.scratch.hold(bytes(24), (2, 3)) for _ in range(2)]
        Interpreter(self, self.scratch, Clock(), 0, allows_empty=False).execute(plan, places[:1], places[1:])
        return len(self.scratch._made)

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        raise NotImplementedError


class Greedy(Engine):
    """A driver that wants one element more each time."""

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        self.calls += 1
        assert self.calls < 100
        shape = OutputShape((1, outputs[0].length // 4 + 1), False)
        return Outcome(ResultCode.OUTPUT_INSUFFICIENT_SIZE, (shape,), NO_TIMING, NO_TIMING)


def test_a_temporary_for_which_the_driver_wants_ever_more_fails_the_step() -> None:
    graph = Graph()
    one = graph.add(OperationType.FLOOR, graph.input(), shape=(0, 0))
    graph.add(OperationType.FLOOR, one, is_output=True)
    plan = GraphPlan(graph.built(), (PartStep(NO_PART, (0,), (one,)),), (one,), frozenset({one}))
    greedy = Greedy()
    with pytest.raises(StepFailed) as failed:
        greedy.run(plan)
    assert failed.value.outcome.result == ResultCode.OUTPUT_INSUFFICIENT_SIZE
    assert greedy.calls == 2


class Rounds(Engine):
    """Conditions of an outer loop hold so often, those of the one in it never."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self._left = rounds

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        self._left -= step is OUTER
        goes_on = step is OUTER and self._left >= 0
        memory = outputs[0].memory
        assert memory is not None
        self.scratch.pools.map(memory)[outputs[0].offset] = goes_on
        return Outcome(ResultCode.NO_ERROR, (OutputShape((1,), True),), NO_TIMING, NO_TIMING)


OUTER, INNER = PartStep(NO_PART, (0,), (1,)), PartStep(NO_PART, (0,), (1,))


def condition(step: PartStep) -> GraphPlan:
    graph = Graph()
    graph.add(OperationType.FLOOR, graph.input(), is_output=True, shape=(1,), type=BOOL)
    return GraphPlan(graph.built(), (step,))


def loop(step: PartStep, body: GraphPlan) -> GraphPlan:
    """A graph of one loop."""
    graph = Graph()
    graph.add(OperationType.FLOOR, graph.input(), is_output=True)
    return GraphPlan(graph.built(), (WhileStep(condition(step), body, (0,), (1,)),))


def test_a_loop_in_a_loop_makes_as_many_pools_whatever_its_rounds() -> None:
    graph = Graph()
    graph.add(OperationType.FLOOR, graph.input(), is_output=True)
    plan = loop(OUTER, loop(INNER, GraphPlan(graph.built(), ())))
    assert Rounds(3).run(plan) == Rounds(30).run(plan)
