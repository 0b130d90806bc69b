"""Heat and lack of memory, as cases put a device under them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.types import MemoryPressure, ThermalStatus

HEAT = (ThermalStatus.SEVERE, ThermalStatus.CRITICAL, ThermalStatus.EMERGENCY, ThermalStatus.SHUTDOWN)
SHORTAGE = (MemoryPressure.LOW, MemoryPressure.CRITICAL)
"""The levels at which a manager has to reduce its budget (NPU-POL-026)."""
Press = Callable[[ManagerFixture, int], None]


@contextmanager
def pressed(fixture: ManagerFixture, press: Press, level: int) -> Iterator[None]:
    """Put the device under pressure for a while; NotApplicable where that cannot be."""
    try:
        press(fixture, level)
    except Unsupported as error:
        raise NotApplicable(f"pressure cannot be arranged: {error}") from None
    fixture.settle()
    try:
        yield
    finally:
        press(fixture, 0)
    fixture.settle()


def heat(fixture: ManagerFixture, level: int) -> None:
    """Set the thermal status."""
    fixture.control.set_thermal_pressure(level)


def shortage(fixture: ManagerFixture, level: int) -> None:
    """Set the memory pressure."""
    fixture.control.set_memory_pressure(level)
