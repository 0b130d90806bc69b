"""What a failed execution leaves to its burst: names of memory are kept, released and given again as without it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import NO_IDENTITY, Request, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture
from npu_conformance.vts.lib.deadlines import LATE

cases = CaseGroup("vts.burst.behind_failures", group=Group.EXECUTION)

_NAME, _OTHER = 5, 9
_INVALID = frozenset({ErrorStatus.INVALID_ARGUMENT})
_PASSED = 1
"""A deadline in the past."""

Fail = Callable[[Burst, Pool, int], None]
"""Has an execution fail: in which burst, with which memory, under which name."""


def _refused(fixture: BurstFixture) -> Fail:
    def fail(burst: Burst, pool: Pool, name: int) -> None:
        request = fixture.request(pool)
        execution = burst.execute(replace(request, inputs=request.inputs[1:]), [name])
        checks.status(execution.status, _INVALID, "execution without an input")

    return fail


def _without_room(fixture: BurstFixture) -> Fail:
    def fail(burst: Burst, pool: Pool, name: int) -> None:
        request = fixture.request(pool)
        (output,) = request.outputs
        short = replace(output.location, length=output.location.length - 1)
        execution = burst.execute(replace(request, outputs=(replace(output, location=short),)), [name])
        checks.that(execution.status != ErrorStatus.NONE, "execution with an output too small: found NONE")

    return fail


def _late(fixture: BurstFixture, *, with_config: bool) -> Fail:
    def fail(burst: Burst, pool: Pool, name: int) -> None:
        execution = burst.execute(
            fixture.request(pool), [name], ExecutionOptions(deadline=_PASSED), with_config=with_config
        )
        checks.status(execution.status, LATE, "execution whose deadline has passed")

    return fail


def _beside_unknown_device_memory(fixture: BurstFixture) -> Fail:
    def fail(burst: Burst, pool: Pool, name: int) -> None:
        request = fixture.request(pool)
        unknown = replace(request, pools=(*request.pools, RequestMemoryPool(token=100)))
        first = replace(
            unknown.inputs[0], location=replace(unknown.inputs[0].location, pool_index=1, offset=0, length=0)
        )
        execution = burst.execute(replace(unknown, inputs=(first, unknown.inputs[1])), [name, NO_IDENTITY])
        checks.status(execution.status, _INVALID, "execution with device memory that does not exist")

    return fail


def _failures(fixture: BurstFixture, version: Version) -> Iterator[tuple[str, Fail]]:
    """Each way to fail that the version's bursts have."""
    yield "refused", _refused(fixture)
    yield "without_room", _without_room(fixture)
    if version.is_aidl:
        yield "late", _late(fixture, with_config=False)
        yield "beside_unknown_device_memory", _beside_unknown_device_memory(fixture)
    if version >= Version.FL8:
        yield "late_with_config", _late(fixture, with_config=True)


class _Life:
    """A burst, and two memories of one size for it."""

    def __init__(self, fixture: BurstFixture) -> None:
        self._fixture = fixture
        self.burst = Burst(fixture.context, fixture.prepared_model)
        self.pools = fixture.pool, fixture.another_pool()
        self._turn = 0

    def adds(self, memory: int, name: int, what: str) -> None:
        """Execute with one of the memories under a name, and see the sum of new values there."""
        self._turn += 1
        pool, first = self.pools[memory], PAIRS[self._turn % len(PAIRS)]
        self._fixture.fill(first, PAIRS[1], pool)
        execution: Execution = self.burst.execute(self._request(pool), [name])
        self._fixture.succeeded(execution, plus(first, PAIRS[1]), f"execution {what}", pool)

    def release(self, name: int) -> None:
        """Let the burst forget a name."""
        checks.works(lambda: self.burst.release(name), "release of a memory")

    def _request(self, pool: Pool) -> Request:
        return self._fixture.request(pool)


@cases.case("names", "NNHAL-BURST-009", "NNHAL-BURST-012", since=Version.V1_2)
def names(context: CaseContext) -> None:
    """Behind each kind of failure a name means its memory, and once it was released another one of the same size.

    The failing execution knows the name from before, or is the first to say it; it is released before or behind it.
    """
    fixture = burst_fixture(context)
    rules = ("NNHAL-BURST-015", "NNHAL-BURST-017") if context.version.is_aidl else ("NNHAL-BURST-009",)
    orders = {"known_before": _known_before, "first_said": _first_said, "released_before": _released_before}
    for (kind, fail), (order, live) in itertools.product(_failures(fixture, context.version), orders.items()):
        with context.configuration(f"{kind}.{order}"), checks.about(*rules):
            live(_Life(fixture), fail)


def _known_before(life: _Life, fail: Fail) -> None:
    life.adds(0, _NAME, "before a failure")
    fail(life.burst, life.pools[0], _NAME)
    life.release(_NAME)
    life.adds(1, _NAME, "with another memory under a name that was released after a failure")
    fail(life.burst, life.pools[1], _NAME)
    life.adds(1, _NAME, "with the memory of a name after another failure")
    life.adds(0, _OTHER, "with the first memory under another name")


def _first_said(life: _Life, fail: Fail) -> None:
    fail(life.burst, life.pools[0], _NAME)
    life.release(_NAME)
    life.adds(1, _NAME, "with another memory under a name that a failing execution had said first")
    fail(life.burst, life.pools[0], _OTHER)
    life.adds(0, _OTHER, "with the memory of a name that a failing execution had said first")


def _released_before(life: _Life, fail: Fail) -> None:
    life.adds(0, _NAME, "before a release")
    life.release(_NAME)
    fail(life.burst, life.pools[0], _OTHER)
    life.adds(1, _NAME, "with another memory under a name that was released before a failure")
    life.release(_OTHER)
    life.adds(1, _OTHER, "with a memory under the name that the failing execution had said")
