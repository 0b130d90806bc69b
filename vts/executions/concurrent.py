"""Several calls at once: on one prepared model, in any mix, and several preparations of one model."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Hung, NoRoom
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, ExecutionRecorder, timing_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.run.living import MODELS
from npu_conformance.harness.run.preparation import NO_TOKEN, PreparationRecorder
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import (
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    ErrorStatus,
    ExecutionPreference,
    Priority,
    busy,
)
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, Model, Request
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition, Pair
from npu_conformance.vts.lib.chain import LONG, Chain
from npu_conformance.vts.lib.deadlines import MILLISECOND
from npu_conformance.vts.lib.load import decline_if_exhausted, decline_if_some_are_exhausted
from npu_conformance.vts.lib.loops import Loop, expect_aborted
from npu_conformance.vts.lib.memory_domains.fixture import status_of
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import LOOP
from npu_conformance.vts.lib.sums import Sum, has_size, of_size, sum_of, with_dimensions

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

Asked = tuple[Request, ExecutionOptions]
"""An execution that is asked for."""

_CALLERS, _ROUNDS = 4, 8
_LOOP_ROUNDS, _ENDLESS = 2000, 1
"""How long loops are that end, and the place of the one that does not."""


@cases.case("concurrent.one_prepared_model", "NNHAL-EXECUTE-007", "NNHAL-TIMING-001", since=Version.V1_2)
def one_prepared_model(context: CaseContext) -> None:
    """Four callers execute one prepared model at once, first by the same executor and then by all in turn."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    # What comes as a notification or in a queue needs one thread that waits for it.
    waiting = {"asynchronous"} if context.version.is_aidl else {"asynchronous", "burst"}
    names = [executor for executor in executors(context.version) if executor not in waiting]
    callers = [
        _caller(
            context, prepared_model, sum_of(context, chosen, _values(number)), names[:1] * 2 + names[number:] + names
        )
        for number in range(_CALLERS)
    ]
    _all_end(context, callers)


@cases.case("concurrent.with_other_calls", "NNHAL-EXECUTE-007", "NNHAL-PREPARE-012", since=Version.V1_2)
def with_other_calls(context: CaseContext) -> None:
    """A prepared model is executed while the device is asked for support and for its type."""
    chosen = addition.supported(context)
    prepared_model, model = chosen.prepared(context), chosen.model()

    def ask() -> None:
        for _ in range(_ROUNDS):
            checks.equal(context.supported_operations(model), (True,), "support of the model that was prepared")
            context.device.get_type()

    usual = [executors(context.version)[0]]
    callers = [_caller(context, prepared_model, sum_of(context, chosen, _values(number)), usual) for number in range(2)]
    _all_end(context, [*callers, ask, ask])


@cases.case("concurrent.launched_ahead", "NNHAL-EXECUTE-007", "NNHAL-EXECUTE-003", until=HIDL_LAST)
def launched_ahead(context: CaseContext) -> None:
    """Four asynchronous executions, of some duration, are launched at once; each notifies once, with its own result."""
    chain = Chain(addition.supported(context), LONG)
    prepared_model = prepared_or_unsupported(context, chain.model())
    starts = [(-20.0 + 4 * number, -4.0 - 4 * number) for number in range(_CALLERS)]
    pools = [context.pool(4 * chain.size) for _ in starts]
    for pool, start in zip(pools, starts, strict=True):
        pool.write(0, chain.contents(start))
    asked = [(chain.request(pool), ExecutionOptions()) for pool in pools]
    executions = _by_notifications(context, prepared_model, asked)
    decline_if_some_are_exhausted(context, [execution.status for execution in executions])
    for number, execution in enumerate(executions):
        checks.status(execution.status, {ErrorStatus.NONE}, "one of four executions in flight")
        chain.check(bytes(pools[number].read(3 * chain.size, chain.size)), starts[number])


