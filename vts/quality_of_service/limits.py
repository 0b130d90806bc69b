"""Limits that meet: each counts, and is checked, whatever stands beside it, and none is left for the next execution."""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import (
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    ErrorStatus,
)
from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.deadlines import LATE, MILLISECOND, deadline, wait_until_over
from npu_conformance.vts.lib.limits import HINTED, Way, unusual, ways
from npu_conformance.vts.lib.loops import expect_aborted, expect_sooner_than_default
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import LOOP
from npu_conformance.vts.lib.sums import Sum, sum_of

cases = CaseGroup("vts.quality_of_service", group=Group.EXECUTION)

_HOUR = 3600 * 1000 * MILLISECOND
_LONGEST = MAXIMUM_LOOP_TIMEOUT_DURATION_NS
_FOR_EVER, _ONE_ROUND, _OUTPUT_OF_LOOP = (-1.0, 0.0), (0.0, 1.0), 32
_WRONG = {
    "deadline": ("NNHAL-QOS-008", ExecutionOptions(deadline=-2)),
    "loop_timeout": ("NNHAL-CONTROLFLOW-014", ExecutionOptions(loop_timeout=-2)),
    "long_loop_timeout": ("NNHAL-CONTROLFLOW-013", ExecutionOptions(loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1)),
    "duration": ("NNHAL-FENCED-016", ExecutionOptions(duration=-2)),
}


@cases.case(
    "limits.wrong_beside_others", "NNHAL-QOS-008", "NNHAL-CONTROLFLOW-013", "NNHAL-CONTROLFLOW-014",
    "NNHAL-FENCED-016", "NNHAL-EXECUTE-013", since=Version.FL5,
)  # fmt: skip
def wrong_beside_others(context: CaseContext) -> None:
    """A limit that does not exist is rejected by each way to execute, beside other limits, hints and timing."""
    _, found = _sum(context)
    for (what, (rule, wrong)), (beside, other) in itertools.product(_WRONG.items(), _neighbours(context).items()):
        limits = _together(wrong, other)
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{what}_beside_{beside}"), checks.about(rule):
                status = way.run(limits).status
                checks.status(status, {ErrorStatus.INVALID_ARGUMENT}, f"{name} execution with a wrong {what}")


@cases.case(
    "limits.loop_beside_others",
    "NNHAL-CONTROLFLOW-011",
    "NNHAL-CONTROLFLOW-015",
    "NNHAL-EXECUTE-013",
    since=Version.V1_3,
)
def loop_beside_others(context: CaseContext) -> None:
    """The timeout of a loop counts by itself: neither the default one does nor a distant limit beside it."""
    _, request = _request_of_loop(context, _FOR_EVER)
    found = ways(context, prepared_or_unsupported(context, LOOP), request)
    for beside, other in _neighbours(context).items():
        limits = _together(ExecutionOptions(loop_timeout=MILLISECOND), other)
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.beside_{beside}"):
                started = time.monotonic()
                expect_aborted(way.run(limits))
                expect_sooner_than_default(context, time.monotonic() - started)


@cases.case(
    "limits.distant", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-QOS-005", "NNHAL-CONTROLFLOW-011", since=Version.V1_3
)
def distant(context: CaseContext) -> None:
    """Limits that are far away or none, in any mixture, are not missed; nor is a loop timeout without a loop."""
    asked, found = _sum(context)
    for names, limits in _distant_limits(context, {"none": -1, "longest": _LONGEST, "of_loops_alone": 1}):
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{'_'.join(names)}"):
                asked.clear()
                asked.check(way.run(limits), f"{name} execution, deadline, duration, loop timeout: {', '.join(names)}")


@cases.case(
    "limits.distant_for_a_loop", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-CONTROLFLOW-011", since=Version.V1_3
)
def distant_for_a_loop(context: CaseContext) -> None:
    """Limits that are far away or none, in any mixture, end no loop of one round."""
    pool, request = _request_of_loop(context, _ONE_ROUND)
    found = ways(context, prepared_or_unsupported(context, LOOP), request)
    for names, limits in _distant_limits(context, {"none": -1, "longest": _LONGEST}):
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{'_'.join(names)}"):
                pool.write(_OUTPUT_OF_LOOP, bytes(4))
                what = f"{name} execution of a loop, deadline, duration, loop timeout: {', '.join(names)}"
                checks.status(way.run(limits).status, {ErrorStatus.NONE}, what)
                checks.equal(struct.unpack("<f", pool.read(_OUTPUT_OF_LOOP, 4)), (1.0,), f"output, {what}")


