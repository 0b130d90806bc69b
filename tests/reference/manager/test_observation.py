"""What the reference manager shows: dump, shell, metrics, and the trace of decisions."""

from __future__ import annotations

import pytest
from npu_device import ADMIN, CAN, LARGE, MEDIUM, SMALL, App, Device

from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.types import DUMP_PERMISSION, EndReason, Importance, Policy, PolicyParameters


def shell(device: Device, *words: str, uid: int = 2000) -> tuple[int, str]:
    with device.calling(App(device, uid, 7)):
        result = device.manager.shell_command(words)
    return result.exit_code, result.output


def test_a_dump_names_policy_maximum_requests_and_priorities() -> None:
    device = Device(Policy.BUDGET, PolicyParameters(3))
    device.control.set_importance(ADMIN, 1000)
    first, second = device.app(10_001, Importance.CACHED), device.app(10_002, Importance.VISIBLE)
    first.load(1, MEDIUM)
    first.ask(2, SMALL)
    second.ask(1, LARGE)
    assert shell(device, "info") == (0, DUMP)


DUMP = """Policy: budget
    Max: 3
    Requests:
        10001 [app10001]: LOADED
        10001 [app10001]: PENDING_LOAD
        10002 [app10002]: NOT_PRIORITIZED

Priorities:
    0 [system] 100
    1000 [system] 100
    10002 [app10002] 200
    10001 [app10001] 400
    10000 [system] 1000
"""


def test_a_uid_without_a_package_is_named_by_nothing() -> None:
    device = Device(Policy.STATUS_QUO)
    device.hal.work(10_077, EndReason.FAILED)
    assert shell(device, "info")[1].splitlines()[:2] == ["Policy: statusquo", ""]
    assert "    10077 [] 1000" in shell(device, "info")[1].splitlines()


def test_a_dump_needs_its_permission() -> None:
    device = Device()
    with pytest.raises(SecurityDenied, match="can't dump NpuManagerService"):
        device.manager.dump()
    device.control.grant_permission(ADMIN, DUMP_PERMISSION, True)
    assert device.manager.dump().startswith("Policy: budget\n")
    code, output = shell(device, "info", uid=10_055)
    assert code == 1
    assert "can't dump NpuManagerService" in output


@pytest.mark.parametrize(
    ("command", "name"),
    [("set-status-quo-policy", "statusquo"), ("set-turn-taking-policy", "turntaking"), ("set-budget-policy", "budget")],
)
def test_the_shell_sets_policies(command: str, name: str) -> None:
    device = Device(Policy.TURN_TAKING)
    assert shell(device, command) == (0, "")
    assert shell(device, "info")[1].startswith(f"Policy: {name}\n")
    code, output = shell(device, command, uid=10_055)
    assert code == 1
    assert "10055 lacks" in output


@pytest.mark.parametrize("words", [(), ("fly",), ("info", "more"), ("",), ("set-policy",)])
def test_what_is_no_command_gets_the_usage(words: tuple[str, ...]) -> None:
    code, output = shell(Device(), *words)
    assert code != 0
    assert output.startswith("usage: cmd npu")


def test_only_root_suspends_pushes_and_resuming_sends_everything() -> None:
    device = Device()
    code, output = shell(device, "disable")
    assert code != 0
    assert "root" in output
    assert shell(device, "disable", uid=0) == (0, "")
    device.hal.take()
    device.app(10_001, Importance.VISIBLE)
    assert device.hal.take() == []
    assert shell(device, "enable", uid=1000)[0] != 0
    assert shell(device, "enable", uid=0) == (0, "")
    assert device.hal.take() == [("set", {0: 100, 1000: 100, ADMIN: 100, 10_001: 200}), ("callback", {})]


def test_a_hal_that_comes_while_pushes_are_suspended_is_let_alone_until_they_are_not() -> None:
    device = Device()
    shell(device, "disable", uid=0)
    device.control.connect_hal(device.hal)
    device.hal.take()
    shell(device, "enable", uid=0)
    assert [name for name, _ in device.hal.take()] == ["set", "callback"]


def test_everything_is_logged_with_aosps_numbers() -> None:
    device = Device(Policy.TURN_TAKING)
    first, second = device.app(10_001, Importance.CACHED), device.app(10_002)
    device.control.take_metrics()
    first.load(1, MEDIUM, 1000)
    second.ask(2, LARGE, 7)
    first.unloaded(1)
    second.cancel(2)
    device.hal.work(10_001, EndReason.PAUSED)
    logged = [(atom.name.removeprefix("Npu"), tuple(atom.values.values())) for atom in device.control.take_metrics()]
    assert logged == [
        ("ModelLoadRequested", (10_001, 1, 2, 2)),
        ("ModelLoadPolicyResponded", (10_001, 1, 1)),
        ("ModelLoadStateChanged", (10_001, 1, 1)),
        ("ModelLoadRequested", (10_002, 2, 3, 0)),
        ("ModelLoadPolicyResponded", (10_002, 2, 2)),
        ("ModelLoadStateChanged", (10_001, 1, 2)),
        ("ModelLoadPolicyResponded", (10_002, 2, 1)),
        ("ModelLoadRequestCancelled", (10_002, 2)),
        ("WorkEventOccurred", (10_001, 0, 10_001, 0, 100, 0, 0, 1, 0)),
        ("WorkEventOccurred", (10_001, 0, 10_001, 0, 100, 0, 0, 2, 1)),
        ("WorkEventOccurred", (10_001, 0, 10_001, 0, 100, 0, 0, 3, 5)),
    ]
    assert device.control.take_metrics() == ()


@pytest.mark.parametrize(("reason", "logged"), [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (9, 0)])
def test_end_reasons_are_logged_behind_the_start_reasons(reason: int, logged: int) -> None:
    device = Device()
    device.control.take_metrics()
    device.hal.work(10_001, reason)
    assert [atom.values["reason"] for atom in device.control.take_metrics()] == [0, 1, logged]


def test_every_decision_is_traced_with_its_time_and_reason() -> None:
    device = Device()
    app = device.app(10_001)
    device.advance(1.5)
    assert app.ask(3, SMALL) == [CAN]
    (record,) = device.decisions
    assert record[:5] == (1_500_000_000, Kind.GRANT, 10_001, 3, SMALL)
    assert (record.because, record.reason, record.used, record.ceiling) == ("it fits", None, 1, 4)
