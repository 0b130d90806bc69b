"""The loading policies' sizes and parameters, and what replacing one does."""

from __future__ import annotations

import pytest
from npu_device import CAN, CANCELLED, LARGE, MEDIUM, PARKED, SMALL, Device

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelPriority, Policy, PolicyParameters, ThermalStatus, UnloadReason


def budget(maximum: int) -> Device:
    return Device(Policy.BUDGET, PolicyParameters(maximum))


@pytest.mark.parametrize("size", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("policy", [Policy.TURN_TAKING, Policy.BUDGET])
def test_an_unknown_size_leaves_no_trace(policy: Policy, size: int) -> None:
    app = Device(policy).app(10_001)
    with pytest.raises(IllegalArgument, match=f"size class {size}"):
        app.ask(1, size)
    assert app.ask(1, LARGE) == [CAN]


def test_status_quo_takes_any_size_and_knows_no_pressure() -> None:
    app = (device := Device(Policy.STATUS_QUO)).app(10_001)
    held = [app.load(identifier, 7 * identifier) for identifier in range(5)]
    device.control.set_thermal_pressure(ThermalStatus.SHUTDOWN)
    device.app(10_002).ask(1)
    assert held == [[CAN]] * 5


def test_turn_taking_admits_one_model_whatever_its_size() -> None:
    first, second = (device := Device(Policy.TURN_TAKING, PolicyParameters(100))).app(10_001), device.app(10_002)
    assert (first.load(1, SMALL), first.ask(2, SMALL), second.ask(1, SMALL)) == ([CAN], [PARKED], [PARKED])


@pytest.mark.parametrize(
    ("parameters", "sizes", "last"),
    [
        (PolicyParameters(), [SMALL] * 4, PARKED),
        (PolicyParameters(), [MEDIUM, MEDIUM], PARKED),
        (PolicyParameters(8), [LARGE], CAN),
        (PolicyParameters(3), [], PARKED),
        (PolicyParameters(None, {"2": 6}), [SMALL, MEDIUM], PARKED),
        (PolicyParameters(None, {"2": 6, "7": 50}), [], CAN),
        (PolicyParameters(3, {"2": 2}), [SMALL], CAN),
        (PolicyParameters(5, {"2": 6}), [], PARKED),
        (PolicyParameters(None, {"0": 5, "2": 5}), [SMALL], PARKED),
    ],
)
def test_weights_and_maximum(parameters: PolicyParameters, sizes: list[int], last: int) -> None:
    app = Device(Policy.BUDGET, parameters).app(10_001)
    for identifier, size in enumerate(sizes):
        assert app.load(identifier, size) == [CAN]
    assert app.ask(99, LARGE) == [last]


@pytest.mark.parametrize(
    "parameters",
    [PolicyParameters(0), PolicyParameters(-1), PolicyParameters(4, {"0": 0}), PolicyParameters(4, {"9": -1})],
)
def test_a_wrong_budget_changes_nothing(parameters: PolicyParameters) -> None:
    app = (device := Device(Policy.TURN_TAKING)).app(10_001)
    held = app.load(1)
    with pytest.raises(IllegalArgument, match="not positive"):
        device.manager.set_policy(Policy.BUDGET, parameters)
    assert (held, app.ask(2), device.manager.policy.number) == ([CAN], [PARKED], Policy.TURN_TAKING)


def test_a_new_policy_ends_requests_and_asks_for_what_is_loaded() -> None:
    device = budget(3)
    first, second = device.app(10_001), device.app(10_002)
    held, pending, parked = first.load(1, MEDIUM), first.ask(2, SMALL), second.ask(1, LARGE)
    device.manager.set_policy(Policy.BUDGET, None)
    device.advance(0)
    assert held == [CAN, ("unload", UnloadReason.POLICY_CHANGE), CANCELLED]
    assert (pending, parked) == ([CAN, CANCELLED], [PARKED, CANCELLED])
    first.unloaded(1)
    assert held[-1] == CANCELLED
    assert second.ask(1, LARGE)[-1] == CAN


@pytest.mark.parametrize("opportunistic", [500, -1])
def test_opportunistic_is_the_weakest_whatever_its_number(opportunistic: int) -> None:
    app = Device(options={"opportunistic": str(opportunistic)}).app(10_001)
    app.load(1)
    heard = [app.ask(2, LARGE, opportunistic), app.ask(3, LARGE, ModelPriority.BACKGROUND)]
    app.unloaded(1)
    assert heard == [[PARKED], [PARKED, CAN]]


@pytest.mark.parametrize("number", ["0", "1000", "weak", "3000000000"])
def test_a_number_of_opportunistic_that_is_none_or_taken_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="option opportunistic: expected a 32-bit integer other than 0 and 1000"):
        Device(options={"opportunistic": number})
