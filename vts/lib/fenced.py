"""Additions that wait for fences: their memory, and what must not have happened to it yet."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import config_of
from npu_conformance.harness.run.executing.launching import (
    PLAIN,
    FencedOptions,
    Launched,
    Outcome,
    finish,
    forms,
    launch,
    wait,
)
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus, FenceState, busy
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.hal import Execution, Fence, FencedExecutionResult, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExecutionConfig,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, SUM, A, B, Pair
from npu_conformance.vts.lib.load import decline_if_exhausted

_STEP = 16
POOL, PLACES = 4 * _STEP, (0, _STEP, 2 * _STEP)
"""Bytes of the pool of one sum, and offsets of its summands and of the sum."""
_UNTOUCHED = bytes([FILL]) * SIZE
_ROUNDS, _ROUND_SECONDS = 4, 0.002
"""How long to look for what must not happen: nothing conforming depends on it."""


class FencedFixture:
    """A prepared addition, and sums of it that lie in one pool each."""

    def __init__(self, context: CaseContext, prepared_model: PreparedModel | None = None) -> None:
        """prepared_model: the addition in the first type that the device has; prepared here where there is none."""
        self.context = context
        self.chosen = addition.supported(context)
        self.prepared_model = prepared_model or self.chosen.prepared(context)
        self.in_flight: list[weakref.ref[Launched]] = []
        """Executions that have been launched and were not seen to end: there may be no room beside them."""
        self.have_been_together = False
        """True where there were two of them: a device that begins what it has accepted may find no room for both."""

    def let_end(self) -> None:
        """Wait for what is in flight and still known, so that nothing is refused for it in the next case."""
        for launched in [found for one in self.in_flight if (found := one())]:
            launched.settle()
            if launched.fence is not None:
                wait(self.context, launched.fence)

    def sum(self, first: Pair = A, second: Pair = B) -> Sum:
        """An addition with its own memory."""
        return Sum(self, self.context.pool(POOL), PLACES, first, second)

    def executes(self, form: str = PLAIN) -> None:
        """See that a sum succeeds, for cases about failures: where nothing succeeds, a failure shows nothing."""
        total = self.sum()
        with checks.about("NNHAL-EXECUTE-008"):
            total.succeeds(total.launch(options=FencedOptions(form=form)))

    def steps(self, count: int) -> list[Sum]:
        """Additions in one pool, each of the result of the one before, A at the beginning, and B."""
        pool = self.context.pool((count + 2) * _STEP)
        places = [(0 if step == 0 else (step + 1) * _STEP, _STEP, (step + 2) * _STEP) for step in range(count)]
        return [Sum(self, pool, place, A if step == 0 else None, B) for step, place in enumerate(places)]


class Sum:
    """One addition. places: offsets of the summands and of the sum; a summand of None is left as it is."""

    def __init__(
        self, fixture: FencedFixture, pool: Pool, places: tuple[int, int, int], first: Pair | None, second: Pair
    ) -> None:
        self._fixture = fixture
        self._pool = pool
        self._places = places
        if first is not None:
            self.write(first)
        pool.write(places[1], fixture.chosen.packed(second))
        self.clear()
        *summands, output = (RequestArgument(location=DataLocation(0, offset, SIZE)) for offset in places)
        self.request = Request(tuple(summands), (output,), (RequestMemoryPool(pool=pool.memory),))

    @property
    def prepared_model(self) -> PreparedModel:
        """The addition."""
        return self._fixture.prepared_model

    def write(self, first: Pair) -> None:
        """Write the first summand."""
        self._pool.write(self._places[0], self._fixture.chosen.packed(first))

    def clear(self) -> None:
        """Make the output something that no sum is."""
        self._pool.write(self._places[2], _UNTOUCHED)

    def launch(
        self,
        *wait_for: Fence | None,
        options: FencedOptions | None = None,
        settle: Callable[[], None] | None = None,
        held_by: Fence | None = None,
    ) -> Launched:
        """Launch; see launching.launch. NotSupported where the device has no room for it beside those before."""
        fixture = self._fixture
        model, context = fixture.prepared_model, fixture.context
        launched = launch(context, model, self.request, wait_for, options, settle=settle, held_by=held_by)
        # One that waits for what has failed fails as well, however busy the device is (NNHAL-FENCED-004).
        has_failed = any(one is not None and one.get_state() == FenceState.ERROR for one in wait_for)
        if fixture.in_flight and not has_failed and launched.status in busy(context.version):
            fixture.let_end()
            decline_if_exhausted(context, launched.status)
        if launched.fence is not None:
            fixture.in_flight.append(weakref.ref(launched))
            fixture.have_been_together |= len(fixture.in_flight) > 1
        return launched

    def end(self, launched: Launched, *, measured: bool = False) -> Outcome:
        """Wait for the end; see launching.finish."""
        outcome = finish(self._fixture.context, launched, measured=measured)
        flying = self._fixture.in_flight
        flying[:] = [one for one in flying if one() is not launched]
        return outcome

    def waits(
        self, *wait_for: SettableFence, settle: Callable[[], None], options: FencedOptions | None = None
    ) -> Launched:
        """Launch with open fences, see that nothing happens, settle them."""
        launched = self.launch(*wait_for, options=options, settle=settle)
        self.check_nothing_happens(launched)
        launched.settle()
        return launched

    def succeeds(self, launched: Launched, expected: Pair = SUM, *, measured: bool = False) -> Outcome:
        """Wait for the end: status NONE, and the sum is there by then."""
        outcome = self.end(launched, measured=measured)
        if self._fixture.have_been_together and outcome.status in EXHAUSTED:
            decline_if_exhausted(self._fixture.context, outcome.status)
        checks.status(outcome.status, {ErrorStatus.NONE}, "fenced execution")
        self.check(expected)
        return outcome

    def fails(self, launched: Launched) -> None:
        """Wait for the end that a failed wait fence brings about: an error, nothing written (NNHAL-FENCED-010)."""
        if launched.fence is not None:
            with checks.about("NNHAL-FENCED-010"):
                state = wait(self._fixture.context, launched.fence)
                checks.equal(state, FenceState.ERROR, "state of the returned fence after a wait fence has failed")
        outcome = self.end(launched)
        with checks.about("NNHAL-FENCED-014"):
            checks.that(outcome.status != ErrorStatus.NONE, "a wait fence has failed: expected a failure, found NONE")
        self.check_untouched("a wait fence has failed")

    def check(self, expected: Pair = SUM) -> None:
        """Fail unless the output is the sum."""
        self._fixture.chosen.check(self._output(), expected, "sum of the fenced execution")

    def check_untouched(self, what: str, *, from_byte: int = 0) -> None:
        """Fail where something was written to the output, from one of its bytes on."""
        checks.that(self._output()[from_byte:] == _UNTOUCHED[from_byte:], f"{what}: the output was written")

    @checks.about("NNHAL-FENCED-005")
    def check_nothing_happens(self, launched: Launched) -> None:
        """While wait fences are open: nothing is written, the fence is unsignalled, the callback does not know."""
        if not launched.is_waiting or launched.fence is None or launched.callback is None:
            return
        for _ in range(_ROUNDS):
            state = launched.fence.get_state()
            self.check_untouched("a wait fence is open")  # behind the state: computed is worse than signalled
            with checks.about("NNHAL-FENCED-006"):
                checks.equal(state, FenceState.UNSIGNALLED, "state of the fence while waiting")
            status = launched.callback.get_execution_info().status
            found = (
                f"getExecutionInfo while a wait fence is open: expected GENERAL_FAILURE, found {status_name(status)}"
            )
            with checks.about("NNHAL-FENCED-013"):
                checks.that(status == ErrorStatus.GENERAL_FAILURE, found)
            time.sleep(_ROUND_SECONDS)

    def _output(self) -> bytes:
        return bytes(self._pool.read(self._places[2], SIZE))


def signal_all(fences: Iterable[SettableFence]) -> None:
    """Signal fences of the client, one after the other."""
    for fence in fences:
        fence.signal()


class BoundModel(PreparedModel):
    """A reusable execution in the form in which models are launched."""

    def __init__(self, execution: Execution) -> None:
        """execution: has its request, and what its config says, already."""
        self._execution = execution

    def execute_fenced(
        self,
        request: Request,
        wait_for: tuple[Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> FencedExecutionResult:
        """Run it; the fences that are left out are None."""
        fences = tuple(fence for fence in wait_for if fence is not None)
        return self._execution.execute_fenced(fences, deadline_ns, duration_ns)

    def execute_fenced_with_config(
        self,
        request: Request,
        wait_for: tuple[Fence, ...],
        config: ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> FencedExecutionResult:
        """Run it."""
        return self._execution.execute_fenced(wait_for, deadline_ns, duration_ns)


REUSABLE = "executeFenced of a reusable execution"
"""A way to wait for fences, beside the forms of launching."""


def fenced_ways(version: Version) -> tuple[str, ...]:
    """The ways of a version to execute with fences."""
    return (*forms(version), REUSABLE) if version >= Version.FL8 else forms(version)


def launch_by(
    context: CaseContext,
    way: str,
    prepared_model: PreparedModel,
    request: Request,
    wait_for: tuple[Fence | None, ...] = (),
    options: FencedOptions | None = None,
    *,
    settle: Callable[[], None] | None = None,
    held_by: Fence | None = None,
) -> Launched:
    """Launch by one of `fenced_ways`; see launching.launch."""
    asked = options or FencedOptions()
    if way == REUSABLE:
        reusable = reusable_execution(context, prepared_model, request, config_of(asked))
        prepared_model, way = BoundModel(reusable), PLAIN
    asked = replace(asked, form=way)
    return launch(context, prepared_model, request, wait_for, asked, settle=settle, held_by=held_by)
