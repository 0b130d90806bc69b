"""Wait fences that fail: before the call they are an argument error, later they fail the returned fence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.launching import FencedOptions, Launched, forms, wait
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.fenced import FencedFixture

cases = CaseGroup("vts.fenced.failing", group=Group.EXECUTION)

_SINCE = Version.V1_3
_PROMPT_SECONDS = 0.1
_REJECTED = {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}
"""What a fence in error may be answered with: the interface text says the first, AOSP's sample driver the second."""


@cases.case("before", "NNHAL-FENCED-004", "NNHAL-FENCED-001", since=_SINCE, scope=Scope.SMOKE)
def before(context: CaseContext) -> None:
    """A wait fence that is in error already is rejected, alone and at each position among sound ones."""
    fixture = FencedFixture(context)
    fixture.executes()
    for count, position in ((1, 0), (3, 0), (3, 1), (3, 2)):
        with context.configuration(f"fence{position}of{count}"):
            total, fences = fixture.sum(), [context.fence() for _ in range(count)]
            _fail_one(fences, position)
            launched = total.launch(*fences)
            checks.status(launched.status, _REJECTED, "executeFenced with a wait fence in error")
            total.check_untouched("a wait fence was in error")


@cases.case("null", "NNHAL-FENCED-003", "NNHAL-FENCED-001", since=_SINCE, until=_SINCE)
def null(context: CaseContext) -> None:
    """A null handle among the wait fences is rejected with INVALID_ARGUMENT, alone and beside a sound one."""
    fixture, sound = FencedFixture(context), context.fence()
    sound.signal()
    for name, fences in {"alone": (None,), "first": (None, sound), "last": (sound, None)}.items():
        with context.configuration(name):
            total = fixture.sum()
            launched = total.launch(*fences)
            checks.status(launched.status, {ErrorStatus.INVALID_ARGUMENT}, "executeFenced with a null wait fence")
            total.check_untouched("a wait fence was null")


@cases.case("later", "NNHAL-FENCED-010", "NNHAL-FENCED-014", since=_SINCE, scope=Scope.SMOKE)
def later(context: CaseContext) -> None:
    """A wait fence that fails after the call fails the returned fence; the work is never done."""
    fixture = FencedFixture(context)
    for form in forms(context.version):
        with context.configuration(form):
            fixture.executes(form)
            total, fence = fixture.sum(), context.fence()
            total.fails(total.waits(fence, settle=fence.fail, options=FencedOptions(form=form)))


@cases.case("later_among_several", "NNHAL-FENCED-010", since=_SINCE)
def later_among_several(context: CaseContext) -> None:
    """One of three wait fences fails, at each position, and the others signal: the work is never done."""
    fixture = FencedFixture(context)
    fixture.executes()
    for position in range(3):
        with context.configuration(f"position{position}"):
            total, fences = fixture.sum(), [context.fence() for _ in range(3)]
            total.fails(total.waits(*fences, settle=partial(_fail_one, fences, position)))


@cases.case("at_once", "NNHAL-FENCED-010", since=_SINCE)
def at_once(context: CaseContext) -> None:
    """A failure counts at once, while other wait fences are open.

    Kernels merge fences so that the merged one ends with the last of them: a device that follows is late, not wrong.
    """
    fixture = FencedFixture(context)
    fixture.executes()
    total, (first, failing, last) = fixture.sum(), (context.fence() for _ in range(3))

    def settle() -> None:
        failing.fail()
        first.signal()
        last.signal()

    launched = total.launch(first, failing, last, settle=settle)
    if launched.is_waiting:
        total.check_nothing_happens(launched)
        failing.fail()
        _warn_if_late(context, launched)
    launched.settle()
    total.fails(launched)


def _warn_if_late(context: CaseContext, launched: Launched) -> None:
    if launched.fence is not None and wait(context, launched.fence, _PROMPT_SECONDS) == FenceState.UNSIGNALLED:
        context.warn_quality("a wait fence has failed, and the returned fence waits for the others all the same")


def _fail_one(fences: Sequence[SettableFence], position: int) -> None:
    """Fail the fence at a position, and signal the others, in their order."""
    for number, fence in enumerate(fences):
        fence.settle(FenceState.ERROR if number == position else FenceState.SIGNALLED)


@cases.case("goes_on", "NNHAL-FENCED-010", since=_SINCE)
def goes_on(context: CaseContext) -> None:
    """After a failed fence the same prepared model executes as before."""
    fixture = FencedFixture(context)
    failed, fence = fixture.sum(), context.fence()
    failed.fails(failed.waits(fence, settle=fence.fail))
    total = fixture.sum()
    total.succeeds(total.launch())
