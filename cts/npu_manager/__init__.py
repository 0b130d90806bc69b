"""The NPU Manager as apps see it: life cycle, requests, access, policies, priorities, pressure, death, observation.

Each area is a module with cases of its own; every case starts from a clean manager under a policy that it sets.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from npu_conformance.harness.run.cases import Case

_AREAS = (
    "lifecycle", "transition", "request", "access", "policy", "budget", "rotation", "priority", "pressure", "death",
    "observation", "machine",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """All cases, by area."""
    for name in _AREAS:
        yield from importlib.import_module(f"{__name__}.{name}").cases()


def case_from(payload: Any) -> Case:
    """The case of a failure file: of the machine, whose steps are listed there."""
    from npu_conformance.cts.npu_manager import machine

    return machine.case_from(payload)
