"""What the reference manager shows: dump, shell, metrics, and the trace of decisions."""

from __future__ import annotations

import pytest
from npu_manager import ReferenceFixture, Start, received

from npu_conformance.cts.lib.manager_client import GRANT, Client
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SETTINGS, SMALL
from npu_conformance.reference.manager.decisions import Kind
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.types import ATOMS, DUMP_PERMISSION, EndReason, Importance, Policy, PolicyParameters

LAST_SYSTEM_UID = 10_000
"""The last uid that is named `system`."""


def shell(fixture: ReferenceFixture, *words: str, uid: int = 2000) -> tuple[int, str]:
    result = Client(fixture.context, uid).manager.shell_command(words)
    return result.exit_code, result.output


def test_a_dump_names_policy_maximum_requests_and_priorities(start: Start) -> None:
    fixture = start(Policy.BUDGET, PolicyParameters(3))
    fixture.control.install_app(LAST_SYSTEM_UID, "phone", True, 37)
    first, second = fixture.app(Importance.CACHED), fixture.app(Importance.VISIBLE)
    first.loads(MEDIUM)
    first.asks(SMALL)
    second.asks(LARGE)
    assert shell(fixture, "info") == (0, DUMP.format(first=first.uid, second=second.uid, settings=SETTINGS))


DUMP = """Policy: budget
    Max: 3
    Requests:
        {first} [android.npumanager.testapp{first}]: LOADED
        {first} [android.npumanager.testapp{first}]: PENDING_LOAD
        {second} [android.npumanager.testapp{second}]: NOT_PRIORITIZED

Priorities:
    0 [system] 100
    1000 [system] 100
    {second} [android.npumanager.testapp{second}] 200
    {first} [android.npumanager.testapp{first}] 400
    10000 [system] 1000
    {settings} [android.npumanager.testapp{settings}] 1000
"""


def test_a_uid_without_a_package_is_named_by_nothing(start: Start) -> None:
    fixture = start(Policy.STATUS_QUO)
    fixture.hal.work(10_077, EndReason.FAILED)
    assert shell(fixture, "info")[1].splitlines()[:2] == ["Policy: statusquo", ""]
    assert "    10077 [] 1000" in shell(fixture, "info")[1].splitlines()


def test_a_dump_needs_its_permission(fixture: ReferenceFixture) -> None:
    with pytest.raises(SecurityDenied, match="can't dump NpuManagerService"):
        fixture.settings.manager.dump()
    fixture.control.grant_permission(SETTINGS, DUMP_PERMISSION, True)
    assert fixture.settings.manager.dump().startswith("Policy: budget\n")
    code, output = shell(fixture, "info", uid=10_055)
    assert code == 1
    assert "can't dump NpuManagerService" in output


@pytest.mark.parametrize(
    ("command", "name"),
    [("set-status-quo-policy", "statusquo"), ("set-turn-taking-policy", "turntaking"), ("set-budget-policy", "budget")],
)
def test_the_shell_sets_policies(start: Start, command: str, name: str) -> None:
    fixture = start(Policy.TURN_TAKING)
    assert shell(fixture, command) == (0, "")
    assert shell(fixture, "info")[1].startswith(f"Policy: {name}\n")
    code, output = shell(fixture, command, uid=10_055)
    assert code == 1
    assert "10055 lacks" in output


@pytest.mark.parametrize("words", [(), ("fly",), ("info", "more"), ("",), ("set-policy",)])
def test_what_is_no_command_gets_the_usage(fixture: ReferenceFixture, words: tuple[str, ...]) -> None:
    code, output = shell(fixture, *words)
    assert code != 0
    assert output.startswith("usage: cmd npu")


def test_only_root_suspends_pushes_and_resuming_sends_everything(fixture: ReferenceFixture) -> None:
    code, output = shell(fixture, "disable")
    assert code != 0
    assert "root" in output
    assert shell(fixture, "disable", uid=0) == (0, "")
    fixture.hal.take()
    app = fixture.app(Importance.VISIBLE)
    assert fixture.hal.take() == []
    assert shell(fixture, "enable", uid=1000)[0] != 0
    assert shell(fixture, "enable", uid=0) == (0, "")
    assert fixture.hal.take() == [("set", {0: 100, 1000: 100, SETTINGS: 1000, app.uid: 200}), ("callback", {})]


def test_a_hal_that_comes_while_pushes_are_suspended_is_let_alone_until_they_are_not(fixture: ReferenceFixture) -> None:
    shell(fixture, "disable", uid=0)
    fixture.control.connect_hal(fixture.hal)
    fixture.hal.take()
    shell(fixture, "enable", uid=0)
    assert [name for name, _ in fixture.hal.take()] == ["set", "callback"]


def test_everything_is_logged_with_aosps_numbers(start: Start) -> None:
    fixture = start(Policy.TURN_TAKING)
    first, second = fixture.app(Importance.CACHED), fixture.app()
    fixture.control.take_metrics()
    held, wanted = first.loads(MEDIUM, 1000), second.asks(LARGE, 7, identifier=2)
    held.unload()
    wanted.cancel()
    fixture.hal.work(first.uid, EndReason.PAUSED)
    atoms = fixture.control.take_metrics()
    for atom in atoms:
        assert set(atom.values) == set(ATOMS[atom.name]), atom
    logged = [(atom.name.removeprefix("Npu"), tuple(atom.values.values())) for atom in atoms]
    assert logged == [
        ("ModelLoadRequested", (first.uid, 1, 2, 2)),
        ("ModelLoadPolicyResponded", (first.uid, 1, 1)),
        ("ModelLoadStateChanged", (first.uid, 1, 1)),
        ("ModelLoadRequested", (second.uid, 2, 3, 0)),
        ("ModelLoadPolicyResponded", (second.uid, 2, 2)),
        ("ModelLoadStateChanged", (first.uid, 1, 2)),
        ("ModelLoadPolicyResponded", (second.uid, 2, 1)),
        ("ModelLoadRequestCancelled", (second.uid, 2)),
        ("WorkEventOccurred", (first.uid, 0, first.uid, 0, 100, 0, 0, 1, 0)),
        ("WorkEventOccurred", (first.uid, 0, first.uid, 0, 100, 0, 0, 2, 1)),
        ("WorkEventOccurred", (first.uid, 0, first.uid, 0, 100, 0, 0, 3, 5)),
    ]
    assert fixture.control.take_metrics() == ()


@pytest.mark.parametrize(("reason", "logged"), [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (9, 0)])
def test_end_reasons_are_logged_behind_the_start_reasons(fixture: ReferenceFixture, reason: int, logged: int) -> None:
    fixture.control.take_metrics()
    fixture.hal.work(10_001, reason)
    assert [atom.values["reason"] for atom in fixture.control.take_metrics()] == [0, 1, logged]


def test_every_decision_is_traced_with_its_time_and_reason(fixture: ReferenceFixture) -> None:
    app = fixture.app()
    fixture.advance(1.4)  # the importance of an app has 0.1 s to count
    assert received(app.asks(SMALL, identifier=3)) == [[GRANT]]
    (record,) = fixture.decisions
    assert record[:5] == (1_500_000_000, Kind.GRANT, app.uid, 3, SMALL)
    assert (record.because, record.reason, record.used, record.ceiling) == ("it fits", None, 1, 4)
