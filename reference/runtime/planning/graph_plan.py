"""The plan of one graph: steps over devices, and IF and WHILE that the runtime interprets.

A plan is a tree: an interpreted IF or WHILE has the plans of the graphs that it refers to.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npu_conformance.reference.runtime.planning.fallback import CpuFallback
from npu_conformance.reference.runtime.planning.parts import Part
from npu_conformance.specs.neuralnetworks.types import Subgraph

Indexes = tuple[int, ...]
"""Operands of the graph whose plan it is, in the order in which a part or a graph takes them."""


class PartStep(msgspec.Struct, frozen=True, eq=False):
    """Operations that one device computes. fallback: the same operations on the CPU, None where none is allowed."""

    part: Part
    inputs: Indexes
    outputs: Indexes
    fallback: CpuFallback | None = None


class IfStep(msgspec.Struct, frozen=True, eq=False):
    """An IF. condition: an operand. then, otherwise: plans of its branches."""

    condition: int
    then: GraphPlan
    otherwise: GraphPlan
    inputs: Indexes
    outputs: Indexes


class WhileStep(msgspec.Struct, frozen=True, eq=False):
    """A WHILE. inputs: behind its two graphs; as many of the first as there are outputs are those of round zero."""

    condition: GraphPlan
    body: GraphPlan
    inputs: Indexes
    outputs: Indexes


Step = PartStep | IfStep | WhileStep


class GraphPlan(msgspec.Struct, frozen=True, eq=False):
    """The steps of a graph in order.

    temporaries: operands that cross the border of a step. dynamic: those of unknown size among them. constants: values
    by operand, of those that an interpreted step reads; None where it is omitted.
    """

    graph: Subgraph
    steps: tuple[Step, ...]
    temporaries: Indexes = ()
    dynamic: frozenset[int] = frozenset()
    constants: dict[int, bytes | None] = msgspec.field(default_factory=dict)

    @property
    def inputs(self) -> Indexes:
        """The inputs of the graph."""
        return self.graph.input_indexes

    @property
    def outputs(self) -> Indexes:
        """The outputs of the graph."""
        return self.graph.output_indexes

    def parts(self) -> Iterator[PartStep]:
        """All steps that devices compute, those of graphs inside included."""
        for step in self.steps:
            if isinstance(step, PartStep):
                yield step
            else:
                for plan in inner(step):
                    yield from plan.parts()

    def has_dynamic_temporaries(self) -> bool:
        """Whether any temporary, here or inside, has an unknown size."""
        plans = [plan for step in self.steps if not isinstance(step, PartStep) for plan in inner(step)]
        return bool(self.dynamic) or any(plan.has_dynamic_temporaries() for plan in plans)


def inner(step: IfStep | WhileStep) -> tuple[GraphPlan, GraphPlan]:
    """The plans of the two graphs of an interpreted step."""
    if isinstance(step, IfStep):
        return step.then, step.otherwise
    return step.condition, step.body


def uses(plan: GraphPlan, operand: int) -> Iterator[tuple[PartStep, bool, int] | None]:
    """Where parts use an operand: the step, whether as input, and its number there (FW-MEM-011).

    None where the runtime itself reads or writes the value.
    """
    for step in plan.steps:
        if isinstance(step, PartStep):
            yield from ((step, True, place) for place, index in enumerate(step.inputs) if index == operand)
            yield from ((step, False, place) for place, index in enumerate(step.outputs) if index == operand)
        else:
            yield from _inner_uses(step, operand)


def _inner_uses(step: IfStep | WhileStep, operand: int) -> Iterator[tuple[PartStep, bool, int] | None]:
    plans = inner(step)
    for place, index in enumerate(step.inputs):
        if index == operand:
            for plan in plans:
                yield from uses(plan, plan.inputs[place])
    if isinstance(step, IfStep):
        places = [place for place, index in enumerate(step.outputs) if index == operand]
        yield from (use for plan in plans for place in places for use in uses(plan, plan.outputs[place]))
    is_of_runtime = operand == step.condition if isinstance(step, IfStep) else operand in (*step.inputs, *step.outputs)
    if is_of_runtime:
        yield None