@cases.case(
    "concurrent.one_is_aborted", "NNHAL-EXECUTE-007", "NNHAL-TIMING-001", "NNHAL-CONTROLFLOW-012", since=Version.V1_3
)
def one_is_aborted(context: CaseContext) -> None:
    """Of executions at once each has its own timeout, times and status: one loop has no end."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    loops = [Loop(context, _LOOP_ROUNDS, step) for step in (1.0, 0.0, 2.0, 3.0)]
    options = [ExecutionOptions(number % 2 == 1, MAXIMUM_LOOP_TIMEOUT_DURATION_NS) for number in range(len(loops))]
    options[_ENDLESS] = ExecutionOptions(measure=True, loop_timeout=MILLISECOND)
    asked = [(loop.request, its) for loop, its in zip(loops, options, strict=True)]
    at_once = _by_threads if context.version.is_aidl else _by_notifications
    executions = at_once(context, prepared_model, asked)
    decline_if_some_are_exhausted(context, [execution.status for execution in executions])
    for number, execution in enumerate(executions):
        if number == _ENDLESS:
            expect_aborted(execution)
            continue
        checks.status(execution.status, {ErrorStatus.NONE}, "execution beside a loop without end")
        timing_rules(context, execution, measured=options[number].measure)
        loops[number].check("output of a loop beside one without end")


def _by_threads(context: CaseContext, prepared_model: PreparedModel, asked: Sequence[Asked]) -> list[Execution]:
    """Execute all at once."""
    executions = []
    for outcome in context.run_concurrently([bind(context, prepared_model, *one) for one in asked]):
        if isinstance(outcome, BaseException):
            raise outcome
        executions.append(outcome)
    return executions


def _by_notifications(context: CaseContext, prepared_model: PreparedModel, asked: Sequence[Asked]) -> list[Execution]:
    """Launch all, and wait until there are as many notifications, whoever gets them.

    NotSupported where one is refused for those before, once these are over.
    """
    recorders: list[ExecutionRecorder] = []
    status: int = ErrorStatus.NONE
    for request, options in asked:
        recorder = ExecutionRecorder()
        arguments = (request, options.measure, NO_DEADLINE, options.loop_timeout, recorder)
        status = status_of(functools.partial(prepared_model.execute, *arguments))
        if recorders and status in busy(context.version):
            break
        checks.status(status, {ErrorStatus.NONE}, "execute")
        recorders.append(recorder)
    answers = [recorder.answers for recorder in recorders]
    seconds = context.manifest.deadlines.execute
    _wait(context, lambda: sum(map(len, answers)) >= len(answers), seconds, "execute")
    decline_if_exhausted(context, status)
    for answer in answers:
        checks.equal(len(answer), 1, "number of notifications of one execution")
    return [answer[0] for answer in answers]


@cases.case("concurrent.other_sizes", "NNHAL-EXECUTE-007", "NNHAL-PREPARE-014", since=Version.V1_2)
def other_sizes(context: CaseContext) -> None:
    """A model whose sizes are unknown is executed with different sizes at once."""
    chosen = addition.supported(context)
    prepared_model = prepared_or_unsupported(context, with_dimensions(chosen.model(), (0,), inputs=True))

    def caller(asked: Sum, elements: int) -> Callable[[], None]:
        run = bind(context, prepared_model, of_size(asked, elements))

        def call() -> None:
            for _ in range(_ROUNDS):
                asked.clear()
                execution = run()
                decline_if_exhausted(context, execution.status)
                has_size(asked, execution, elements)

        return call

    sizes = [chosen.elements, 1, chosen.elements, 1]
    _all_end(context, [caller(sum_of(context, chosen, _values(number)), size) for number, size in enumerate(sizes)])


@cases.case("preparations.launched_ahead", "NNHAL-PREPARE-012", "NNHAL-PREPARE-005")
def preparations_launched_ahead(context: CaseContext) -> None:
    """Four preparations of one model are launched before any is waited for; each gives a model that works."""
    chosen = addition.supported(context)
    recorders = [_Recorder() for _ in range(_CALLERS)]
    for recorder in recorders:
        _launch(context, chosen.model(), recorder)
    _prepared_all(context, chosen, recorders)


@cases.case("preparations.by_several_threads", "NNHAL-PREPARE-012", "NNHAL-PREPARE-005")
def preparations_by_several_threads(context: CaseContext) -> None:
    """Four threads prepare one model at once; each gets a model that works."""
    chosen = addition.supported(context)
    recorders, model = [_Recorder() for _ in range(_CALLERS)], chosen.model()
    _all_end(context, [functools.partial(_launch, context, model, recorder) for recorder in recorders])
    _prepared_all(context, chosen, recorders)


def _values(number: int) -> Pair:
    """A second summand for each caller."""
    return 0.5 * number, 1.0 - number


def _caller(context: CaseContext, prepared_model: PreparedModel, asked: Sum, names: list[str]) -> Callable[[], None]:
    """Who executes by these executors in turn, and asks for times every other time."""
    runs = {
        (name, measured): bind(context, prepared_model, asked.request, ExecutionOptions(measure=measured), name)
        for name in names
        for measured in (False, True)
    }

    def call() -> None:
        for number, name in enumerate(itertools.islice(itertools.cycle(names), _ROUNDS)):
            measured = number % 2 == 1
            asked.clear()
            execution = runs[name, measured]()
            decline_if_exhausted(context, execution.status)
            asked.check(execution, f"{name} execution beside others")
            timing_rules(context, execution, measured=measured)

    return call


def _all_end(context: CaseContext, calls: list[Callable[[], None]]) -> None:
    """Make the calls concurrently; an error of any of them fails the case."""
    for outcome in context.run_concurrently(calls):
        if isinstance(outcome, ServiceError):
            checks.fail("a call beside others", "success", checks.format_error(outcome))
        if outcome is not None:
            raise outcome


class _Recorder(PreparationRecorder):
    """A callback of one of several preparations. launch_status: what its call returned."""

    launch_status: int = ErrorStatus.NONE


def _launch(context: CaseContext, model: Model, recorder: _Recorder) -> None:
    """Launch a preparation, which may be refused for those before."""

    def call() -> None:
        context.device.prepare_model(
            model, ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM, NO_DEADLINE, (), (), NO_TOKEN, recorder
        )

    recorder.launch_status = status_of(call)
    allowed = {ErrorStatus.NONE, *busy(context.version)}
    checks.status(recorder.launch_status, allowed, "prepareModel beside others, returned")


def _wait(context: CaseContext, predicate: Callable[[], bool], seconds: float, method: str) -> None:
    """Wait as long as all of the calls may take one after the other."""
    seconds *= context.manifest.time_scale * _CALLERS
    if not context.subject.wait_until(predicate, seconds):
        raise Hung(f"{method} was launched, but not every callback was notified within {seconds:g} s")


def _prepared_all(context: CaseContext, chosen: Addition, recorders: list[_Recorder]) -> None:
    _wait(context, lambda: all(one.answers for one in recorders), context.manifest.deadlines.prepare, "prepareModel")
    for recorder in recorders:
        checks.equal(len(recorder.answers), 1, "number of notifications of one preparation")
        MODELS.add(context.subject, recorder.answers[0][1])
    others = MODELS.count(context.subject)
    for number, recorder in enumerate(recorders):
        status, prepared_model = recorder.take_first()
        if recorder.launch_status != ErrorStatus.NONE:
            with checks.about("NNHAL-PREPARE-002"):
                checks.status(status, {recorder.launch_status}, "status notified after a failed launch")
        if others and status in busy(context.version):
            full = f"the device has no room for {len(recorders)} prepared models"
            raise NoRoom(full, vagueness(status, context.version))
        checks.status(status, {ErrorStatus.NONE}, "prepareModel beside others, notified")
        if prepared_model is None:
            checks.fail("prepareModel beside others, notified", "a prepared model", "null")
        asked = sum_of(context, chosen, _values(number))
        asked.check(bind(context, prepared_model, asked.request)(), "execution of a model prepared beside others")
