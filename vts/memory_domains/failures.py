"""Executions with buffers that fail: what their inputs and outputs hold then."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.executors import bind, executors, naming_buffers
from npu_conformance.harness.run.executing.launching import finish, launch
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import FLOAT32, SIZE, SUM, A, B
from npu_conformance.vts.lib.chain import LONG, Runner, longest
from npu_conformance.vts.lib.deadlines import LATE, MILLISECOND
from npu_conformance.vts.lib.loops import expect_aborted
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    NONE,
    Argument,
    BufferFixture,
    Place,
    by_each_executor,
    in_each_type,
    request_of,
)
from npu_conformance.vts.lib.rejection import asked_by_text_alone
from npu_conformance.vts.lib.structure_models import LOOP

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_PASSED = 1
"""A deadline in the past."""
_START, _OTHER = (-20.0, -18.0), 0x3C


def _two_sums_that_succeed(
    fixture: BufferFixture, executor: str = ""
) -> tuple[PreparedModel, list[Pool], list[DeviceBuffer]]:
    """A model of two sums, its inputs, and a buffer for each output, once it has been executed; the buffers hold B.

    Where nothing succeeds, a failure shows nothing.
    """
    model = fixture.prepare(2)
    inputs = [fixture.pool(fixture.chosen.packed(values)) for values in (A, B, A, B)]
    outputs = [fixture.filled(model, (), (number,)) for number in range(2)]
    execution = fixture.run(model, inputs, outputs, executor=executor)
    checks.status(execution.status, {NONE}, "execution of two sums")
    for made in outputs:
        fixture.fill(made, B)
    return model, inputs, outputs


@cases.case("execute.beside_an_output_too_small", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@by_each_executor
def beside_an_output_too_small(fixture: BufferFixture) -> None:
    """An output in a buffer is without content where another output did not fit its memory; to keep it is a warning."""
    model, inputs = fixture.prepare(2), [fixture.pool(fixture.chosen.packed(A)) for _ in range(4)]
    for number in range(2):
        made, short = fixture.allocate(model, outputs=(number,)), fixture.pool()
        outputs: list[Place] = [short]
        outputs.insert(number, made)
        fixture.succeeds(model, inputs, outputs, "execution with outputs that fit")
        fixture.fill(made, B)
        outputs[1 - number] = Argument(short, location=DataLocation(length=SIZE - 1))
        execution = fixture.run(model, inputs, outputs)
        checks.that(execution.status != NONE, "execution with an output too small: expected a failure, found NONE")
        # A fenced execution may be rejected, which leaves the buffer as it is.
        if fixture.executor in executors(fixture.context.version, finding_shapes=True):
            with asked_by_text_alone(fixture.context):
                what = "copyTo after an execution in which an output did not fit"
                checks.status(fixture.copy_to(made), {GENERAL}, what)


@cases.case("execute.missed_deadline", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@by_each_executor
def missed_deadline(fixture: BufferFixture) -> None:
    """Outputs in buffers are without content after an execution that missed its deadline; to keep it is a warning."""
    model, inputs, outputs = _two_sums_that_succeed(fixture)
    run = bind(
        fixture.context, model, request_of(inputs, outputs), ExecutionOptions(deadline=_PASSED), fixture.executor
    )
    execution = run()
    for made in outputs:
        if execution.status == NONE:
            fixture.holds(made, SUM, "result of an execution whose deadline had passed")
        # A fenced execution may be refused at its launch, which leaves the buffer as it is.
        elif fixture.executor in executors(fixture.context.version, finding_shapes=True):
            with asked_by_text_alone(fixture.context):
                checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after an execution that missed its deadline")


@cases.case(
    "execute.inputs_of_a_failure", "NNHAL-MEMDOMAIN-015", "NNHAL-EXECUTE-002", "NNHAL-CONTROLFLOW-011", since=_SINCE
)
def inputs_of_a_failure(context: CaseContext) -> None:
    """Inputs in buffers keep their content where the execution fails on the device: a loop is aborted."""
    fixture = BufferFixture(context, FLOAT32)
    model = fixture.prepare_model(LOOP)
    counter, step = (fixture.allocate(model, inputs=(index,)) for index in range(2))
    contents = tuple(struct.pack("<f", value) for value in (-1.0, 0.0))
    for made, data in zip((counter, step), contents, strict=True):
        checks.status(fixture.copy_from(made, data), {NONE}, "copyFrom")
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            request = request_of((counter, step), (fixture.pool(4),))
            options = ExecutionOptions(loop_timeout=MILLISECOND)
            expect_aborted(bind(context, model, request, options, executor)())
            for made, data in zip((counter, step), contents, strict=True):
                checks.equal(fixture.content(made, 4), data, "content of an input after an execution that failed")


@cases.case("execute.failed_fence", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@in_each_type
def failed_fence(fixture: BufferFixture) -> None:
    """Outputs in buffers are without content once a wait fence has failed; to keep it is a warning."""
    (model, inputs, outputs), fence = _two_sums_that_succeed(fixture, "fenced"), fixture.context.fence()
    launched = launch(fixture.context, model, request_of(inputs, outputs), (fence,), settle=fence.fail)
    launched.settle()
    outcome = finish(fixture.context, launched)
    checks.that(outcome.status != NONE, "fenced execution whose wait fence failed: expected a failure, found NONE")
    # A call that was rejected leaves the buffer as it is.
    for made in outputs if launched.callback is not None else ():
        with asked_by_text_alone(fixture.context):
            checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after an execution whose wait fence failed")


@cases.case("execute.unmapped_memory", "NNHAL-MEMDOMAIN-016", "NNHAL-MEMORY-007", since=_SINCE)
@by_each_executor
def unmapped_memory(fixture: BufferFixture) -> None:
    """Outputs in buffers are without content after an execution on memory that the device cannot map; else a warning.

    A device may map such memory, or refuse the request, which leaves the buffers as they are.
    """
    model, inputs, outputs = _two_sums_that_succeed(fixture)
    pixels = fixture.pool(fixture.chosen.packed(A), "hardware_buffer")
    unmapped = Argument(pixels, location=DataLocation())
    _is_without_content(fixture, model, [unmapped, *inputs[1:]], outputs, "memory that cannot be mapped")


@cases.case("execute.input_without_content", "NNHAL-MEMDOMAIN-016", "NNHAL-MEMDOMAIN-014", since=_SINCE)
@by_each_executor
def input_without_content(fixture: BufferFixture) -> None:
    """Outputs in buffers are without content after an execution with a fresh buffer as input; to keep it is a warning.

    A device may also refuse the request, which leaves the buffers as they are.
    """
    model, inputs, outputs = _two_sums_that_succeed(fixture)
    fresh = fixture.allocate(model, inputs=(3,))
    _is_without_content(fixture, model, [*inputs[:3], fresh], outputs, "a fresh buffer as input")


def _is_without_content(
    fixture: BufferFixture, model: PreparedModel, inputs: Sequence[Place], outputs: Sequence[DeviceBuffer], what: str
) -> None:
    """Execute with what may fail on the device, and see that the outputs in buffers have lost what they held."""
    status = fixture.run(model, inputs, outputs).status
    # A fenced execution may be refused at its launch.
    is_launched = fixture.executor in executors(fixture.context.version, finding_shapes=True)
    for made in outputs if status != ErrorStatus.INVALID_ARGUMENT and is_launched else ():
        if status == NONE:
            fixture.holds(made, SUM, f"result of an execution with {what}")
            continue
        with asked_by_text_alone(fixture.context):
            checks.status(fixture.copy_to(made), {GENERAL}, f"copyTo after an execution with {what}")


@cases.case("execute.aborted_loop", "NNHAL-MEMDOMAIN-016", "NNHAL-CONTROLFLOW-011", since=_SINCE)
def aborted_loop(context: CaseContext) -> None:
    """An output in a buffer is without content after an execution whose loop was aborted; to keep it is a warning."""
    fixture = BufferFixture(context, FLOAT32)
    model = fixture.prepare_model(LOOP)
    made, old = fixture.allocate(model, outputs=(0,)), struct.pack("<f", 0.5)
    counter, step = (fixture.pool(struct.pack("<f", value)) for value in (-1.0, 0.0))
    request, options = request_of((counter, step), (made,)), ExecutionOptions(loop_timeout=MILLISECOND)
    for executor in set(executors(context.version, loop_timeout=True)) & set(naming_buffers(context.version)):
        with context.configuration(executor):
            checks.status(fixture.copy_from(made, old), {NONE}, "copyFrom")
            expect_aborted(bind(context, model, request, options, executor)())
            with asked_by_text_alone(context):
                checks.status(fixture.copy_to(made, 4), {GENERAL}, "copyTo after an execution whose loop was aborted")


@cases.case("execute.abort_is_final", "NNHAL-EXECUTE-006", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def abort_is_final(context: CaseContext) -> None:
    """What is copied into a buffer stays there, though its deadline ended an execution into that buffer before.

    Behind a fence in error that is a quality warning, since documents say it of a signal alone (NNHAL-FENCED-007).
    """
    chain = longest(context, LONG)
    fixture = BufferFixture(context, chain.addition)
    runner = Runner(context, chain, _START)
    made, other = fixture.allocate(runner.prepared_model, outputs=(0,)), bytes([_OTHER]) * chain.size
    (pool, *_) = runner.request.pools
    output = RequestArgument(location=DataLocation(1))
    request = replace(runner.request, outputs=(output,), pools=(pool, RequestMemoryPool(token=made.token)))
    for executor in naming_buffers(context.version):
        with context.configuration(executor):
            end = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int(runner.seconds * 1e9 / 4)
            options = ExecutionOptions(deadline=end)
            status = bind(context, runner.prepared_model, request, options, executor)().status
            checks.status(status, LATE, "execution with a deadline")
            if status != NONE:
                checks.status(fixture.copy_from(made, other), {NONE}, "copyFrom after an execution that was aborted")
                context.subject.wait_until(lambda: False, 2 * runner.seconds)
                with asked_by_text_alone(context, when="fenced" in executor), checks.about("NNHAL-EXECUTE-006"):
                    found = set(fixture.content(made, chain.size))
                    checks.equal(found, {_OTHER}, "bytes of a buffer that was filled behind an aborted execution")
