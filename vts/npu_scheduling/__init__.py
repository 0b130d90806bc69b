"""The npu scheduling HAL: what AOSP's VtsHalNpuSchedulingTargetTest asks of it, and what it leaves out.

A vendor brings work as a `Workload` interface or as AOSP's run-test-inference. Without either the calls of the HAL are
judged, and what it reports of work that its device or somebody by hand brings. Where a subject has a virtual clock,
debouncing is judged to the millisecond; elsewhere more roughly (real_time).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)


def case_from(payload: Any) -> Case:
    """The case of a failure file: a random scenario, whose steps the file lists."""
    from npu_conformance.vts.npu_scheduling import machine

    return machine.case_from(payload)
