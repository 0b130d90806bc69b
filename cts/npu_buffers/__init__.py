"""The NPU Manager's allocator of buffers: allocation, mapping, loading, freeing, preemption.

Every case drives one or two apps of its own, which die with it; what they had is free again for the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)


def case_from(payload: Any) -> Case:
    """The case of a failure file: a random scenario, whose steps the file lists."""
    from npu_conformance.cts.npu_buffers import machine

    return machine.case_from(payload)
