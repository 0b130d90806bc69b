"""Hostile models against a device: mutated models of the stored vectors, judged by the contract's validator.

Findings: an exception or status that the method does not have, a wrong number of answers, an invalid model that is
not rejected with INVALID_ARGUMENT, a valid one that is, a callback that is not notified exactly once; a crash, a hang.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.model_target import ModelTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "models", "models that are nearly valid, against a device", "device", lambda found: ModelTarget(found.subject)
)
_SHORT = ShortCase(
    "models",
    ("NNHAL-ROBUST-003", "FUZ-001", "NNHAL-ERROR-006", "NNHAL-PREPARE-002"),
    "A device survives {runs} mutated models, and answers each as the interface says.",
    "One mutated model.",
    lambda context: ModelTarget(context.subject, one_each=True),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
