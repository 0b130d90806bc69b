"""Memory objects as cases make them: over pools, and from descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.nnapi.models import memory_object
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.types import Memory


class Role(NamedTuple):
    """A use of memory from a descriptor: role is input or output, position that of the compilation's model."""

    role: str
    compilation: int
    position: int


def object_of(app: RuntimeApp, memory: Memory) -> int:
    """A memory object of a pool, freed when the case ends."""
    return app.owns("memory_create_from_fd", memory_object(app.runtime, memory))


def descriptor(app: RuntimeApp, roles: Sequence[Role], dimensions: tuple[int, ...] = ()) -> int:
    """A finished descriptor with these roles. dimensions: where the models leave some unknown."""
    made = app.made("memory_desc_create", True)
    calls: list[MethodCall] = [
        (f"memory_desc_add_{role.role}_role", (made, role.compilation, role.position, 1.0)) for role in roles
    ]
    if dimensions:
        calls.append(("memory_desc_set_dimensions", (made, len(dimensions), dimensions)))
    app.succeed_each([*calls, ("memory_desc_finish", (made,))])
    return made


def described(app: RuntimeApp, roles: Sequence[Role], dimensions: tuple[int, ...] = ()) -> int | None:
    """Memory from a descriptor; None where the runtime declines, as it may (FW-MEM-008, FW-MEM-009)."""
    return app.memory_if_given(descriptor(app, roles, dimensions))
