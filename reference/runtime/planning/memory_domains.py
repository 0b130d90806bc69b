"""Memory from descriptors: on the one device that serves all its roles, else in shared memory."""

from __future__ import annotations

import msgspec

from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.versions import Version


class SharedBuffer(msgspec.Struct, eq=False):
    """Memory from a descriptor that lies in the runtime's shared memory. See DriverBuffer."""

    memory: types.Memory
    dimensions: tuple[int, ...] = ()
    is_initialized: bool = False


class DeviceMemory(msgspec.Struct, eq=False):
    """Memory from a descriptor that a driver manages. operand: its type. version: the driver's. See DriverBuffer."""

    buffer: hal.Buffer
    token: int
    operand: types.Operand
    version: Version
    dimensions: tuple[int, ...] = ()
    is_initialized: bool = False
