"""Deadlines, durations and loop timeouts of fenced executions: permissions to abort, which have to be well-formed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions
from npu_conformance.harness.run.executing.executors import bind
from npu_conformance.harness.run.executing.launching import FencedOptions, Launched, finish, forms, launch
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, MAXIMUM_LOOP_TIMEOUT_DURATION_NS, MISSED, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import MILLISECOND, deadline
from npu_conformance.vts.lib.fenced import FencedFixture, Sum, fenced_ways, launch_by, signal_all
from npu_conformance.vts.lib.loops import Loop, expect_aborted
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import LOOP

cases = CaseGroup("vts.fenced.limits", group=Group.EXECUTION)

_SINCE = Version.V1_3
_MAXIMUM = 2**63 - 1
_HOUR = 3600 * 10**9
_SHORT_NS, _HELD_SECONDS = 50 * MILLISECOND, 0.06
"""A duration that an addition keeps on most devices, and a wait that is longer."""
_TRIES = 3


@cases.case("unlimited", "NNHAL-FENCED-015", "NNHAL-QOS-002", since=_SINCE)
def unlimited(context: CaseContext) -> None:
    """An execution without a limit, with the largest one or with an hour is not aborted."""
    fixture = FencedFixture(context)
    options = {
        "none": FencedOptions(),
        "duration_maximum": FencedOptions(duration=_MAXIMUM),
        "duration_hour": FencedOptions(duration=_HOUR),
        "deadline_maximum": FencedOptions(deadline=_MAXIMUM),
        "both_maximum": FencedOptions(deadline=_MAXIMUM, duration=_MAXIMUM),
    }
    for name, chosen in options.items():
        for form in forms(context.version):
            with context.configuration(f"{form}.{name}"):
                total = fixture.sum()
                total.succeeds(total.launch(options=replace(chosen, form=form)))


@cases.case("too_short", "NNHAL-FENCED-011", "NNHAL-FENCED-015", "NNHAL-QOS-003", "NNHAL-QOS-005", since=_SINCE)
def too_short(context: CaseContext) -> None:
    """With limits that nothing can keep the device aborts, which fails its fence, or gives the right result late."""
    fixture = FencedFixture(context)
    options = {
        "duration": FencedOptions(duration=1),
        "duration_zero": FencedOptions(duration=0),
        "deadline": FencedOptions(deadline=1),
        "deadline_before_duration": FencedOptions(deadline=1, duration=_HOUR),
        "duration_before_deadline": FencedOptions(deadline=_MAXIMUM, duration=1),
    }
    for name, chosen in options.items():
        for form in forms(context.version):
            with context.configuration(f"{form}.{name}"):
                total = fixture.sum()
                _check_late_or_missed(total, total.launch(options=replace(chosen, form=form)))


@cases.case("earlier_of_both", "NNHAL-FENCED-015", since=_SINCE)
def earlier_of_both(context: CaseContext) -> None:
    """What the device always aborts by one limit, which nothing can keep, it aborts beside a distant limit as well.

    To abort at all is free (NNHAL-QOS-001).
    """
    fixture, hour = FencedFixture(context), deadline("hour", context.version)
    limits = {
        "deadline": (FencedOptions(deadline=1), FencedOptions(deadline=1, duration=_HOUR)),
        "duration": (FencedOptions(duration=1), FencedOptions(deadline=hour, duration=1)),
    }
    for (name, (alone, both)), form in itertools.product(limits.items(), forms(context.version)):
        with context.configuration(f"{form}.{name}"):
            if not all(_is_missed(fixture, replace(alone, form=form)) for _ in range(_TRIES)):
                raise NotApplicable(f"the device does not always abort by a {name} that nothing can keep")
            is_missed = any(_is_missed(fixture, replace(both, form=form)) for _ in range(_TRIES))
            checks.that(
                is_missed, f"a {name} that always aborts alone: expected an abort beside a later limit, found none"
            )


def _is_missed(fixture: FencedFixture, options: FencedOptions) -> bool:
    total = fixture.sum()
    return total.end(total.launch(options=options)).status in MISSED


@cases.case("too_short_behind_a_fence", "NNHAL-FENCED-011", "NNHAL-FENCED-015", since=_SINCE)
def too_short_behind_a_fence(context: CaseContext) -> None:
    """With limits that nothing can keep, work that is held back first ends as the returned fence says."""
    fixture = FencedFixture(context)
    for name, chosen in {"duration": FencedOptions(duration=1), "deadline": FencedOptions(deadline=1)}.items():
        with context.configuration(name):
            total, fence = fixture.sum(), context.fence()
            launched = total.launch(fence, options=chosen, settle=fence.signal)
            launched.settle()
            _check_late_or_missed(total, launched)


@cases.case("duration_from_the_signal", "NNHAL-FENCED-015", "NNHAL-QOS-002", since=_SINCE)
def duration_from_the_signal(context: CaseContext) -> None:
    """A duration counts from the last signal, whatever limit is beside it: one that the wait alone exceeds is kept."""
    fixture = FencedFixture(context)
    for way in fenced_ways(context.version):
        with context.configuration(f"{way.replace(' ', '_')}.the_last_of_two"):
            duration = FencedOptions(duration=_SHORT_NS)
            _in_time_behind_a_fence(context, fixture.sum, way, duration, is_behind_another=True)
    for (beside, limits), way in itertools.product(_beside(context).items(), fenced_ways(context.version)):
        with context.configuration(f"{way.replace(' ', '_')}.{beside}"):
            _in_time_behind_a_fence(context, fixture.sum, way, replace(limits, duration=_SHORT_NS))


@cases.case("loop_timeout_from_the_loop", "NNHAL-CONTROLFLOW-011", "NNHAL-FENCED-005", since=_SINCE)
def loop_timeout_from_the_loop(context: CaseContext) -> None:
    """The timeout of a loop counts from its beginning: one that the wait alone exceeds is kept."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    hour = deadline("hour", context.version)
    besides = {
        "nothing": FencedOptions(),
        "a_deadline": FencedOptions(deadline=hour),
        "a_duration": FencedOptions(duration=_HOUR),
        "both": FencedOptions(deadline=hour, duration=2 * _HOUR),
    }
    for (beside, limits), way in itertools.product(besides.items(), fenced_ways(context.version)):
        with context.configuration(f"{way.replace(' ', '_')}.{beside}"):
            options = replace(limits, loop_timeout=_SHORT_NS)
            _in_time_behind_a_fence(context, lambda: _Loop(context, prepared_model), way, options)