def _distant_limits(
    context: CaseContext, timeouts: dict[str, int]
) -> Iterator[tuple[tuple[str, ...], ExecutionOptions]]:
    """Every mixture: the names of deadline, duration and loop timeout, and the limits."""
    deadlines = {name: deadline(name, context.version) for name in ("none", "maximum", "hour")}
    durations = {"none": -1, "hour": _HOUR, "maximum": 2**63 - 1}
    for names in itertools.product(deadlines, durations, timeouts):
        yield (
            names,
            ExecutionOptions(
                deadline=deadlines[names[0]], loop_timeout=timeouts[names[2]], duration=durations[names[1]]
            ),
        )


def _request_of_loop(context: CaseContext, values: tuple[float, float]) -> tuple[Pool, Request]:
    """A request for LOOP, and its memory."""
    pool = context.pool(64)
    for offset, value in zip((0, 16), values, strict=True):
        pool.write(offset, struct.pack("<f", value))
    *inputs, output = (RequestArgument(location=DataLocation(0, at, 4)) for at in (0, 16, _OUTPUT_OF_LOOP))
    return pool, Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))


@cases.case("limits.afterwards", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-EXECUTE-014", since=Version.V1_3)
def afterwards(context: CaseContext) -> None:
    """What limited one execution does not limit the next one, be it of the same object."""
    asked, found = _sum(context)
    kinds = {
        "deadline": ExecutionOptions(deadline=1),
        "duration": ExecutionOptions(duration=1),
        "both": ExecutionOptions(deadline=1, duration=1),
        "deadline_before_duration": ExecutionOptions(deadline=1, duration=_HOUR),
        "duration_before_deadline": ExecutionOptions(deadline=deadline("hour", context.version), duration=1),
    }
    for what, limits in kinds.items():
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{what}"):
                checks.status(way.run(limits).status, LATE, f"{name} execution with a {what} that is too short")
                for after, other in found.items():
                    asked.clear()
                    asked.check(other.run(ExecutionOptions()), f"{after} execution without limits after a {name} one")


@cases.case("limits.kept_before", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-EXECUTE-014", since=Version.V1_3)
def kept_before(context: CaseContext) -> None:
    """A limit that one execution has kept does not limit the next one when it has passed, be it of the same object."""
    asked, found = _sum(context)
    for what in ("deadline", "duration"):
        for name, way in found.items():
            end = deadline("soon", context.version) if what == "deadline" else 20 * MILLISECOND
            kept = replace(ExecutionOptions(), **{what: end})
            if way.can(kept):
                checks.status(way.run(kept).status, LATE, f"{name} execution with a {what} of 20 ms")
    wait_until_over(context, deadline("soon", context.version))
    for after, other in found.items():
        with context.configuration(after):
            asked.clear()
            asked.check(other.run(ExecutionOptions()), f"{after} execution behind limits that have passed")


def _sum(context: CaseContext) -> tuple[Sum, Mapping[str, Way]]:
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    return asked, ways(context, chosen.prepared(context), asked.request)


def _neighbours(context: CaseContext) -> dict[str, ExecutionOptions]:
    """What may stand beside a limit, and changes nothing of it."""
    return {
        "nothing": ExecutionOptions(),
        "timing": ExecutionOptions(measure=True),
        "a_deadline": ExecutionOptions(deadline=deadline("hour", context.version)),
        "a_duration": ExecutionOptions(duration=_HOUR),
        "both": ExecutionOptions(deadline=deadline("hour", context.version), duration=2 * _HOUR),
        "a_loop_timeout": ExecutionOptions(loop_timeout=2 * MILLISECOND),
        "a_hint": HINTED,
    }


def _together(limits: ExecutionOptions, other: ExecutionOptions) -> ExecutionOptions:
    """Both; what the first one says stands."""
    return replace(other, **unusual(limits))


def _taking(found: Mapping[str, Way], limits: ExecutionOptions) -> Iterator[tuple[str, Way]]:
    return ((name, way) for name, way in found.items() if way.can(limits))
