"""The priority of a restored model, as far as a device shows what priorities are to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, Cache, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.launching import Launched, finish, launch, wait
from npu_conformance.harness.run.preparation import PreparationArguments, model_of
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState, Priority
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import Pair
from npu_conformance.vts.lib.caching.client import GENERAL, Client, client
from npu_conformance.vts.lib.chain import LONG, Chain, Runner, longest
from npu_conformance.vts.lib.load import decline_if_exhausted

cases = CaseGroup("vts.caching", group=Group.EXECUTION)

_BUSY: Pair = (-20.0, -18.0)
_WEAK: Pair = (-16.0, -14.0)
_STRONG: tuple[Pair, ...] = ((-12.0, -10.0), (-8.0, -6.0), (-4.0, -2.0))
_ROUNDS, _USUALLY, _BY_CHANCE = 5, 4, 1
"""Of so many rounds so many have to agree: that a machine is busy brings one of them into another order."""
_PAIRS = ((Priority.LOW, Priority.MEDIUM), (Priority.MEDIUM, Priority.HIGH))

Make = Callable[[Priority, Pair], Runner]


@cases.case("priorities.restored", "NNHAL-CACHE-025", since=Version.V1_3)
def restored(context: CaseContext) -> None:
    """Where models that are prepared overtake weaker ones, so do restored ones; a warning where they no longer do.

    A device may execute in any order (NNHAL-QOS-018): it is asked only for what it does with its own priorities.
    """
    saving, chain = client(context), longest(context, LONG // 2)
    caches = {priority: _saved(saving, chain, priority) for priority in Priority}

    def prepare(priority: Priority, start: Pair) -> Runner:
        return Runner(context, chain, start, priority)

    def restore(priority: Priority, start: Pair) -> Runner:
        preparation = saving.restore(caches[priority].handles(), _token(priority))
        return Runner(context, chain, start, prepared_model=model_of(preparation, "prepareModelFromCache"))

    busy = Runner(context, longest(context), _BUSY, Priority.HIGH)
    for weak, strong in _PAIRS:
        with context.configuration(f"{weak.name.lower()}_beside_{strong.name.lower()}"):
            usual, again = ([busy, *_weak_and_strong(make, weak, strong)] for make in (prepare, restore))
            if not _is_overtaken_in(_USUALLY, context, usual):
                raise NotApplicable("the device does not show that it executes by priorities")
            if not _is_overtaken_in(_BY_CHANCE + 1, context, again):
                what = f"a restored model of priority {weak.name} is not overtaken by restored ones of {strong.name}"
                context.warn_quality(f"{what}, as prepared ones are: is the priority lost?")


def _weak_and_strong(make: Make, weak: Priority, strong: Priority) -> list[Runner]:
    return [make(weak, _WEAK), *(make(strong, start) for start in _STRONG)]


def _is_overtaken_in(least: int, context: CaseContext, runners: Sequence[Runner]) -> bool:
    """True where the second execution is overtaken in so many rounds of all; stops where that is known."""
    overtaken = 0
    for left in reversed(range(_ROUNDS)):
        overtaken += _is_overtaken(context, runners)
        if overtaken >= least or overtaken + left < least:
            break
    return overtaken >= least


def _is_overtaken(context: CaseContext, runners: Sequence[Runner]) -> bool:
    """True where the second execution ends behind all that are launched after it, while the first one goes on."""
    for runner in runners:
        runner.forget()
    launched = [launch(context, runner.prepared_model, runner.request) for runner in runners]
    if any(one.status != ErrorStatus.NONE for one in launched):
        _let_end(context, launched)  # before a refusal is told: what follows shall find room
    for one in launched:
        decline_if_exhausted(context, one.status)
    _, overtaken, *others = launched
    if overtaken.fence is not None:
        wait(context, overtaken.fence)
    are_over = [one.fence is None or one.fence.get_state() == FenceState.SIGNALLED for one in others]
    _succeeded(context, runners, launched)
    return all(are_over)


def _let_end(context: CaseContext, launched: Sequence[Launched]) -> None:
    for one in launched:
        if one.fence is not None:
            wait(context, one.fence)


def _succeeded(context: CaseContext, runners: Sequence[Runner], launched: Sequence[Launched]) -> None:
    statuses = [finish(context, one).status for one in launched]
    for runner, status in zip(runners, statuses, strict=True):
        decline_if_exhausted(context, status)
        checks.status(status, {ErrorStatus.NONE}, "execution beside others of its app")
        runner.check_output()


def _token(priority: Priority) -> bytes:
    return bytes([TOKEN[0] + 1 + priority]) + TOKEN[1:]


def _saved(saving: Client, chain: Chain, priority: Priority) -> Cache:
    cache, token = saving.cache(), _token(priority)
    preparation = saving.save(chain.model(), cache.handles(), token, beside=PreparationArguments(priority=priority))
    model_of(preparation, "prepareModel with cache files")
    if outcome(saving.restored(cache.handles(), token)) == GENERAL:
        raise NotApplicable("the device does not cache this model")
    return cache
