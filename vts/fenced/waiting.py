"""Wait fences that signal: nothing starts before the last of them, in whatever order and number they do."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from npu_conformance.corpus import turns
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions, config_of
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.run.executing.launching import FencedOptions, execution_of, forms, launch
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, busy
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import A, B
from npu_conformance.vts.lib.bound_request import bound_request
from npu_conformance.vts.lib.fenced import BoundModel, FencedFixture, Sum, signal_all
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.sums import sum_of

cases = CaseGroup("vts.fenced.waiting", group=Group.EXECUTION)

_SINCE = Version.V1_3
_OF_MANY_INPUTS = ("CONV_2D", "RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM")


@cases.case("none", "NNHAL-FENCED-006", "NNHAL-FENCED-009", "NNHAL-FENCED-014", since=_SINCE, scope=Scope.SMOKE)
def none(context: CaseContext) -> None:
    """Without wait fences the work starts at once; the sum is there when the returned fence has signalled."""
    fixture = FencedFixture(context)
    for form in forms(context.version):
        with context.configuration(form):
            total = fixture.sum()
            total.succeeds(total.launch(options=FencedOptions(form=form)))


@cases.case("signalled_before", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def signalled_before(context: CaseContext) -> None:
    """Fences that have signalled before the call are no hindrance."""
    fixture = FencedFixture(context)
    for count in (1, 3):
        with context.configuration(f"fences{count}"):
            total, fences = fixture.sum(), _fences(context, count)
            signal_all(fences)
            total.succeeds(total.launch(*fences))


@cases.case(
    "signalled_after",
    "NNHAL-FENCED-005",
    "NNHAL-FENCED-006",
    "NNHAL-FENCED-013",
    "NNHAL-FENCED-014",
    since=_SINCE,
    scope=Scope.SMOKE,
)
def signalled_after(context: CaseContext) -> None:
    """An open fence holds the work back: nothing is written, fence and callback report no end, until it signals."""
    fixture = FencedFixture(context)
    for form in forms(context.version):
        with context.configuration(form):
            total, fence = fixture.sum(), context.fence()
            total.succeeds(total.waits(fence, settle=fence.signal, options=FencedOptions(form=form)))


@cases.case("every_order", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def every_order(context: CaseContext) -> None:
    """Of three open fences the last decides, whichever it is."""
    fixture = FencedFixture(context)
    for order in itertools.permutations(range(3)):
        with context.configuration("order" + "".join(map(str, order))):
            fences = _fences(context, 3)
            _released_one_by_one(fixture.sum(), fences, [fences[number] for number in order])


@cases.case("one_open", "NNHAL-FENCED-005", since=_SINCE)
def one_open(context: CaseContext) -> None:
    """One open fence among those that have signalled before holds the work back, at each position."""
    fixture = FencedFixture(context)
    for position in range(3):
        with context.configuration(f"position{position}"):
            total, fences = fixture.sum(), _fences(context, 3)
            signal_all(fences[:position] + fences[position + 1 :])
            total.succeeds(total.waits(*fences, settle=fences[position].signal))


@cases.case("same_twice", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def same_twice(context: CaseContext) -> None:
    """A fence may be waited for twice by one execution."""
    total, fence = FencedFixture(context).sum(), context.fence()
    total.succeeds(total.waits(fence, fence, settle=fence.signal))


@cases.case("many", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def many(context: CaseContext) -> None:
    """Seventy fences are waited for as one is, whichever of them is the last to signal."""
    fixture = FencedFixture(context)
    for number in (0, 9, 31, 69):
        total, fences = fixture.sum(), _fences(context, 70)
        signal_all([fence for fence in fences if fence is not fences[number]])
        launched = total.waits(*fences, settle=fences[number].signal)
        if launched.status in busy(context.version):  # no document says for how many fences there is room
            few = f"the device does not wait for {len(fences)} fences at once"
            raise NotSupported(few, vagueness(launched.status, context.version))
        total.succeeds(launched)


@cases.case("each_run_of_a_reusable", "NNHAL-FENCED-005", "NNHAL-EXECUTE-014", since=Version.FL8)
def each_run_of_a_reusable(context: CaseContext) -> None:
    """Each run of one reusable execution waits for the fences that it was given."""
    fixture = FencedFixture(context)
    total = fixture.sum()
    made = reusable_execution(context, fixture.prepared_model, total.request, config_of(ExecutionOptions()))
    fixture.prepared_model = BoundModel(made)
    for _ in range(3):
        total.clear()
        fence = context.fence()
        total.succeeds(total.waits(fence, settle=fence.signal))


@cases.case("inputs_at_the_signal", "NNHAL-FENCED-005", since=_SINCE)
def inputs_at_the_signal(context: CaseContext) -> None:
    """The inputs that count are those at the signal: whoever signals a wait fence has just written them.

    A device that reads them earlier has started before its fences have signalled.
    """
    total, fence = FencedFixture(context).sum(first=B), context.fence()
    launched = total.launch(fence, settle=fence.signal)
    if not launched.is_waiting:
        raise NotApplicable("the device waits in the call: nobody can write inputs after it")
    total.check_nothing_happens(launched)
    total.write(A)
    launched.settle()
    total.succeeds(launched)


@cases.case("every_input_at_the_signal", "NNHAL-FENCED-005", since=_SINCE)
def every_input_at_the_signal(context: CaseContext) -> None:
    """So it is with weights and states that come with the request: whatever is written last counts."""
    for operation in _OF_MANY_INPUTS:
        for vector in turns.other_data(operation, context.version)[:1]:
            with context.configuration(operation.lower()):
                _each_input_at_the_signal(context, vector)


def _each_input_at_the_signal(context: CaseContext, vector: Vector) -> None:
    prepared_model, (first, *others) = prepared(context, vector), vector.examples
    bound = bound_request(context, vector, first)
    for other in others:
        bound.put(context, first)
        fence = context.fence()
        launched = launch(context, prepared_model, bound.request, (fence,), settle=fence.signal)
        if not launched.is_waiting:
            raise NotApplicable("the device waits in the call: nobody can write inputs after it")
        bound.put(context, other)
        launched.settle()
        execution = execution_of(context, launched, measured=False)
        checks.status(execution.status, {ErrorStatus.NONE}, "fenced execution")
        bound.check(context, other, execution, "inputs that were written before the signal")


@cases.case("others_meanwhile", "NNHAL-EXECUTE-007", "NNHAL-FENCED-005", since=_SINCE)
def others_meanwhile(context: CaseContext) -> None:
    """While an execution waits for its fence, the same prepared model executes other requests without fences.

    Fenced executions may be done in the order of their launch.
    """
    fixture = FencedFixture(context)
    total, fence = fixture.sum(), context.fence()
    launched = total.launch(fence, settle=fence.signal)
    if not launched.is_waiting:
        raise NotApplicable("the device waits in the call")
    for executor in executors(context.version, finding_shapes=True):
        with context.configuration(executor):
            other = sum_of(context, fixture.chosen, (-3.0, 1.5))
            execution = bind(context, fixture.prepared_model, other.request, executor=executor)()
            if not is_too_much(context, execution.status):
                other.check(execution, f"{executor} execution beside one that waits")
    launched.settle()
    total.succeeds(launched)


def _released_one_by_one(total: Sum, fences: Sequence[SettableFence], order: Sequence[SettableFence]) -> None:
    launched = total.launch(*fences, settle=lambda: signal_all(order))
    for fence in order if launched.is_waiting else ():
        total.check_nothing_happens(launched)
        fence.signal()
    total.succeeds(launched)


def _fences(context: CaseContext, count: int) -> list[SettableFence]:
    return [context.fence() for _ in range(count)]
