"""Hostile histories of the NNAPI C API: several models, compilations, executions and memories, in any order.

Findings: a call that is wrongly taken or refused, another code than the documented one, a wrong result, bytes written
behind an output, an object that remains; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.runtime_target import RuntimeTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "runtime",
    "histories of calls of the NNAPI C API, against a runtime",
    "runtime",
    lambda found: RuntimeTarget(found.subject),
)
_SHORT = ShortCase(
    "runtime",
    ("FUZ-011", "FUZ-001", "FW-API-001", "FW-MDL-023", "FW-CMP-003", "FW-EXE-002", "FW-EXE-013", "FW-MEM-006"),
    "A runtime survives {runs} histories of calls of the NNAPI C API, and answers each call as documented.",
    "One history of calls of the NNAPI C API.",
    lambda context: RuntimeTarget(context.subject),
    "runtime",
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
