"""Allocates and copies memory from descriptors (FW-MEM). See backend.MemoryMaker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npu_conformance.reference.runtime.app_memory import bytes_at
from npu_conformance.reference.runtime.backend import (
    DriverBuffer,
    MemoryDescription,
    MemoryRole,
    Pools,
    RuntimeFailure,
    StepRole,
)
from npu_conformance.reference.runtime.planning.driver import Driver
from npu_conformance.reference.runtime.planning.memory_domains import DeviceMemory, SharedBuffer
from npu_conformance.reference.runtime.planning.partition import has_unknown_size
from npu_conformance.reference.runtime.planning.values import size_of
from npu_conformance.reference.runtime.planning.version import memory_for
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version


class ReferenceMemoryMaker:
    """See MemoryMaker."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools

    def allocate(self, description: MemoryDescription, explicit: bool) -> DriverBuffer:
        """On the one driver of all roles (FW-MEM-011), else in shared memory where that is allowed (FW-MEM-008, -009).

        Shared memory never stands in for a driver of an explicit list, nor for a size that is not known.
        """
        roles = [(role, step) for role in description.roles for step in role.plan.roles(role.is_input, role.index)]
        driver = _only_driver([step for _, step in roles])
        if driver is not None:
            made = _allocated(driver, description, roles)
            if made is not None:
                return made
        size = _known_size(description)
        is_on_cpu = all(step.device.is_cpu for _, step in roles)
        if size is None or (explicit and not is_on_cpu):
            raise RuntimeFailure(ResultCode.OP_FAILED, "no device can allocate the memory")
        return SharedBuffer(self._pools.make(size), description.dimensions)

    def copy_to(self, buffer: DriverBuffer, destination: types.Memory) -> None:
        """See MemoryMaker."""
        if isinstance(buffer, DeviceMemory):
            where = memory_for(buffer.version, destination)
            _copied(lambda: buffer.buffer.copy_to(where))
        elif isinstance(buffer, SharedBuffer):
            self._copy(buffer.memory, destination)

    def copy_from(self, source: types.Memory, buffer: DriverBuffer) -> None:
        """See MemoryMaker. The buffer's dimensions are those of the source."""
        if isinstance(buffer, DeviceMemory):
            where, dimensions = memory_for(buffer.version, source), buffer.dimensions
            _copied(lambda: buffer.buffer.copy_from(where, dimensions))
        elif isinstance(buffer, SharedBuffer):
            self._copy(source, buffer.memory)

    def free(self, buffer: DriverBuffer) -> None:
        """See MemoryMaker. A driver's own goes with the last reference to it."""
        if isinstance(buffer, SharedBuffer):
            self._pools.free(buffer.memory)

    def _copy(self, source: types.Memory, destination: types.Memory) -> None:
        target = bytes_at(self._pools, destination, 0, destination.size)
        if target.readonly:
            raise RuntimeFailure(ResultCode.UNMAPPABLE, "the memory cannot be written")
        target[:] = bytes_at(self._pools, source, 0, source.size)


def _only_driver(steps: Sequence[StepRole]) -> Driver | None:
    """The driver that all steps belong to; None where there are several, or one that cannot allocate."""
    if not steps:
        return None
    device = steps[0].device
    if not isinstance(device, Driver) or device.version < Version.V1_3:
        return None
    return device if all(step.device is device for step in steps) else None


def _allocated(
    driver: Driver, description: MemoryDescription, roles: Sequence[tuple[MemoryRole, StepRole]]
) -> DeviceMemory | None:
    """Memory that the driver manages; None where it declines, or answers with no buffer or no token (FW-MEM-009)."""
    models: list[hal.PreparedModel] = []
    by_direction: dict[bool, dict[tuple[int, int], types.BufferRole]] = {True: {}, False: {}}
    for role, step in roles:
        assert step.prepared_model is not None
        if not any(step.prepared_model is model for model in models):
            models.append(step.prepared_model)
        number = next(place for place, model in enumerate(models) if model is step.prepared_model)
        key = (number, step.io_index)
        by_direction[step.is_input][key] = types.BufferRole(number, step.io_index, role.frequency)
    inputs, outputs = (tuple(by_direction[is_input].values()) for is_input in (True, False))
    wanted = types.BufferDesc(description.dimensions)
    try:
        made = driver.call(lambda device: device.allocate(wanted, tuple(models), inputs, outputs))
    except InterfaceError as error:
        reason = str(error)
        vlog.log("memory", lambda: f"{driver.name}: allocate: {reason}")
        return None
    if made.buffer is None or made.token <= 0:
        return None
    return DeviceMemory(made.buffer, made.token, description.operand, driver.version, description.dimensions)


def _known_size(description: MemoryDescription) -> int | None:
    """Bytes of the memory; None where they are not known."""
    operand, dimensions = description.operand, description.dimensions
    info = OPERAND_TYPES.get(operand.type)
    if info is None or has_unknown_size(types.Operand(operand.type, dimensions)):
        return None
    return size_of(operand, dimensions)


def _copied(copy: Callable[[], None]) -> None:
    """Copy. Raises RuntimeFailure with the code of what went wrong."""
    try:
        copy()
    except ServiceError as error:
        raise RuntimeFailure(result_of_status(error.status), str(error)) from error
    except DeadObject as error:
        raise RuntimeFailure(ResultCode.DEAD_OBJECT, str(error)) from error
    except InterfaceError as error:
        raise RuntimeFailure(ResultCode.OP_FAILED, str(error)) from error
