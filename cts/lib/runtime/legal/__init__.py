"""A legal call of every function of the API that takes an argument, with what has to work behind it."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.cts.lib.runtime.legal import compilations, devices, executions, memories, models
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene

__all__ = ["SCENES", "MakeScene", "Scene"]

SCENES: Mapping[str, MakeScene] = {
    **devices.SCENES,
    **models.SCENES,
    **compilations.SCENES,
    **executions.SCENES,
    **memories.SCENES,
}
"""By function."""
