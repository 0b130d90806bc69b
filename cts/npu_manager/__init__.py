"""The NPU Manager as apps see it: life cycle, requests, access, policies, priorities, pressure, death, observation.

Each area is a module with cases of its own; every case starts from a clean manager under a policy that it sets.
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
    from npu_conformance.cts.npu_manager import machine

    return machine.case_from(payload)
