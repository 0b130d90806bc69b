"""Hostile histories of the NPU Manager: apps that ask, load, unload, cancel and die, policies, importances, pressure.

Findings: a call that is wrongly taken or refused, a request that is not answered, ends twice or is called back behind
its end, a grant beyond the budget, a model that nobody stronger displaced, room that stays unused; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.manager_target import ManagerTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "manager",
    "histories of apps that load models, against an NPU Manager",
    "manager",
    lambda found: ManagerTarget(found.subject),
)
_SHORT = ShortCase(
    "manager",
    ("NPU-LIF-013", "FUZ-001", "NPU-LIF-005", "NPU-REQ-009", "NPU-REQ-011", "NPU-POL-010"),
    "An NPU Manager survives {runs} histories of several apps, and breaks no promise in any of them.",
    "One history of an NPU Manager.",
    lambda context: ManagerTarget(context.subject),
    "manager",
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
