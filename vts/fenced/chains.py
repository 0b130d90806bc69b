"""Executions that depend on each other, several at once, and executions that nobody waits for."""

from __future__ import annotations

import gc
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.launching import Launched, wait
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, prepare
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, ExecutionPreference, FenceState, Priority
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import A, B, Pair, plus
from npu_conformance.vts.lib.fenced import PLACES, POOL, FencedFixture, Sum

cases = CaseGroup("vts.fenced.chains", group=Group.EXECUTION)

_SINCE = Version.V1_3
_LENGTH = 3
_UID = 10001
_PROMPT_SECONDS = 0.1
_FIRST: tuple[Pair, ...] = (A, B, (0.5, 1.0), (3.0, -1.0))
"""First summands of executions that are in flight together: each has a sum of its own."""


@cases.case("results_flow", "NNHAL-FENCED-012", "NNHAL-FENCED-005", since=_SINCE)
def results_flow(context: CaseContext) -> None:
    """Each of three executions waits for the fence of the one before and adds to its result."""
    steps = FencedFixture(context).steps(_LENGTH)
    _check_flow(steps, _chained(context, steps, None))


@cases.case("results_flow_later", "NNHAL-FENCED-012", "NNHAL-FENCED-005", since=_SINCE)
def results_flow_later(context: CaseContext) -> None:
    """The whole chain is launched while the fence at its beginning is open."""
    steps, fence = FencedFixture(context).steps(_LENGTH), context.fence()
    launched = _chained(context, steps, fence)
    for step, one in zip(steps, launched, strict=True):
        step.check_nothing_happens(one)
    fence.signal()
    _check_flow(steps, launched)


@cases.case("of_finished", "NNHAL-FENCED-012", since=_SINCE)
def of_finished(context: CaseContext) -> None:
    """The fence of an execution that has finished long ago can be waited for, also by several."""
    fixture = FencedFixture(context)
    first = fixture.sum()
    launched = first.launch()
    first.succeeds(launched)
    for _ in range(2):
        total = fixture.sum()
        total.succeeds(total.launch(*_fences_of(launched)))


@cases.case("beside_own", "NNHAL-FENCED-012", "NNHAL-FENCED-005", since=_SINCE)
def beside_own(context: CaseContext) -> None:
    """A returned fence and one of the client hold an execution back together."""
    fixture = FencedFixture(context)
    first = fixture.sum()
    launched = first.launch()
    first.succeeds(launched)
    total, fence = fixture.sum(), context.fence()
    second = total.launch(*_fences_of(launched), fence, settle=fence.signal)
    total.check_nothing_happens(second)
    second.settle()
    total.succeeds(second)


@cases.case("failure_flows", "NNHAL-FENCED-010", "NNHAL-FENCED-012", since=_SINCE)
def failure_flows(context: CaseContext) -> None:
    """Where the fence at the beginning of a chain fails, nothing of the chain is executed."""
    fixture, fence = FencedFixture(context), context.fence()
    fixture.executes()
    first, second = fixture.sum(), fixture.sum()
    launched = first.launch(fence, settle=fence.fail)
    if not launched.is_waiting or launched.fence is None:
        first.fails(launched)
        return
    following = second.launch(launched.fence, settle=fence.fail, held_by=fence)
    launched.settle()
    first.fails(launched)
    second.fails(following)


