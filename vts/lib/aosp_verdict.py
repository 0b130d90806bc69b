"""Whether AOSP's VTS would notice, too: a vendor wants to know which failures stand between a device and that suite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import AospVerdict
from npu_conformance.harness.judge.verdicts import Failed

TRIED_RULES = frozenset({"O1", "O2", "O3", "O4", "O5", "P1", "P2", "P3", "P4", "G1", "G3", "G4", "G5", "G6", "R1"})
"""Structural rules that some edit of AOSP's VTS breaks. Of all the others only the interface text speaks."""


@contextmanager
def with_aosp_verdict(verdict: AospVerdict) -> Iterator[None]:
    """Say with a failure inside whether AOSP's VTS would fail, too."""
    try:
        yield
    except Failed as failure:
        message = f"{failure}; AOSP's VTS would fail too: {verdict}"
        with checks.about(*failure.about):
            raise Failed(message, failure.expected, failure.found) from None


def verdict_for_rule(rule: str) -> AospVerdict:
    """The verdict for a case of our own about a rule: AOSP's VTS may break it by another edit, or never does."""
    return "unknown" if rule in TRIED_RULES else "no"
