"""Hostile histories of a scheduling HAL: apps that run, cancel and die, configs, callbacks, and the time between.

Findings: a call that is wrongly taken or refused, a run that ends twice, never, or otherwise than it may, an event
that no work explains, that comes too early, too often, in no order, or at a callback that is gone; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.scheduling_target import SchedulingTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "scheduling",
    "histories of apps that work, against a scheduling HAL",
    "scheduling",
    lambda found: SchedulingTarget(found.subject),
)
_SHORT = ShortCase(
    "scheduling",
    ("NPU-HAL-019", "FUZ-001", "NPU-HAL-006", "NPU-HAL-026", "NPU-HAL-030"),
    "A scheduling HAL survives {runs} histories of several apps, and breaks no promise in any of them.",
    "One history of a scheduling HAL.",
    lambda context: SchedulingTarget(context.subject),
    "scheduling",
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
