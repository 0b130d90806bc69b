"""Buffers of outputs after executions and copies that failed: the next result is there, and can be an input."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.executors import bind
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, SUM, A, B
from npu_conformance.vts.lib.deadlines import LATE
from npu_conformance.vts.lib.memory_domains.fixture import (
    INVALID,
    Argument,
    BufferFixture,
    by_each_executor,
    request_of,
)

cases = CaseGroup("vts.memory_domains.behind_failures", group=Group.MEMORY)
_SINCE = Version.V1_3
_PASSED = 1
"""A deadline in the past."""

Fail = Callable[[BufferFixture, PreparedModel, DeviceBuffer], None]


def _late(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer) -> None:
    request = request_of((fixture.pool(), fixture.pool()), (made,))
    run = bind(fixture.context, model, request, ExecutionOptions(deadline=_PASSED), fixture.executor)
    with checks.about("NNHAL-QOS-003"):
        checks.status(run().status, LATE, "execution whose deadline has passed")


def _refused(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer) -> None:
    wrong = Argument(made, (2 * fixture.elements,))
    fixture.fails(model, (fixture.pool(), fixture.pool()), (wrong,), INVALID, "execution with dimensions of no buffer")


def _copy_of_another_size(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer) -> None:
    with checks.about("NNHAL-MEMDOMAIN-017"):
        checks.status(fixture.copy_from(made, bytes(2 * SIZE)), {INVALID}, "copyFrom of another size")


def _copy_to_another_size(fixture: BufferFixture, model: PreparedModel, made: DeviceBuffer) -> None:
    fixture.fill(made, B)
    with checks.about("NNHAL-MEMDOMAIN-020"):
        checks.status(fixture.copy_to(made, 2 * SIZE), {INVALID}, "copyTo of another size")


_FAILURES: dict[str, Fail] = {
    "a late execution": _late,
    "a refused execution": _refused,
    "a copy of another size": _copy_of_another_size,
    "a copy to another size": _copy_to_another_size,
}


@cases.case("next_result", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-022", "NNHAL-MEMDOMAIN-032", since=_SINCE)
@by_each_executor
def next_result(fixture: BufferFixture) -> None:
    """Behind each kind of failure the next execution fills its buffer, which the one after it reads."""
    model, result = fixture.prepare(), fixture.pool()
    made = fixture.allocate(model, inputs=(0,), outputs=(0,))
    one, other = (fixture.pool(fixture.chosen.packed(values)) for values in (A, B))
    for what, fail in _FAILURES.items():
        for _ in range(2):
            fail(fixture, model, made)
            fixture.succeeds(model, (one, other), (made,), f"execution into a buffer behind {what}")
            fixture.holds(made, SUM, f"buffer of an execution behind {what}")
        fixture.succeeds(model, (made, other), (result,), f"execution on a buffer that was filled behind {what}")
        expected = (SUM[0] + B[0], SUM[1] + B[1])
        fixture.chosen.check(bytes(result.read(0, SIZE)), expected, f"sum of a buffer that was filled behind {what}")
