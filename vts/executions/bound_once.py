"""Requests that are bound once, by a reusable execution or an open burst, and executed with other data again and again.

What such an object keeps of one run (converted inputs, a state, the shape of an output) must not count in the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from npu_conformance.corpus import turns, vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.bound_request import bound_request
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.rejection import asked_by_text_alone
from npu_conformance.vts.lib.support import supports

_AREA, _SINCE = "vts.executions.bound_once", Version.V1_2
_REQUIREMENTS = ("NNHAL-EXECUTE-001", "NNHAL-EXECUTE-014", "NNHAL-EXECUTE-018", "NNHAL-BURST-001")
_OF_OTHER_DATA = ("CONV_2D", "FULLY_CONNECTED", "PRELU")
_WITH_STATES = ("LSTM", "RNN", "SVDF")
_EMPTIED = ("RELU", "ADD", "TANH")
_STEPS = 3
_SEEDS = ((1, 2), (3, 4), (-5, 6), (1, 2))

_group = CaseGroup("vts.executions", group=Group.EXECUTION)


def cases() -> Iterator[Case]:
    """A case for each operation with other data or states, then those of empty outputs and of seeds."""
    for operation in (*_OF_OTHER_DATA, *_WITH_STATES):
        yield _case(operation)
    yield from _group()


def _case(operation: str) -> Case:
    since = min(header.since for header in vectors.headers(operation) if header.rejected is None)
    is_recurrent = operation in _WITH_STATES
    about = "Inputs that change, one at a time, count anew" if not is_recurrent else "The state counts that is given"
    return Case(
        f"{_AREA}.{operation}",
        lambda context: _run(context, operation),
        _REQUIREMENTS,
        f"{about} in each run of an object that is bound once, in every type.",
        since=max(since, _SINCE),
        group=Group.EXECUTION,
        operations=(operation,),
    )


def _run(context: CaseContext, operation: str) -> None:
    found = turns.other_data(operation, context.version)
    if operation in _WITH_STATES:
        found = [*found, *_with_states(operation, context.version)]
    _each(context, found, f"{operation} with other data")


def _each(context: CaseContext, found: Sequence[Vector], what: str) -> None:
    """Execute each vector that is supported; NotSupported where none is."""
    known = [vector for vector in found if vector.since <= context.version and supports(context, vector)]
    if not known:
        raise NotSupported(f"the device does not support {what}")
    for vector in known:
        for executor in _bound_once(context, vector):
            with context.configuration(f"{vector.operation}.{vector.name}.{executor}"):
                _in_turn(context, vector, executor)


def _bound_once(context: CaseContext, vector: Vector) -> list[str]:
    """The executors that make an object for a request."""
    is_open = any(vector.operands[name].is_open for name in vector.outputs)
    names = executors(context.version, finding_shapes=is_open)
    return [one for one in names if one.startswith(("reusable", "burst"))]


def _in_turn(context: CaseContext, vector: Vector, executor: str) -> None:
    largest = max(vector.examples, key=lambda one: sum(array.nbytes for array in one.outputs.values()))
    bound, prepared_model = bound_request(context, vector, largest), prepared(context, vector)
    run = bind(context, prepared_model, bound.request, executor=executor)
    is_open = any(operand.is_open for operand in vector.operands.values())
    for turn, example in enumerate((*vector.examples, vector.examples[0])):
        what = f"run {turn + 1} of an object that is bound once"
        bound.put(context, example)
        execution = run()
        if turn == 0 and is_open and execution.status == ErrorStatus.GENERAL_FAILURE:
            raise NotSupported("the device does not execute with sizes that nobody says")
        with checks.about("NNHAL-EXECUTE-014" if executor.startswith("reusable") else "NNHAL-EXECUTE-001"):
            checks.status(execution.status, {ErrorStatus.NONE}, what)
        bound.check(context, example, execution, what)


def _with_states(operation: str, version: Version) -> Iterator[Vector]:
    """One vector of each combination of types, whose states flow from step to step and are then as at first."""
    seen = set()
    for header in turns.legal_headers(operation, version):
        if header.types in seen or header.operations != (operation,):
            continue
        vector = vectors.load(operation, header.name)
        states = {name: name.removesuffix("_in") + "_out" for name in vector.inputs if name.endswith("_in")}
        if states and all(output in vector.outputs for output in states.values()):
            seen.add(header.types)
            yield _flowing(vector, states)


def _flowing(vector: Vector, states: dict[str, str]) -> Vector:
    examples = [turns.evaluated(vector, vector.examples[0].inputs)]
    for _ in range(_STEPS):
        before = examples[-1]
        given = {name: before.outputs[output] for name, output in states.items()}
        examples.append(turns.evaluated(vector, {**before.inputs, **given}))
    return replace(vector, name=f"{vector.name}_flowing", examples=tuple(examples))


@_group.case("bound_once.without_elements", "NNHAL-SHAPE-010", *_REQUIREMENTS, since=_SINCE)
def without_elements(context: CaseContext) -> None:
    """An output of an object that is bound once has some rows, none, and others again."""
    found = [vector for operation in _EMPTIED for vector in turns.emptied(operation, context.version)]
    _each(context, found, "outputs that may be empty")


@_group.case("bound_once.seeds", *_REQUIREMENTS, since=_SINCE)
def seeds(context: CaseContext) -> None:
    """Samples follow the distribution with each seed; the same ones for other seeds are a quality warning."""
    stored = vectors.load("RANDOM_MULTINOMIAL", "float32_all_late")
    if not supports(context, stored):
        raise NotSupported("RANDOM_MULTINOMIAL is not supported with seeds of the request")
    for executor in executors(context.version):
        with context.configuration(executor):
            drawn = list(_drawn(context, stored, executor))
            with asked_by_text_alone(context):
                checks.that(len(set(drawn)) > 1, f"{len(drawn[0])} bytes of samples are the same for seeds {_SEEDS}")


def _drawn(context: CaseContext, vector: Vector, executor: str) -> Iterator[bytes]:
    """The samples of each run, which are judged, by one object with one pair of seeds after the other."""
    import numpy

    (example,) = vector.examples
    bound, prepared_model = bound_request(context, vector, example), prepared(context, vector)
    run = bind(context, prepared_model, bound.request, executor=executor)
    for pair in _SEEDS:
        bound.put(context, replace(example, inputs={**example.inputs, "seeds": numpy.array(pair, numpy.int32)}))
        execution = run()
        checks.status(execution.status, {ErrorStatus.NONE}, f"run with the seeds {pair}")
        bound.check(context, example, execution, f"run with the seeds {pair}")
        yield bytes(bound.outputs.read(0, bound.built.output_size))