def _beside(context: CaseContext) -> dict[str, FencedOptions]:
    """Limits that are far away."""
    hour = deadline("hour", context.version)
    return {
        "nothing": FencedOptions(),
        "a_deadline": FencedOptions(deadline=hour),
        "the_last_deadline": FencedOptions(deadline=_MAXIMUM),
        "a_loop_timeout": FencedOptions(loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS),
        "both": FencedOptions(deadline=hour, loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS),
    }


class _Loop(Loop):
    """A loop of one round, and what computes it."""

    def __init__(self, context: CaseContext, prepared_model: PreparedModel) -> None:
        super().__init__(context, 1)
        self.prepared_model = prepared_model


def _in_time_behind_a_fence(
    context: CaseContext,
    new: Callable[[], Sum | _Loop],
    way: str,
    options: FencedOptions,
    *,
    is_behind_another: bool = False,
) -> None:
    """See work succeed that takes less than a limit, behind a fence that is open for longer than that.

    is_behind_another: it waits for a second fence as well, which is signalled once the call has returned.
    """
    for _ in range(_TRIES):
        work, fences = new(), [context.fence() for _ in range(1 + is_behind_another)]
        settle = partial(signal_all, fences)
        launched = launch_by(
            context, way, work.prepared_model, work.request, tuple(fences), options, settle=settle, held_by=fences[0]
        )
        signal_all(fences[1:])
        context.subject.wait_until(lambda: False, _HELD_SECONDS)
        signalled = time.monotonic_ns()
        launched.settle()
        status = finish(context, launched).status
        may_be_over = not launched.is_waiting or time.monotonic_ns() - signalled >= _SHORT_NS
        if status in MISSED | EXHAUSTED:
            if may_be_over:
                continue
            _require_kept_without_a_wait(context, new, way, options)
        checks.status(status, {ErrorStatus.NONE}, f"execution with a limit of {_SHORT_NS} ns from the signal on")
        work.check()
        return
    raise NotApplicable(f"an execution may take longer than {_SHORT_NS} ns")


