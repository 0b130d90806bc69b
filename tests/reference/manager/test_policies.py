"""The loading policies' sizes and parameters, and what replacing one does."""

from __future__ import annotations

import pytest
from npu_manager import Start, received

from npu_conformance.cts.lib.manager_client import CANCELLED, GRANT, PARKED, Notification
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelPriority, Policy, PolicyParameters, ThermalStatus, UnloadReason


@pytest.mark.parametrize("size", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("policy", [Policy.TURN_TAKING, Policy.BUDGET])
def test_an_unknown_size_leaves_no_trace(start: Start, policy: Policy, size: int) -> None:
    app = start(policy).app()
    with pytest.raises(IllegalArgument, match=f"size class {size}"):
        app.asks(size, identifier=1)
    assert received(app.asks(LARGE, identifier=1)) == [[GRANT]]


def test_status_quo_takes_any_size_and_knows_no_pressure(start: Start) -> None:
    fixture = start(Policy.STATUS_QUO)
    app = fixture.app()
    held = [app.loads(7 * number) for number in range(5)]
    fixture.control.set_thermal_pressure(ThermalStatus.SHUTDOWN)
    fixture.app().asks()
    assert received(*held) == [[GRANT]] * 5


def test_turn_taking_admits_one_model_whatever_its_size(start: Start) -> None:
    fixture = start(Policy.TURN_TAKING, PolicyParameters(100))
    first, second = fixture.app(), fixture.app()
    models = first.loads(SMALL), first.asks(SMALL), second.asks(SMALL)
    assert received(*models) == [[GRANT], [PARKED], [PARKED]]


@pytest.mark.parametrize(
    ("parameters", "sizes", "last"),
    [
        (PolicyParameters(), [SMALL] * 4, PARKED),
        (PolicyParameters(), [MEDIUM, MEDIUM], PARKED),
        (PolicyParameters(8), [LARGE], GRANT),
        (PolicyParameters(3), [], PARKED),
        (PolicyParameters(None, {"2": 6}), [SMALL, MEDIUM], PARKED),
        (PolicyParameters(None, {"2": 6, "7": 50}), [], GRANT),
        (PolicyParameters(3, {"2": 2}), [SMALL], GRANT),
        (PolicyParameters(5, {"2": 6}), [], PARKED),
        (PolicyParameters(None, {"0": 5, "2": 5}), [SMALL], PARKED),
    ],
)
def test_weights_and_maximum(start: Start, parameters: PolicyParameters, sizes: list[int], last: Notification) -> None:
    app = start(Policy.BUDGET, parameters).app()
    for size in sizes:
        assert received(app.loads(size)) == [[GRANT]]
    assert received(app.asks(LARGE)) == [[last]]


@pytest.mark.parametrize(
    "parameters",
    [PolicyParameters(0), PolicyParameters(-1), PolicyParameters(4, {"0": 0}), PolicyParameters(4, {"9": -1})],
)
def test_a_wrong_budget_changes_nothing(start: Start, parameters: PolicyParameters) -> None:
    fixture = start(Policy.TURN_TAKING)
    app = fixture.app()
    held = app.loads()
    with pytest.raises(IllegalArgument, match="not positive"):
        fixture.settings.manager.set_policy(Policy.BUDGET, parameters)
    assert received(held, app.asks()) == [[GRANT], [PARKED]]
    assert fixture.manager.policy.number == Policy.TURN_TAKING


def test_a_new_policy_ends_requests_and_asks_for_what_is_loaded(start: Start) -> None:
    fixture = start(Policy.BUDGET, PolicyParameters(3))
    first, second = fixture.app(), fixture.app()
    held, pending, parked = first.loads(MEDIUM), first.asks(SMALL), second.asks(LARGE)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    assert received(held) == [[GRANT, ("unload", UnloadReason.POLICY_CHANGE), CANCELLED]]
    assert received(pending, parked) == [[GRANT, CANCELLED], [PARKED, CANCELLED]]
    held.unload()
    assert held.notifications[-1] == CANCELLED
    assert received(second.asks(LARGE)) == [[GRANT]]


@pytest.mark.parametrize("opportunistic", [500, -1])
def test_opportunistic_is_the_weakest_whatever_its_number(start: Start, opportunistic: int) -> None:
    app = start(opportunistic=str(opportunistic)).app()
    held = app.loads()
    waiting = app.asks(LARGE, opportunistic), app.asks(LARGE, ModelPriority.BACKGROUND)
    held.unload()
    assert received(*waiting) == [[PARKED], [PARKED, GRANT]]


@pytest.mark.parametrize("number", ["0", "1000", "weak", "3000000000"])
def test_a_number_of_opportunistic_that_is_none_or_taken_is_refused(start: Start, number: str) -> None:
    with pytest.raises(LoadError, match="option opportunistic: expected a 32-bit integer other than 0 and 1000"):
        start(opportunistic=number)
