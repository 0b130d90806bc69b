"""Bursts: HIDL's packets over fast message queues, AIDL's calls with memory that is known by tokens."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run.cases import Case
from npu_conformance.vts.burst import calls, configuring, malformed, packets_in_order, results, slots


def cases() -> Iterator[Case]:
    """Those of every version from 1.2 on, then HIDL's, then AIDL's."""
    yield from configuring.cases()
    yield from packets_in_order.cases()
    yield from results.cases()
    yield from slots.cases()
    yield from malformed.cases()
    yield from calls.cases()
