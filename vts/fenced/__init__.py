"""Fenced execution: work that waits for fences, signals its end by one, and reports afterwards how it went.

A driver that has no fences of its own waits in the call and returns none (NNHAL-FENCED-008): it conforms, and every
case accepts it. Where a call should find an open fence, the case settles that after a moment while the call lasts.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
