"""The crash tests of MLTS among the cases of a run, and MLTS's four words for how a client ended (ML-CRS-001)."""

from __future__ import annotations

from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Outcome

WORDS = {"SUCCESS": Outcome.PASS, "FAILURE": Outcome.FAIL, "HANG": Outcome.HANG, "CRASH": Outcome.CRASH}
_FAMILY = "ML-CRS-"


def is_crash_test(result: CaseResult) -> bool:
    """True for a case of MLTS that is evidence for a requirement of its crash tests."""
    parts: tuple[CaseResult | ConfigurationResult, ...] = (result, *result.configurations)
    return result.case.startswith("mlts.") and any(
        name.startswith(_FAMILY) for part in parts for name in part.requirements
    )