@cases.case("in_flight", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def in_flight(context: CaseContext) -> None:
    """Executions of one prepared model that wait for a fence each, let go from the last to the first, all succeed.

    Nothing is said about their order: a device may work through its queue in the order of the calls.
    """
    fixture = FencedFixture(context)
    fences = [context.fence() for _ in _FIRST]
    sums = [fixture.sum(first, B) for first in _FIRST]
    launched = [total.launch(fence, settle=fence.signal) for total, fence in zip(sums, fences, strict=True)]
    for number in reversed(range(len(sums))):
        for total, one in zip(sums[: number + 1], launched, strict=False):
            total.check_nothing_happens(one)
        launched[number].settle()
        _warn_if_blocked(context, launched[number])
    for total, one, first in zip(sums, launched, _FIRST, strict=True):
        total.succeeds(one, plus(first, B))


@cases.case("one_fence_for_all", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def one_fence_for_all(context: CaseContext) -> None:
    """One signal lets every execution go that waits for its fence."""
    fixture, fence = FencedFixture(context), context.fence()
    sums = [fixture.sum(first, B) for first in _FIRST]
    launched = [total.launch(fence, settle=fence.signal) for total in sums]
    fence.signal()
    for total, one, first in zip(sums, launched, _FIRST, strict=True):
        total.succeeds(one, plus(first, B))


@cases.case("overtaken", "NNHAL-FENCED-005", "NNHAL-FENCED-006", since=_SINCE)
def overtaken(context: CaseContext) -> None:
    """An execution that waits, and one behind it that need not wait: both succeed, in whatever order."""
    fixture, fence = FencedFixture(context), context.fence()
    waiting, total = fixture.sum(), fixture.sum(B, B)
    launched = waiting.launch(fence, settle=fence.signal)
    behind = total.launch(settle=launched.settle)
    _warn_if_blocked(context, behind)
    if fence.get_state() == FenceState.UNSIGNALLED:
        waiting.check_nothing_happens(launched)
    launched.settle()
    total.succeeds(behind, plus(B, B))
    waiting.succeeds(launched)


@cases.case("forgotten", "NNHAL-FENCED-006", "NNHAL-FENCED-007", since=_SINCE)
def forgotten(context: CaseContext) -> None:
    """A client that drops fence and callback of a waiting execution harms no other: the device lives and executes."""
    fixture = FencedFixture(context)
    for ending in ("signalled", "failed"):
        with context.configuration(ending):
            fence = context.fence()
            settle = fence.signal if ending == "signalled" else fence.fail
            _launch_and_forget(fixture.sum(), fence, settle)
            settle()
            total = fixture.sum()
            total.succeeds(total.launch())
            checks.that(context.is_alive(), "the subject does not answer after an execution that nobody waits for")


@cases.case("dead_client", "NNHAL-FENCED-005", "NNHAL-QOS-011", since=_SINCE)
def dead_client(context: CaseContext) -> None:
    """An app that dies while its execution waits harms no other app: the device executes for others."""
    fixture, fence = FencedFixture(context), context.fence()
    application = context.application(_UID)
    device = context.device_of(application)
    arguments = PreparationArguments(preference=ExecutionPreference.FAST_SINGLE_ANSWER, priority=Priority.MEDIUM)
    model = fixture.chosen.model()
    prepared_model = prepare(context.subject, device, model, arguments, PreparationRecorder()).prepared_model
    if prepared_model is None:
        raise NotSupported("the model could not be prepared for an app")
    pool = application.memory.create("ashmem", POOL)
    waiting = Sum(FencedFixture(context, prepared_model), pool, PLACES, A, B)
    waiting.check_nothing_happens(waiting.launch(fence, settle=fence.signal))
    application.close()
    fence.signal()
    total = fixture.sum()
    total.succeeds(total.launch())
    checks.that(context.is_alive(), "the subject does not answer after the death of an app with a waiting execution")


def _launch_and_forget(total: Sum, fence: SettableFence, settle: Callable[[], None]) -> None:
    total.launch(fence, settle=settle)
    gc.collect()


def _warn_if_blocked(context: CaseContext, launched: Launched) -> None:
    """Say so where an execution that could end waits for another one's fence."""
    if launched.fence is not None and wait(context, launched.fence, _PROMPT_SECONDS) == FenceState.UNSIGNALLED:
        context.warn_quality("an execution waits for an earlier one that it does not depend on")


def _chained(context: CaseContext, steps: list[Sum], fence: SettableFence | None) -> list[Launched]:
    """Launch each step behind the one before. fence: what the first waits for."""
    launched: list[Launched] = []
    for step in steps:
        before = _fences_of(launched[-1]) if launched else ((fence,) if fence else ())
        launched.append(step.launch(*before, settle=fence.signal if fence else None, held_by=fence))
        checks.status(launched[-1].status, {ErrorStatus.NONE}, "executeFenced of a chain")
    return launched


def _check_flow(steps: list[Sum], launched: list[Launched]) -> None:
    """Every step has added B once more. The last one is waited for first: it implies the others."""
    expected = A
    sums = []
    for _ in steps:
        expected = plus(expected, B)
        sums.append(expected)
    for step, one, total in reversed(list(zip(steps, launched, sums, strict=True))):
        step.succeeds(one, total)


def _fences_of(launched: Launched) -> tuple[Fence, ...]:
    """What a follower waits for: nothing where the execution had finished when its call returned."""
    return () if launched.fence is None else (launched.fence,)
