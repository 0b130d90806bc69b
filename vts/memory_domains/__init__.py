"""Memory domains: buffers that the device manages, their roles, states, shapes and owners.

Device.allocate is optional: a device that declines with GENERAL_FAILURE has these cases not applicable, except for
those whose call it has to refuse anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run.cases import Case
from npu_conformance.vts.lib.memory_domains import vectors
from npu_conformance.vts.memory_domains import allocation, copies, executions, shapes, sharing


def cases() -> Iterator[Case]:
    """AOSP's MemoryDomainTests, each in every type and way of execution, and what they leave out."""
    for module in (allocation, copies, executions, shapes, sharing, vectors):
        yield from module.cases()
