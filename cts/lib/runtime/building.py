"""Models built in one of the orders in which an app may build them; half of what is said is said twice.

An operand comes before what is said of it, and before the operations on it. What the check of an operation may look
at, such as the graphs that it refers to and the scales of channels, comes before the operation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import Build
from npu_conformance.harness.nnapi.caller_memory import CallerMemory, place
from npu_conformance.harness.nnapi.models import ModelBuilder
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph

_RELAX = "model_relax_computation_float32_to_float16"
_CHANNELS = "model_set_operand_symm_per_channel_quant_params"


@dataclass(frozen=True)
class _Planned:
    """A call, and the names of those that have to come before it."""

    name: str
    behind: frozenset[str]
    call: MethodCall


def in_order(number: int) -> Build:
    """Builds models in the order of a number."""
    return lambda runtime, memory, model: _AnyOrder(runtime, memory, model, random.Random(number)).build()


class _AnyOrder(ModelBuilder):
    """Builds a model by calls in an order of chance."""

    def __init__(self, runtime: Runtime, memory: CallerMemory, model: Model, chance: random.Random) -> None:
        super().__init__(runtime, memory, model)
        self._chance = chance

    def _content(self, handle: int, graph: Subgraph) -> Iterator[MethodCall]:
        left = [*self._operands(handle, graph), *self._operations(handle, graph), *self._others(handle, graph)]
        made: set[str] = set()
        while left:
            chosen = self._chance.choice([each for each in left if each.behind <= made])
            left.remove(chosen)
            made.add(chosen.name)
            yield chosen.call

    def _operands(self, handle: int, graph: Subgraph) -> Iterator[_Planned]:
        for index, operand in enumerate(graph.operands):
            added, *said = super()._operand(handle, index, operand)
            behind = (_operand_name(index - 1),) if index else ()
            yield _Planned(_operand_name(index), frozenset(behind), added)
            for call in said:
                yield from self._said(_operand_name(index), call, self._other(operand, call))

    def _operations(self, handle: int, graph: Subgraph) -> Iterator[_Planned]:
        for number, operation in enumerate(graph.operations):
            call = "model_add_operation", (handle, operation.type, operation.inputs, operation.outputs)
            yield _Planned(f"operation {number}", frozenset(_looked_at(graph, number, operation)), call)

    def _others(self, handle: int, graph: Subgraph) -> Iterator[_Planned]:
        identify = "model_identify_inputs_and_outputs", (handle, graph.input_indexes, graph.output_indexes)
        borders = frozenset(map(_operand_name, (*graph.input_indexes, *graph.output_indexes)))
        yield _Planned("identify", borders, identify)
        if self._model.relax_computation_float32_to_float16:
            yield from self._said("", (_RELAX, (handle, True)), (_RELAX, (handle, False)))

    def _said(self, operand: str, call: MethodCall, other: MethodCall | None) -> Iterator[_Planned]:
        """A call about an operand, or the model; sometimes behind one that says something else."""
        name = f"{call[0]} of {operand}"
        behind = frozenset((operand,)) if operand else frozenset()
        if other is not None and self._chance.random() < 0.5:
            yield _Planned(f"other {name}", behind, other)
            behind |= {f"other {name}"}
        yield _Planned(name, behind, call)

    def _other(self, operand: Operand, call: MethodCall) -> MethodCall | None:
        """A call like this one that says something else; None where there is none."""
        function, arguments = call
        if function == _CHANNELS:
            *others, described = arguments
            doubled = tuple(2 * scale for scale in described.scales)
            return function, (*others, replace(described, scales=doubled))
        if operand.lifetime == OperandLifeTime.CONSTANT_COPY:
            *others, _, length = arguments
            return function, (*others, place(self._memory, bytes(length)), length)
        return None


def _operand_name(index: int) -> str:
    return f"operand {index}"


def _looked_at(graph: Subgraph, number: int, operation: Operation) -> Iterator[str]:
    """The names of what has to come before an operation."""
    if number:
        yield f"operation {number - 1}"
    for index in (*operation.inputs, *operation.outputs):
        yield _operand_name(index)
        operand = graph.operands[index]
        if operand.lifetime == OperandLifeTime.SUBGRAPH:
            yield f"model_set_operand_value_from_model of {_operand_name(index)}"
        if operand.extra_params is not None and operand.extra_params.channel_quant is not None:
            yield f"{_CHANNELS} of {_operand_name(index)}"
