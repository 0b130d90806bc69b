"""IF and WHILE: the referenced graphs become graphs of the .tflite, which LiteRT's own IF and WHILE run.

Beside the operation's values, a count of rounds goes through all of these graphs: see Values.
"""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.lowering.context import Call, Step
from npu_conformance.adapters.lowering.graph import Graph, Tensor
from npu_conformance.adapters.lowering.operands import LoweringError


def if_(step: Step) -> None:
    """Both branches have to give outputs of the same shapes, or LiteRT would not know them before it runs."""
    then, other = _call(step, 1, 3), _call(step, 2, 3)
    if then.shapes != other.shapes:
        raise LoweringError(f"branches that give different shapes: {then.shapes} and {other.shapes}")
    condition = step.cast(step.tensor(0), "bool")
    results = [step.output(position) for position in range(step.output_count)]
    routines = {
        "thenSubgraphIndex": then.routine([*then.outputs, then.rounds]),
        "elseSubgraphIndex": other.routine([*other.outputs, other.rounds]),
    }
    inputs = [condition, *_arguments(step, 3), _rounds(step)]
    step.values.rounds = step.graph.add(Tensor("int32"))
    step.graph.run_graphs("IF", inputs, [*results, step.values.rounds], routines)


def while_(step: Step) -> None:
    """LiteRT's WHILE gives back all it takes: what the body does not change it hands through."""
    condition, body = _call(step, 0, 2), _call(step, 1, 2)
    _check_shapes(step, body)
    unchanged = body.inputs[len(body.outputs) : -1]
    routines = {
        "condSubgraphIndex": condition.routine([_goes_on(condition)]),
        "bodySubgraphIndex": body.routine([*body.outputs, *unchanged, _one_less(body)]),
    }
    inputs = [*_arguments(step, 2), _rounds(step)]
    results = [step.output(position) for position in range(step.output_count)]
    results += [step.like(number) for number in inputs[len(results) :]]
    step.values.rounds = results[-1]
    step.graph.run_graphs("WHILE", inputs, results, routines)


def _call(step: Step, position: int, first: int) -> Call:
    """Lower the graph that an input refers to for the operation's values. first: the first input that is a value."""
    shapes = [step.dimensions(argument) for argument in range(first, step.input_count)]
    return step.values.call(step.operand(position).location.offset, shapes)


def _arguments(step: Step, first: int) -> list[int]:
    return [step.tensor(position) for position in range(first, step.input_count)]


def _rounds(step: Step) -> int:
    if step.values.rounds is None:
        raise LoweringError("control flow in a graph that does not count rounds")
    return step.values.rounds


def _check_shapes(step: Step, body: Call) -> None:
    for position, shape in enumerate(body.shapes):
        if shape != step.dimensions(position + 2):
            raise LoweringError(f"a loop whose value {position} changes its shape to {shape}")


def _goes_on(condition: Call) -> int:
    """Return whether the condition holds and rounds are left."""
    graph = condition.graph
    wanted, possible, goes_on = (graph.add(Tensor("bool")) for _ in range(3))
    graph.emit("CAST", condition.outputs, wanted, "Cast")
    graph.emit("GREATER", [condition.rounds, graph.constant(np.zeros(1, np.int32))], possible, "Greater")
    graph.emit("LOGICAL_AND", [wanted, possible], goes_on, "LogicalAnd")
    return goes_on


def _one_less(body: Call) -> int:
    graph: Graph = body.graph
    less = graph.add(Tensor("int32"))
    graph.emit("SUB", [body.rounds, graph.constant(np.ones(1, np.int32))], less, "Sub")
    return less
