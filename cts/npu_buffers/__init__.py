"""The NPU Manager's allocator of buffers: allocation, mapping, loading, freeing, preemption.

Every case drives one or two apps of its own, which die with it; what they had is free again for the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
