"""One prepared model, several shapes: an operation is executed with one shape, a larger one, and the first again.

So it is with shapes of as many elements, with tensors that are empty every now and then, with parameters, and with
inputs that only some requests give. The sizes that change are unknown to the model and come with the requests
(NNHAL-PREPARE-014). A device may support such models or not; one that prepares them computes every shape.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import open_burst
from npu_conformance.harness.run.executing.execution import Execution, in_pools, request_of
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.run.vector_cases import in_a_word, vector_from
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.bound_request import has_shapes
from npu_conformance.vts.lib.lacking import require_operation
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.random_graph_cases import Graphs, red_ones
from npu_conformance.vts.lib.turning import KINDS, Kind


def cases() -> Iterator[Case]:
    """The cases of every operation that has examples of several shapes."""
    for operation in vectors.operations():
        yield from _cases_of(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation."""
    return _cases_of(subject) if subject in vectors.operations() else iter(())


def case_from(payload: Any) -> Case:
    """The case of a failure file, which holds the models that failed."""
    _, _, operation, name = payload["id"].split(".")
    graphs = {name: functools.partial(vector_from, one) for name, one in payload["graphs"].items()}
    kind = next(kind for kind in KINDS if kind.name == name)
    return replace(_case(operation, kind), run=lambda context: _execute_each(context, graphs))


def _cases_of(operation: str) -> Iterator[Case]:
    return (_case(operation, kind) for kind in KINDS if kind.has(operation))


def _case(operation: str, kind: Kind) -> Case:
    since = min(header.since for header in vectors.headers(operation) if header.rejected is None)
    return Case(
        f"vts.several_shapes.{operation}.{kind.name}",
        functools.partial(_run, operation, kind),
        (result_requirement(operation), "NNHAL-EXECUTE-001", *kind.requirements),
        kind.description,
        since=max(since, kind.since),
        group=Group.EXECUTION,
        scope=Scope.DEFAULT,
        operations=(operation,),
    )


def _run(operation: str, kind: Kind, context: CaseContext) -> None:
    require_operation(context, operation)
    found = kind.find(operation, context.version)
    if not found:
        raise NotApplicable(f"HAL {context.version} has no such model of {operation}")
    _execute_each(
        context,
        {
            f"{vector.name}.{executor}": functools.partial(_itself, vector)
            for number, vector in enumerate(found)
            for executor in _two_executors(context, vector, number)
        },
    )


def _two_executors(context: CaseContext, vector: Vector, number: int) -> Iterable[str]:
    """The usual way and one of the others, which take turns."""
    is_open = any(operand.is_open for operand in vector.operands.values())
    names = executors(context.version, finding_shapes=is_open)
    return dict.fromkeys((names[0], names[number % len(names)]))


def _itself(vector: Vector) -> Vector:
    return vector


def _execute_each(context: CaseContext, models: Graphs) -> None:
    """models: what makes each, by the name of its sub-verdict, which ends in that of the executor."""
    if all(_is_whole(make()) for make in models.values()):
        context.attach(lambda: {"id": context.case.id, "graphs": red_ones(context, models)})
    for name, make in models.items():
        if context.wants(name):
            with context.configuration(name):
                _execute_in_turn(context, make(), name.rpartition(".")[2])


def _is_whole(vector: Vector) -> bool:
    """Whether a failure file can hold it: each example of a stored vector has every input."""
    return all(example.inputs.keys() >= set(vector.inputs) for example in vector.examples)


def _execute_in_turn(context: CaseContext, vector: Vector, executor: str) -> None:
    with checks.telling(lambda: in_a_word(vector)):
        prepared_model = prepared(context, vector)

        def run(request: Request) -> Execution:
            return bind(context, prepared_model, request, executor=executor)()

        for turn, example in enumerate((*vector.examples, vector.examples[0])):
            _execute(context, run, vector, example, turn)
        if not _is_whole(vector) and executor in executors(context.version, finding_shapes=True):
            _execute_behind_a_failure(context, run, vector)
            _execute_in_one_burst(context, prepared_model, vector)


def _execute_behind_a_failure(context: CaseContext, run: Callable[[Request], Execution], vector: Vector) -> None:
    """What a request leaves out that fails for want of room is there again in the next one that gives it."""
    if context.version < Version.V1_2:
        return
    without, *_, whole = sorted(vector.examples, key=lambda one: len(one.inputs))
    execution = run(request_of(context, build_request(vector, without, context.version, insufficient_output=True)))
    with checks.about("NNHAL-SHAPE-004"):
        checks.that(execution.status != ErrorStatus.NONE, "an output has too little room, found NONE")
    _execute(context, run, vector, whole, len(vector.examples) + 1)


def _execute_in_one_burst(context: CaseContext, prepared_model: PreparedModel, vector: Vector) -> None:
    """What a request of a burst leaves out has no value, whatever an earlier one of that burst gave."""
    if context.version < Version.V1_2:
        return
    burst = open_burst(context, prepared_model)
    if burst is None:  # vts.burst asks for that
        return
    names = itertools.count()

    def run(request: Request) -> Execution:
        return burst.execute(request, [next(names) for _ in request.pools])

    for turn, example in enumerate(vector.examples * 2):
        _execute(context, run, vector, example, turn)


def _execute(
    context: CaseContext, run: Callable[[Request], Execution], vector: Vector, example: Example, turn: int
) -> None:
    shapes = " ".join(str(list(array.shape)) for array in example.inputs.values())
    what = f"execution {turn + 1}, with inputs of shape {shapes}"
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    with checks.telling(lambda: what):
        execution = run(request)
    is_open = any(operand.is_open for operand in vector.operands.values())
    if turn == 0 and is_open and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with sizes that come with the request")
    with checks.about("NNHAL-PREPARE-014"):
        checks.status(execution.status, {ErrorStatus.NONE}, what)
    has_shapes(vector, example, execution, what)
    with checks.telling(lambda: what):
        judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))
