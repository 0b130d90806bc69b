"""Hostile requests against a device: edited requests for prepared models of the stored vectors.

Findings: an invalid request that is not refused with INVALID_ARGUMENT, a valid one that is, wrong outputs, a byte
outside the outputs that changes, an undocumented status; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.request_target import RequestTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "requests",
    "requests that are nearly valid, for prepared models",
    "device",
    lambda found: RequestTarget(found.subject),
)
_SHORT = ShortCase(
    "requests",
    ("NNHAL-ROBUST-003", "FUZ-001", "NNHAL-ERROR-006"),
    "A device survives {runs} edited requests, and answers each as the interface says.",
    "One edited request.",
    lambda context: RequestTarget(context.subject),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
