"""Models and requests that nobody wrote, on one implementation or two: numbers are compared by the public bounds.

Findings: numbers that are further off than all operations together may be, with the operation; a model that is
supported and is not prepared or executed; a byte beside the outputs that changes; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.differential_target import DifferentialTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "differential",
    "drawn models and graphs: two implementations (--beside), or one and the oracles",
    "device",
    lambda found: DifferentialTarget(found.subject, found.beside),
)
_SHORT = ShortCase(
    "differential",
    ("NNHAL-EXECUTE-001", "FUZ-001", "RGG-006"),
    "A device computes {runs} drawn models and graphs as the oracles do, within the public bounds.",
    "One drawn model.",
    lambda context: DifferentialTarget(context.subject, context.beside, one_each=True),
    runs=80,
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
