"""The NPU Manager's allocator of buffers: allocation, mapping, loading, freeing, preemption.

Every case drives one or two apps of its own, which die with it; what they had is free again for the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from npu_conformance.cts.npu_buffers import allocation, freeing, loading, mapping, preemption
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """All cases, by area."""
    return itertools.chain(allocation.cases(), mapping.cases(), loading.cases(), freeing.cases(), preemption.cases())
