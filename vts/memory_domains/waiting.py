"""Buffers of fenced executions that wait: they are read and written when the fences have signalled, and not before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.launching import Launched, finish
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, busy
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, Fence, PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, A, B, Pair
from npu_conformance.vts.lib.fenced import fenced_ways, launch_by
from npu_conformance.vts.lib.memory_domains.fixture import NONE, BufferFixture, Place, request_of

cases = CaseGroup("vts.memory_domains.waiting", group=Group.MEMORY)
_SINCE = Version.V1_3
_FIRST, _STEP = (0.5, -1.0), (0.25, 0.75)
"""What buffers hold when executions are launched, and what a state grows by."""
_STEPS = 4


class _Chain:
    """Fenced executions of one model, launched one behind the other; the first waits for a fence of the client."""

    def __init__(self, fixture: BufferFixture, way: str) -> None:
        self.fixture, self._way = fixture, way
        self.model: PreparedModel = fixture.prepare()
        self.fence: SettableFence = fixture.context.fence()
        self._launched: list[Launched] = []

    def launch(self, inputs: Sequence[Place], outputs: Sequence[Place]) -> None:
        """Launch one more execution behind all that were launched before."""
        fences: list[Fence] = [self.fence]
        if self._launched:
            fences = [one.fence for one in self._launched[-1:] if one.fence is not None]
        version = self.fixture.context.version
        launched = launch_by(
            self.fixture.context,
            self._way,
            self.model,
            request_of(inputs, outputs),
            tuple(fences),
            settle=self.fence.signal,
            held_by=self.fence,
        )
        if launched.status in EXHAUSTED or (self._launched and launched.status in busy(version)):
            self.fence.signal()
            raise NotApplicable("the device lets no more executions wait", vagueness(launched.status, version))
        checks.status(launched.status, {NONE}, "launch of a fenced execution on a buffer with content")
        self._launched.append(launched)

    @property
    def is_waiting(self) -> bool:
        """True where nothing can have been computed yet."""
        return all(one.is_waiting for one in self._launched)

    def end(self) -> None:
        """Signal, and see every execution succeed."""
        self.fence.signal()
        for number, launched in enumerate(self._launched, 1):
            checks.status(finish(self.fixture.context, launched).status, {NONE}, f"execution {number} of a chain")

    def filled(
        self, *, inputs: tuple[int, ...] = (), outputs: tuple[int, ...] = (), values: Pair = _FIRST
    ) -> DeviceBuffer:
        """A buffer with content."""
        made = self.fixture.allocate(self.model, inputs=inputs, outputs=outputs)
        self.fixture.fill(made, values)
        return made

    def pool(self, values: Pair) -> Pool:
        """Shared memory with these values."""
        return self.fixture.pool(self.fixture.chosen.packed(values))

    def gives(self, result: Pool, expected: Pair, what: str) -> None:
        """See what an execution has written to shared memory."""
        with checks.about("NNHAL-FENCED-005"):
            self.fixture.chosen.check(bytes(result.read(0, SIZE)), expected, what)


def _sum(*values: Pair) -> Pair:
    return sum(one[0] for one in values), sum(one[1] for one in values)


def _by_each_way(check: Callable[[_Chain], None]) -> Callable[[CaseContext], None]:
    @functools.wraps(check)
    def run(context: CaseContext) -> None:
        chosen = addition.supported(context)
        for way in fenced_ways(context.version):
            with context.configuration(way.replace(" ", "_")):
                check(_Chain(BufferFixture(context, chosen), way))

    return run


@cases.case("reads_the_last_result", "NNHAL-FENCED-005", "NNHAL-FENCED-012", "NNHAL-MEMDOMAIN-015", since=_SINCE)
@_by_each_way
def reads_the_last_result(chain: _Chain) -> None:
    """A buffer with content is written by one execution and read by the next, as either input or as both."""
    one, other = chain.pool(A), chain.pool(B)
    made, result = chain.filled(inputs=(0, 1), outputs=(0,)), [chain.fixture.pool() for _ in range(3)]
    chain.launch((one, other), (made,))
    chain.launch((made, other), (result[0],))
    chain.launch((other, made), (result[1],))
    chain.launch((made, made), (result[2],))
    chain.end()
    for number, expected in enumerate((_sum(A, B, B), _sum(B, A, B), _sum(A, B, A, B))):
        chain.gives(result[number], expected, f"sum {number} of what the execution before has left in a buffer")
    chain.fixture.holds(made, _sum(A, B), "buffer behind the chain")


@cases.case("reads_before_the_next_result", "NNHAL-FENCED-005", "NNHAL-FENCED-012", "NNHAL-MEMDOMAIN-015", since=_SINCE)
@_by_each_way
def reads_before_the_next_result(chain: _Chain) -> None:
    """A buffer is read by one execution and written by the next; launching that one takes nothing from it."""
    one, other = chain.pool(A), chain.pool(B)
    made, result = chain.filled(inputs=(0,), outputs=(0,)), chain.fixture.pool()
    chain.launch((made, other), (result,))
    chain.launch((one, other), (made,))
    chain.end()
    chain.gives(result, _sum(_FIRST, B), "sum of what a buffer held before the next execution")
    chain.fixture.holds(made, _sum(A, B), "buffer behind the chain")


@cases.case("state", "NNHAL-FENCED-005", "NNHAL-FENCED-012", "NNHAL-MEMDOMAIN-032", since=_SINCE)
@_by_each_way
def state(chain: _Chain) -> None:
    """A state goes to and fro between two buffers with content while all steps wait for one fence."""
    step = chain.pool(_STEP)
    buffers = [chain.filled(inputs=(0,), outputs=(0,), values=values) for values in (_FIRST, A)]
    for number in range(_STEPS):
        chain.launch((buffers[number % 2], step), (buffers[1 - number % 2],))
    chain.end()
    expected = _sum(_FIRST, *[_STEP] * _STEPS)
    chain.fixture.holds(buffers[_STEPS % 2], expected, f"state after {_STEPS} steps")
    chain.fixture.holds(buffers[1 - _STEPS % 2], _sum(_FIRST, *[_STEP] * (_STEPS - 1)), "state one step before")


@cases.case("reads_the_last_copy", "NNHAL-FENCED-005", "NNHAL-MEMDOMAIN-015", since=_SINCE)
@_by_each_way
def reads_the_last_copy(chain: _Chain) -> None:
    """What the client copies into a buffer before it signals is what the waiting execution reads.

    A driver may refuse to copy into a buffer that is in use.
    """
    made, result = chain.filled(inputs=(0,)), chain.fixture.pool()
    chain.launch((made, chain.pool(B)), (result,))
    if not chain.is_waiting:
        raise NotApplicable("the call waits for the fence")
    if chain.fixture.copy_from(made, chain.fixture.chosen.packed(A)) != NONE:
        chain.fence.signal()
        raise NotApplicable("nothing can be copied into a buffer that an execution is to read")
    chain.end()
    chain.gives(result, _sum(A, B), "sum of what was copied into a buffer before the signal")
