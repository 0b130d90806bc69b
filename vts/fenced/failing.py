"""Wait fences that fail: before the call they are an argument error, later they fail the returned fence."""

from __future__ import annotations

from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Group, Scope
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.versions import Version
from npu_conformance.vts.fenced.launching import Terms, forms, wait
from npu_conformance.vts.fenced.sums import Bench

cases = Behaviours("vts.fenced.failing", group=Group.EXECUTION)

_SINCE = Version.V1_3
_PROMPT_SECONDS = 0.1
_REFUSED = {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}
"""What a fence in error may be answered with: the interface text says the first, AOSP's sample driver the second."""


@cases.case("before", "NNHAL-FENCED-001", "NNHAL-FENCED-004", since=_SINCE, scope=Scope.SMOKE)
def before(trial: Trial) -> None:
    """A wait fence that is in error already is refused, alone and at each position among sound ones."""
    bench = Bench(trial)
    for count, position in ((1, 0), (3, 0), (3, 1), (3, 2)):
        with trial.configuration(f"fence{position}of{count}"):
            total, fences = bench.sum(), [trial.fence() for _ in range(count)]
            for number, fence in enumerate(fences):
                fence.settle(FenceState.ERROR if number == position else FenceState.SIGNALLED)
            launched = total.launch(*fences)
            checks.status(launched.status, _REFUSED, "executeFenced with a wait fence in error")
            total.check_untouched("a wait fence was in error")


@cases.case("null", "NNHAL-FENCED-001", "NNHAL-FENCED-003", since=_SINCE, until=_SINCE)
def null(trial: Trial) -> None:
    """A null handle among the wait fences is refused with INVALID_ARGUMENT, alone and beside a sound one."""
    bench, sound = Bench(trial), trial.fence()
    sound.signal()
    for name, fences in {"alone": (None,), "first": (None, sound), "last": (sound, None)}.items():
        with trial.configuration(name):
            total = bench.sum()
            launched = total.launch(*fences)
            checks.status(launched.status, {ErrorStatus.INVALID_ARGUMENT}, "executeFenced with a null wait fence")
            total.check_untouched("a wait fence was null")


@cases.case("later", "NNHAL-FENCED-010", "NNHAL-FENCED-014", since=_SINCE, scope=Scope.SMOKE)
def later(trial: Trial) -> None:
    """A wait fence that fails after the call fails the returned fence; the work is never done."""
    bench = Bench(trial)
    for form in forms(trial.version):
        with trial.configuration(form):
            total, fence = bench.sum(), trial.fence()
            total.fails(total.waits(fence, settle=fence.fail, terms=Terms(form=form)))


@cases.case("later_among_several", "NNHAL-FENCED-010", since=_SINCE)
def later_among_several(trial: Trial) -> None:
    """One of three wait fences fails, at each position, and the others signal: the work is never done."""
    bench = Bench(trial)
    for position in range(3):
        with trial.configuration(f"position{position}"):
            total, fences = bench.sum(), [trial.fence() for _ in range(3)]

            def settle(fences=fences, position=position) -> None:  # type: ignore[no-untyped-def]
                for number, fence in enumerate(fences):
                    fence.settle(FenceState.ERROR if number == position else FenceState.SIGNALLED)

            total.fails(total.waits(*fences, settle=settle))


@cases.case("at_once", "NNHAL-FENCED-010", since=_SINCE)
def at_once(trial: Trial) -> None:
    """A failure counts at once, while other wait fences are open.

    Kernels merge fences so that the merged one ends with the last of them: a device that follows is late, not wrong.
    """
    bench = Bench(trial)
    total, failing, *others = bench.sum(), trial.fence(), trial.fence(), trial.fence()
    launched = total.launch(others[0], failing, others[1], settle=failing.fail)
    total.check_nothing_happens(launched)
    launched.settle()
    is_open = launched.fence is not None and wait(trial, launched.fence, _PROMPT_SECONDS) == FenceState.UNSIGNALLED
    if is_open:
        trial.warn_quality("a wait fence has failed, and the returned fence waits for the others all the same")
    for fence in others:
        fence.signal()
    total.fails(launched)


@cases.case("goes_on", "NNHAL-FENCED-010", since=_SINCE)
def goes_on(trial: Trial) -> None:
    """After a failed fence the same prepared model executes as before."""
    bench = Bench(trial)
    failed, fence = bench.sum(), trial.fence()
    failed.fails(failed.waits(fence, settle=fence.fail))
    total = bench.sum()
    total.succeeds(total.launch())
