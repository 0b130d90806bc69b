"""Hostile lines against the serving side of the wire, with the subject behind it.

Findings: the server raises, a request or an unreadable line has not exactly one answer, an answer is not JSON-RPC,
a plug-in's exception crosses, the connection does not survive, a limit is not kept; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.target import Fuzzer
from npu_conformance.fuzz.lib.wire_target import ConnectionTarget, served

FUZZER = Fuzzer("wire", "broken lines, against the serving side of the wire", None, served)
_SHORT = ShortCase(
    "wire",
    ("NNHAL-ROBUST-003", "FUZ-001"),
    "A server survives {runs} conversations of broken lines, and answers each as JSON-RPC says.",
    "One conversation of broken lines.",
    ConnectionTarget,
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
