"""Limits that meet: each counts, and is checked, whatever stands beside it, and none is left for the next execution."""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Iterator, Mapping

from msgspec.structs import asdict, replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import (
    DEFAULT_LOOP_TIMEOUT_DURATION_NS,
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    ErrorStatus,
)
from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.deadlines import LATE, MILLISECOND, deadline
from npu_conformance.vts.lib.limits import Limits, Way, ways
from npu_conformance.vts.lib.loops import expect_aborted
from npu_conformance.vts.lib.structure_models import LOOP
from npu_conformance.vts.lib.sums import Sum, sum_of

cases = CaseGroup("vts.quality_of_service", group=Group.EXECUTION)

_DEFAULT_SECONDS = DEFAULT_LOOP_TIMEOUT_DURATION_NS / 1e9
_HOUR = 3600 * 1000 * MILLISECOND
_WRONG = {
    "deadline": ("NNHAL-QOS-008", Limits(deadline=-2)),
    "loop_timeout": ("NNHAL-CONTROLFLOW-014", Limits(loop_timeout=-2)),
    "long_loop_timeout": ("NNHAL-CONTROLFLOW-013", Limits(loop_timeout=MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1)),
    "duration": ("NNHAL-FENCED-016", Limits(duration=-2)),
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
    pool = context.pool(64)
    pool.write(0, struct.pack("<f", -1.0))
    *inputs, output = (RequestArgument(location=DataLocation(0, offset, 4)) for offset in (0, 16, 32))
    request = Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))
    found = ways(context, addition.prepared(context, LOOP), request)
    for beside, other in _neighbours(context).items():
        limits = _together(Limits(loop_timeout=MILLISECOND), other)
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.beside_{beside}"):
                started = time.monotonic()
                expect_aborted(way.run(limits))
                elapsed, latest = time.monotonic() - started, _DEFAULT_SECONDS * max(context.manifest.time_scale, 1.0)
                checks.that(elapsed < latest, f"aborted after {elapsed:.3f} s: expected less than {latest:g} s")


@cases.case("limits.distant", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-QOS-005", since=Version.V1_3)
def distant(context: CaseContext) -> None:
    """Limits that are far away or none, in any mixture, are not missed."""
    asked, found = _sum(context)
    deadlines = {name: deadline(name, context.version) for name in ("none", "maximum", "hour")}
    durations, timeouts = {"none": -1, "hour": _HOUR}, {"none": -1, "longest": MAXIMUM_LOOP_TIMEOUT_DURATION_NS}
    for names in itertools.product(deadlines, durations, timeouts):
        limits = Limits(deadlines[names[0]], timeouts[names[2]], durations[names[1]])
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{'_'.join(names)}"):
                asked.clear()
                asked.check(way.run(limits), f"{name} execution, deadline, duration, loop timeout: {', '.join(names)}")


@cases.case("limits.afterwards", "NNHAL-QOS-002", "NNHAL-FENCED-015", "NNHAL-EXECUTE-014", since=Version.V1_3)
def afterwards(context: CaseContext) -> None:
    """What limited one execution does not limit the next one, be it of the same object."""
    asked, found = _sum(context)
    for what, limits in {"deadline": Limits(deadline=1), "duration": Limits(duration=1)}.items():
        for name, way in _taking(found, limits):
            with context.configuration(f"{name}.{what}"):
                checks.status(way.run(limits).status, LATE, f"{name} execution with a {what} that is too short")
                for after, other in found.items():
                    asked.clear()
                    asked.check(other.run(Limits()), f"{after} execution without limits after a {name} one")


def _sum(context: CaseContext) -> tuple[Sum, Mapping[str, Way]]:
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    return asked, ways(context, chosen.prepared(context), asked.request)


def _neighbours(context: CaseContext) -> dict[str, Limits]:
    """What may stand beside a limit, and changes nothing of it."""
    return {
        "nothing": Limits(),
        "timing": Limits(measure=True),
        "a_deadline": Limits(deadline=deadline("hour", context.version)),
        "a_duration": Limits(duration=_HOUR),
        "both": Limits(deadline=deadline("hour", context.version), duration=2 * _HOUR),
        "a_loop_timeout": Limits(loop_timeout=2 * MILLISECOND),
        "a_hint": Limits(hinted=True),
    }


def _together(limits: Limits, other: Limits) -> Limits:
    """Both; what the first one says stands."""
    usual = asdict(Limits())
    return replace(other, **{name: value for name, value in asdict(limits).items() if value != usual[name]})


def _taking(found: Mapping[str, Way], limits: Limits) -> Iterator[tuple[str, Way]]:
    return ((name, way) for name, way in found.items() if way.can(limits))
