"""Hostile histories of buffers that a driver manages: allocation, copies, executions in every way, and use after free.

Findings: an illegal role or use that is not refused, a legal one that is, content of an uninitialised or another
buffer, a size or shape that the buffer does not have any more, a byte of shared memory that changes; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.memory_domain_target import MemoryDomainTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "memory_domain",
    "histories of buffers that a driver manages",
    "device",
    lambda found: MemoryDomainTarget(found.subject),
)
_SHORT = ShortCase(
    "memory_domain",
    ("NNHAL-MEMDOMAIN-015", "FUZ-001", "NNHAL-MEMDOMAIN-014", "NNHAL-MEMDOMAIN-024", "NNHAL-MEMDOMAIN-032"),
    "A device survives {runs} histories of buffers, and its buffers are in the documented states.",
    "One history of buffers.",
    lambda context: MemoryDomainTarget(context.subject),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
