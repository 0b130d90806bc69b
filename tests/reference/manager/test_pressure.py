"""Heat and lack of memory: how much is left of the budget, and who has to leave."""

from __future__ import annotations

from npu_device import CAN, CANCELLED, LARGE, MEDIUM, PARKED, SMALL, WAIT, Device

from npu_conformance.specs.npu.types import (
    Importance,
    MemoryPressure,
    Policy,
    PolicyParameters,
    ThermalStatus,
    UnloadReason,
)

CACHED = Importance.CACHED
HEAT, MEMORY = ("unload", UnloadReason.THERMAL), ("unload", UnloadReason.MEMORY)


def budget(maximum: int) -> Device:
    return Device(Policy.BUDGET, PolicyParameters(maximum))


def test_heat_halves_quarters_and_closes_the_budget_weakest_first() -> None:
    device = budget(8)
    strong, weak = device.app(10_001), device.app(10_002, CACHED)
    first, second = strong.load(1, LARGE), weak.load(1, LARGE)
    device.control.set_thermal_pressure(ThermalStatus.MODERATE)
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    device.advance(0)
    assert (first, second) == ([CAN], [CAN, HEAT])
    weak.unloaded(1)
    assert weak.ask(2, SMALL) == [PARKED]
    device.control.set_thermal_pressure(ThermalStatus.CRITICAL)
    device.advance(0)
    assert first == [CAN, HEAT]
    strong.unloaded(1)
    assert weak.heard[2] == [PARKED, WAIT, CAN]
    device.control.set_thermal_pressure(ThermalStatus.EMERGENCY)
    device.advance(0)
    assert weak.heard[2] == [PARKED, WAIT, CAN, CANCELLED]
    assert strong.ask(3, SMALL) == [PARKED]
    device.control.set_thermal_pressure(ThermalStatus.LIGHT)
    device.advance(0)
    assert strong.heard[3] == [PARKED, CAN]


def test_the_worse_of_heat_and_memory_counts_and_is_named() -> None:
    device = budget(8)
    app = device.app(10_001)
    held = [app.load(identifier, SMALL) for identifier in range(8)]
    device.control.set_thermal_pressure(ThermalStatus.SEVERE)
    device.control.set_memory_pressure(MemoryPressure.CRITICAL)
    device.advance(0)
    assert held == [[CAN]] * 2 + [[CAN, MEMORY]] * 2 + [[CAN, HEAT]] * 4
    assert device.manager.policy.ceiling == 2


def test_pressure_outlives_a_change_of_policy() -> None:
    app = (device := Device()).app(10_001)
    device.control.set_memory_pressure(MemoryPressure.LOW)
    device.manager.set_policy(Policy.BUDGET, None)
    assert (app.ask(1, LARGE), app.ask(2, MEDIUM), app.ask(3, SMALL)) == ([PARKED], [CAN], [PARKED])


def test_moderate_memory_pressure_is_no_emergency() -> None:
    app = (device := Device()).app(10_001)
    held = app.load(1)
    device.control.set_memory_pressure(MemoryPressure.MODERATE)
    device.advance(0)
    assert held == [CAN]
