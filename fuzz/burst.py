"""Hostile histories of bursts: several at once, memory under tokens that are released and used again, odd requests.

Findings: an invalid execution or release that is not refused with INVALID_ARGUMENT, a valid one that is, results of
memory that the token does not mean any more, a byte outside the outputs that changes, an undocumented status; in HIDL
a malformed packet that is not answered with an error; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.burst_target import BurstTarget
from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "burst",
    "histories of bursts of prepared models",
    "device",
    lambda found: BurstTarget(found.subject),
)
_SHORT = ShortCase(
    "burst",
    ("NNHAL-BURST-017", "FUZ-001", "NNHAL-BURST-012", "NNHAL-BURST-015"),
    "A device survives {runs} histories of bursts, and answers each execution as the interface says.",
    "One history of bursts.",
    lambda context: BurstTarget(context.subject),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
