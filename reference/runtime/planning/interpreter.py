"""Runs the plan of a graph: its steps one after the other, IF and WHILE by what their conditions say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.graph_plan import GraphPlan, IfStep, PartStep, WhileStep
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, failure
from npu_conformance.reference.runtime.planning.values import Scratch, read_bytes, write_bytes
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    DEFAULT_LOOP_TIMEOUT_NS,
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.neuralnetworks.types import OutputShape, Subgraph
from npu_conformance.specs.plugin import Clock

Places = dict[int, Argument]
"""Where the operands of a graph lie, by index."""


class StepFailed(Exception):
    """A step failed. outcome: of the step; falls_back: whether the whole model may be tried on the CPU."""

    def __init__(self, outcome: Outcome, *, falls_back: bool) -> None:
        super().__init__(outcome.result.name)
        self.outcome, self.falls_back = outcome, falls_back


class Engine(Protocol):
    """Has parts computed."""

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        """Compute a part; the result is NO_ERROR or OUTPUT_INSUFFICIENT_SIZE. Raises StepFailed."""
        ...

    def settle(self) -> None:
        """Wait until everything that was computed can be read. Raises StepFailed."""
        ...


class Interpreter:
    """Runs one execution. loop_timeout_ns: 0 for the default. allows_empty: R alone passes on empty temporaries."""

    def __init__(
        self, engine: Engine, scratch: Scratch, clock: Clock, loop_timeout_ns: int, *, allows_empty: bool
    ) -> None:
        self._engine, self._scratch, self._clock = engine, scratch, clock
        self._loop_timeout_ns = min(loop_timeout_ns or DEFAULT_LOOP_TIMEOUT_NS, MAXIMUM_LOOP_TIMEOUT_NS)
        self._allows_empty = allows_empty
        self._temporaries: dict[GraphPlan, Places] = {}
        """Of each graph, used again in each round of a loop."""
        self._rounds: dict[WhileStep, tuple[list[Argument], list[Argument], list[Argument]]] = {}
        self._main: GraphPlan | None = None

    def execute(self, plan: GraphPlan, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> list[Argument]:
        """Run the main graph; returns the places of its outputs with their real shapes. Raises StepFailed."""
        self._main = plan
        try:
            return self._run(plan, inputs, outputs)
        except ServiceError as error:  # a value that is read here lies in memory that cannot be mapped
            raise StepFailed(failure(ResultCode.OP_FAILED), falls_back=True) from error

    def _run(self, plan: GraphPlan, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> list[Argument]:
        places = dict(zip(plan.inputs, inputs, strict=True)) | dict(zip(plan.outputs, outputs, strict=True))
        places |= self._places_of_temporaries(plan)
        for step in plan.steps:
            if isinstance(step, PartStep):
                self._part(plan, step, places)
            elif isinstance(step, IfStep):
                self._if(step, places)
            else:
                self._while(step, places)
        return [places[index] for index in plan.outputs]

    def _places_of_temporaries(self, plan: GraphPlan) -> Places:
        known = self._temporaries.get(plan)
        if known is None:
            operands = [plan.graph.operands[index] for index in plan.temporaries]
            known = dict(zip(plan.temporaries, self._scratch.place(operands), strict=True)) if operands else {}
            for index, value in plan.constants.items():
                shape = plan.graph.operands[index].dimensions
                known[index] = Argument() if value is None else self._scratch.hold(value, shape)
            self._temporaries[plan] = known
        return known

    def _part(self, plan: GraphPlan, step: PartStep, places: Places) -> None:
        """Compute a part, again with more room where temporaries turn out to be larger (FW-PRT-015), each of them once.

        A driver that wants more than it said itself lies, and would have it made without end.
        """
        inputs = [places[index] for index in step.inputs]
        enlarged: set[int] = set()
        while True:
            outputs = [places[index] for index in step.outputs]
            outcome = self._engine.compute(step, inputs, outputs)
            if outcome.result == ResultCode.NO_ERROR:
                break
            if not outcome.shapes or not self._enlarge(plan, step, places, outcome, enlarged):
                raise self._too_small(plan, step, places, outcome)
        for index, shape in zip(step.outputs, outcome.shapes, strict=True):
            places[index] = self._written(plan, index, places[index], shape)

    def _written(self, plan: GraphPlan, index: int, place: Argument, shape: OutputShape) -> Argument:
        """The place of a value, exactly as long as its shape says, or used whole; profile T has no empty temporary."""
        size = self._scratch.size_of(plan.graph.operands[index], shape.dimensions)
        if size == 0 and index in plan.temporaries and not self._allows_empty:
            raise StepFailed(failure(ResultCode.OP_FAILED), falls_back=True)
        return replace(place, dimensions=shape.dimensions, length=min(place.length, size))

    def _too_small(self, plan: GraphPlan, step: PartStep, places: Places, outcome: Outcome) -> StepFailed:
        """An output of the app's was too small (FW-PRT-012). Inside of IF and WHILE all sizes were known: a lie."""
        if plan is self._main:
            return StepFailed(_all_shapes(plan, step, places, outcome), falls_back=False)
        return StepFailed(failure(ResultCode.OP_FAILED), falls_back=True)

    def _enlarge(self, plan: GraphPlan, step: PartStep, places: Places, outcome: Outcome, enlarged: set[int]) -> bool:
        """Make room for temporaries of unknown size; False where something else was too small.

        enlarged: the operands for which it was made before, and now. In a loop they may grow: each time to the double.
        """
        short = {
            index: shape for index, shape in zip(step.outputs, outcome.shapes, strict=True) if not shape.is_sufficient
        }
        if not short or not short.keys() <= plan.dynamic - enlarged:
            return False
        enlarged.update(short)
        for index, shape in short.items():
            size = self._scratch.size_of(plan.graph.operands[index], shape.dimensions)
            if size <= places[index].length:
                return False
            places[index] = self._scratch.larger(places[index], max(size, 2 * places[index].length))
            self._temporaries[plan][index] = places[index]
        return True

    def _if(self, step: IfStep, places: Places) -> None:
        plan = step.then if self._is_true(places[step.condition]) else step.otherwise
        inputs, outputs = ([places[index] for index in indexes] for indexes in (step.inputs, step.outputs))
        places |= zip(step.outputs, self._run(plan, inputs, outputs), strict=True)

    def _while(self, step: WhileStep, places: Places) -> None:
        """Run the rounds between two sets of places in turn, and copy the last values to the outputs."""
        current = [places[index] for index in step.inputs]
        count = len(step.body.outputs)
        condition, *sets = self._places_of_rounds(step)
        end = self._clock.now_ns() + self._loop_timeout_ns
        while self._is_true(self._run(step.condition, current, [condition[0]])[0]):
            if self._clock.now_ns() >= end:
                raise StepFailed(failure(ResultCode.MISSED_DEADLINE_TRANSIENT), falls_back=False)  # FW-QOS-003
            current[:count] = self._run(step.body, current, sets[0])
            sets.reverse()
        self._engine.settle()
        for index, value in zip(step.outputs, current, strict=False):
            write_bytes(self._scratch.pools, places[index], read_bytes(self._scratch.pools, value))
            places[index] = replace(places[index], dimensions=value.dimensions)

    def _places_of_rounds(self, step: WhileStep) -> tuple[list[Argument], list[Argument], list[Argument]]:
        """Places of the condition, and of the body's outputs in odd and in even rounds."""
        known = self._rounds.get(step)
        if known is None:
            condition, body = step.condition.graph, step.body.graph
            known = self._rounds[step] = (self._fresh(condition), self._fresh(body), self._fresh(body))
        return known

    def _fresh(self, graph: Subgraph) -> list[Argument]:
        return self._scratch.place([graph.operands[index] for index in graph.output_indexes])

    def _is_true(self, place: Argument) -> bool:
        """Read a condition: one byte."""
        self._engine.settle()
        return read_bytes(self._scratch.pools, place)[:1] != b"\0"


def _all_shapes(plan: GraphPlan, step: PartStep, places: Places, outcome: Outcome) -> Outcome:
    """The shapes of all outputs of the graph after a step whose outputs did not fit (FW-EXE-018).

    A driver may say none in profile R: then those hold that the app gave.
    """
    found = dict(zip(step.outputs, outcome.shapes, strict=bool(outcome.shapes)))
    shapes = tuple(found.get(index, OutputShape(places[index].dimensions, True)) for index in plan.outputs)
    return Outcome(ResultCode.OUTPUT_INSUFFICIENT_SIZE, shapes, NO_TIMING, NO_TIMING)
