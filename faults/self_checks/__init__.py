"""Self-checks of the harness, and the faults of its source that they have to detect (bookkeeping.json)."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.faults.self_checks import bookkeeping, reports, waivers
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """Every self-check."""
    for module in (bookkeeping, waivers, reports):
        yield from module.cases()
