"""Heat and lack of memory: how much is left of the budget, and who has to leave."""

from __future__ import annotations

from npu_manager import ReferenceFixture, Start, received

from npu_conformance.cts.lib.manager_client import CANCELLED, GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL
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


def test_heat_halves_quarters_and_closes_the_budget_weakest_first(start: Start) -> None:
    fixture = start(Policy.BUDGET, PolicyParameters(8))
    strong, weak = fixture.app(), fixture.app(CACHED)
    first, second = strong.loads(LARGE), weak.loads(LARGE)
    fixture.control.set_thermal_pressure(ThermalStatus.MODERATE)
    fixture.control.set_thermal_pressure(ThermalStatus.SEVERE)
    assert received(first, second) == [[GRANT], [GRANT, HEAT]]
    second.unload()
    small = weak.asks(SMALL)
    assert received(small) == [[PARKED]]
    fixture.control.set_thermal_pressure(ThermalStatus.CRITICAL)
    assert received(first) == [[GRANT, HEAT]]
    first.unload()
    assert received(small) == [[PARKED, WAIT, GRANT]]
    fixture.control.set_thermal_pressure(ThermalStatus.EMERGENCY)
    assert received(small) == [[PARKED, WAIT, GRANT, CANCELLED]]
    late = strong.asks(SMALL)
    assert received(late) == [[PARKED]]
    fixture.control.set_thermal_pressure(ThermalStatus.LIGHT)
    assert received(late) == [[PARKED, GRANT]]


def test_the_worse_of_heat_and_memory_counts_and_is_named(start: Start) -> None:
    fixture = start(Policy.BUDGET, PolicyParameters(8))
    app = fixture.app()
    held = [app.loads(SMALL) for _ in range(8)]
    fixture.control.set_thermal_pressure(ThermalStatus.SEVERE)
    fixture.control.set_memory_pressure(MemoryPressure.CRITICAL)
    assert received(*held) == [[GRANT]] * 2 + [[GRANT, MEMORY]] * 2 + [[GRANT, HEAT]] * 4
    assert fixture.manager.policy.ceiling == 2


def test_pressure_outlives_a_change_of_policy(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    fixture.control.set_memory_pressure(MemoryPressure.LOW)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    assert received(app.asks(LARGE), app.asks(MEDIUM), app.asks(SMALL)) == [[PARKED], [GRANT], [PARKED]]


def test_moderate_memory_pressure_is_no_emergency(fixture: ReferenceFixture) -> None:
    held = fixture.app().loads()
    fixture.control.set_memory_pressure(MemoryPressure.MODERATE)
    assert received(held) == [[GRANT]]
