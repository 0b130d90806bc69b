"""Memory from descriptors: on the one device that serves all its roles, else in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks import types


@dataclass(eq=False)
class SharedBuffer:
    """Memory from a descriptor that lies in the runtime's shared memory. See DriverBuffer."""

    memory: types.Memory
    dimensions: tuple[int, ...] = ()
    is_initialized: bool = False
