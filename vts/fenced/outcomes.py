"""What a fenced execution leaves behind: the callback's answers, both timings, memory, results of stored vectors."""

from __future__ import annotations

import time

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.executing.launching import FencedOptions, forms
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import B, Pair
from npu_conformance.vts.lib.fenced import FencedFixture
from npu_conformance.vts.lib.support import supports

cases = CaseGroup("vts.fenced.outcomes", group=Group.EXECUTION)

_SINCE = Version.V1_3
_TWICE: Pair = (0.5, 8.0)
_HELD_SECONDS = 0.02
_LOOK_SECONDS = 0.02
_VECTORS = ("ADD", "RELU", "CONV_2D", "SOFTMAX", "RESHAPE")
"""Operations of which one vector in each of two types is executed with fences."""


@cases.case("callback_repeats", "NNHAL-FENCED-014", since=_SINCE)
def callback_repeats(context: CaseContext) -> None:
    """The callback answers the same as often as it is asked, also after later executions."""
    fixture = FencedFixture(context)
    total = fixture.sum()
    launched = total.launch(options=FencedOptions(measure=True))
    first = total.succeeds(launched, measured=True)
    other = fixture.sum(B, B)
    other.succeeds(other.launch(), _TWICE)
    assert launched.callback is not None
    info = launched.callback.get_execution_info()
    found = launching.Outcome(info.status, info.timing_launched, info.timing_fenced)
    checks.equal(found, first, "getExecutionInfo, asked again")


@cases.case("timings", "NNHAL-FENCED-014", "NNHAL-FENCED-018", "NNHAL-TIMING-001", "NNHAL-TIMING-004", since=_SINCE)
def timings(context: CaseContext) -> None:
    """Both timings are optional, and reported only where they are asked for; the fenced one is no longer."""
    fixture = FencedFixture(context)
    for form in forms(context.version):
        for measure in (False, True):
            with context.configuration(f"{form}.{'timed' if measure else 'untimed'}"):
                total = fixture.sum()
                total.succeeds(total.launch(options=FencedOptions(measure, form=form)), measured=measure)


@cases.case("timings_of_waiting", "NNHAL-FENCED-014", "NNHAL-FENCED-018", since=_SINCE)
def timings_of_waiting(context: CaseContext) -> None:
    """The time that an execution is held back is in timingLaunched, and not in timingFenced.

    Clocks may be coarse: half of that time has to be there.
    """
    total, fence = FencedFixture(context).sum(), context.fence()
    launched = total.launch(fence, options=FencedOptions(measure=True), settle=fence.signal)
    started = time.monotonic_ns()
    total.check_nothing_happens(launched)
    context.subject.wait_until(lambda: False, _HELD_SECONDS)
    held_ns = time.monotonic_ns() - started
    if not launched.is_waiting:
        total.succeeds(launched, measured=True)
        raise NotApplicable("the device waits in the call: how long is not known")
    launched.settle()
    outcome = total.succeeds(launched, measured=True)
    assert outcome.launched is not None
    assert outcome.fenced is not None
    whole, after = outcome.launched.time_in_driver, outcome.fenced.time_in_driver
    if context.version.unavailable_time in (whole, after):
        raise NotApplicable("the device does not measure both times in the driver")
    held = held_ns // (1 if context.version.is_aidl else 1000)
    what = f"timeInDriver: expected {whole} from the call on to exceed {after} from the signal on by {held}, roughly"
    checks.that(whole - after >= held / 2, what)


@cases.case("memory_after_the_signal", "NNHAL-FENCED-007", since=_SINCE)
def memory_after_the_signal(context: CaseContext) -> None:
    """When the returned fence has signalled, the request's memory is the client's again: nothing is written to it."""
    fixture = FencedFixture(context)
    total = fixture.sum()
    launched = total.launch()
    total.succeeds(launched)
    total.clear()
    assert launched.callback is not None
    launched.callback.get_execution_info()
    other = fixture.sum(B, B)
    other.succeeds(other.launch(), _TWICE)
    context.subject.wait_until(lambda: False, _LOOK_SECONDS)
    total.check_untouched("the execution has finished, and its memory was given back")


@cases.case("memory_after_a_failure", "NNHAL-FENCED-007", "NNHAL-FENCED-010", since=_SINCE)
def memory_after_a_failure(context: CaseContext) -> None:
    """When the returned fence has failed, nothing is written any more either."""
    fixture, fence = FencedFixture(context), context.fence()
    total = fixture.sum()
    total.fails(total.waits(fence, settle=fence.fail))
    other = fixture.sum(B, B)
    other.succeeds(other.launch(), _TWICE)
    context.subject.wait_until(lambda: False, _LOOK_SECONDS)
    total.check_untouched("the execution has failed")


@cases.case("vectors", "NNHAL-FENCED-006", "NNHAL-FENCED-014", since=_SINCE)
def results_of_vectors(context: CaseContext) -> None:
    """Stored vectors have the expected results, and the bytes of a synchronous execution."""
    for name in _VECTORS:
        for kind in ("TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"):
            with context.configuration(f"{name}.{kind}"):
                _same_results(context, _vector(context, name, kind))


def _vector(context: CaseContext, operation: str, kind: str) -> Vector:
    """The first valid vector of an operation in a type that the device supports."""
    for header in vectors.headers(operation):
        is_valid = header.rejected is None and header.operations == (operation,) and header.since <= context.version
        if is_valid and kind in header.types:
            vector = vectors.load(operation, header.name)
            if _has_known_sizes(vector) and supports(context, vector):
                return vector
    raise NotSupported(f"{operation} of {kind} is not supported")


def _has_known_sizes(vector: Vector) -> bool:
    """True where the model says every size, and no output is empty: what fenced execution takes."""
    outputs = vector.examples[0].outputs.values()
    return all(array.size for array in outputs) and not any(one.is_open for one in vector.operands.values())


def _same_results(context: CaseContext, vector: Vector) -> None:
    model, example = build_model(vector, context.version).model, vector.examples[0]
    prepared_model = context.prepare(model).prepared_model
    if prepared_model is None:
        raise NotSupported(f"{vector.operation} could not be prepared")
    built = build_request(vector, example, context.version)
    inputs = context.pool(len(built.input_data) or 1)
    inputs.write(0, built.input_data)
    contents = []
    for executor in ("synchronous", "fenced"):
        pool = context.pool(built.output_size)
        request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=pool.memory))
        execution = execute(context, prepared_model, request, measure=False, executor=executor)
        checks.status(execution.status, {ErrorStatus.NONE}, "execution")
        contents.append(bytes(pool.read(0, built.output_size)))
    outputs = {name: built.read(name, contents[1], array.shape) for name, array in example.outputs.items()}
    judge(context, vector, example, outputs)
    if contents[0] != contents[1]:
        context.warn_quality("a fenced execution gives other bytes than a synchronous one")