def _require_kept_without_a_wait(
    context: CaseContext, new: Callable[[], Sum | _Loop], way: str, options: FencedOptions
) -> None:
    """NotApplicable where work that does not wait at all ends so too: to abort by a limit is free (NNHAL-QOS-001)."""
    for _ in range(_TRIES):
        work, fence = new(), context.fence()
        fence.signal()
        launched = launch_by(context, way, work.prepared_model, work.request, (fence,), options)
        if finish(context, launched).status in MISSED | EXHAUSTED:
            raise NotApplicable(f"the device aborts work that has {_SHORT_NS} ns")


@cases.case("malformed", "NNHAL-FENCED-001", "NNHAL-FENCED-016", "NNHAL-QOS-008", since=Version.FL5)
def malformed(context: CaseContext) -> None:
    """Negative times other than -1 are rejected with INVALID_ARGUMENT."""
    fixture = FencedFixture(context)
    options = {
        "duration": ("NNHAL-FENCED-016", FencedOptions(duration=-2)),
        "duration_lowest": ("NNHAL-FENCED-016", FencedOptions(duration=-(2**63))),
        "deadline": ("NNHAL-QOS-008", FencedOptions(deadline=-2)),
        "loop_timeout": ("NNHAL-CONTROLFLOW-014", FencedOptions(loop_timeout=-2)),
    }
    for name, (rule, chosen) in options.items():
        for form in forms(context.version):
            with context.configuration(f"{form}.{name}"), checks.about(rule):
                total = fixture.sum()
                launched = total.launch(options=replace(chosen, form=form))
                checks.status(launched.status, {ErrorStatus.INVALID_ARGUMENT}, f"executeFenced with a {name} below -1")
                total.check_untouched("the call was rejected")


@cases.case("loop_timeout", "NNHAL-CONTROLFLOW-015", "NNHAL-FENCED-011", since=_SINCE)
def loop_timeout(context: CaseContext) -> None:
    """A loop without end is aborted after a timeout of a millisecond, and the returned fence fails."""
    prepared_model, request = prepared_or_unsupported(context, LOOP), Loop(context, 1, step=0.0).request
    for form in forms(context.version):
        with context.configuration(form):
            launched = launch(
                context, prepared_model, request, options=FencedOptions(loop_timeout=MILLISECOND, form=form)
            )
            expect_aborted(Execution(finish(context, launched).status, (), None))


@cases.case("loop_timeout_of_another", "NNHAL-CONTROLFLOW-012", "NNHAL-FENCED-005", since=_SINCE)
def loop_timeout_of_another(context: CaseContext) -> None:
    """A loop that waits keeps its timeout: another execution of its model, of a nanosecond, comes in between."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    for form in forms(context.version):
        with context.configuration(form):
            loop, fence, options = Loop(context, 50), context.fence(), FencedOptions(form=form)
            options = replace(options, loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS)
            request = loop.request
            launched = launch(context, prepared_model, request, (fence,), options, settle=fence.signal)
            checks.status(launched.status, {ErrorStatus.NONE}, f"{form} of a loop")
            other = bind(context, prepared_model, Loop(context, 50, 2.0).request, ExecutionOptions(loop_timeout=1))
            other()  # however it ends
            launched.settle()
            checks.status(finish(context, launched).status, {ErrorStatus.NONE}, f"{form} of a loop beside another")
            loop.check("output of a loop beside another with a timeout of a nanosecond")


def _check_late_or_missed(total: Sum, launched: Launched) -> None:
    status = total.end(launched).status
    with checks.about("NNHAL-QOS-003"):
        checks.status(status, {ErrorStatus.NONE} | MISSED | EXHAUSTED, "execution that cannot be in time")
    if status == ErrorStatus.NONE:
        total.check()
