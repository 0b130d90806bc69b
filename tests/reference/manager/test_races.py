"""Two threads at the reference manager: what one does in the midst of a call of the other leaves the books in order.

Each test hooks something that the call uses, and has another thread act there: to its end, or until it waits for a
lock that the call holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from npu_manager import Hal
from patience import SECONDS

from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import pressure, service
from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback
from npu_conformance.specs.npu.types import (
    PERMISSION,
    MemoryPressure,
    ModelLoadRequest,
    Policy,
    SchedulingConfig,
    ThermalStatus,
)
from npu_conformance.specs.plugin import Caller, Context

CAMERA, ASSISTANT = 10_001, 10_002


class _ToldLock:
    """A lock of the manager that tells when a thread has to wait for it."""

    def __init__(self, is_waited_for: threading.Event) -> None:
        self._lock, self._is_waited_for = threading.RLock(), is_waited_for

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._is_waited_for.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Racing:
    """A manager under the turn-taking policy, with a HAL, and two apps that may use it."""

    def __init__(self) -> None:
        self.hal = Hal()
        clock = VirtualClock()
        context = Context(HostMemory(), lambda: Caller(CAMERA, 1), clock=clock)
        self.manager, self.control = service.create(context, self.hal)
        self._came_to_rest = threading.Event()
        self.manager._lock = _ToldLock(self._came_to_rest)  # type: ignore[assignment]
        self.manager.hal._turn = _ToldLock(self._came_to_rest)  # type: ignore[assignment]
        for uid in (CAMERA, ASSISTANT):
            self.control.install_app(uid, f"app{uid}", True, 37)
        self.control.grant_permission(CAMERA, PERMISSION, True)
        self.manager.set_policy(Policy.TURN_TAKING, None)
        self._others: list[threading.Thread] = []

    def meanwhile(self, action: Callable[[], object]) -> None:
        """Have another thread act, once: return when it has, or waits for a lock."""
        if self._others:
            return

        def act() -> None:
            action()
            self._came_to_rest.set()

        self._others = [threading.Thread(target=act, daemon=True)]
        self._others[0].start()
        assert self._came_to_rest.wait(SECONDS)

    def end(self) -> None:
        """Wait for the other thread, of which there is one."""
        (other,) = self._others
        other.join(SECONDS)
        assert not other.is_alive()


@pytest.fixture
def racing() -> Iterator[Racing]:
    """Two threads; the other one has acted when the test ends."""
    found = Racing()
    yield found
    found.end()


def hooked(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, hook: Callable[[], None]) -> None:
    """Call a hook after each call of a function."""
    inner = getattr(owner, name)

    def call(*arguments: object) -> object:
        result = inner(*arguments)
        hook()
        return result

    monkeypatch.setattr(owner, name, call)


def test_an_app_that_is_removed_while_it_asks_leaves_no_request(
    racing: Racing, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked(monkeypatch, InstalledApps, "may", lambda: racing.meanwhile(lambda: racing.control.remove_app(CAMERA)))
    racing.manager.request_can_load_model(ModelLoadRequest(1), ModelLoadRequestCallback())
    racing.end()
    assert racing.manager.table.live() == []
    assert racing.manager.table.known_uid(CAMERA) is None


def test_memory_and_heat_that_come_together_count_both(racing: Racing, monkeypatch: pytest.MonkeyPatch) -> None:
    hot = ThermalStatus.SEVERE
    hooked(monkeypatch, pressure, "memory", lambda: racing.meanwhile(lambda: racing.control.set_thermal_pressure(hot)))
    racing.control.set_memory_pressure(MemoryPressure.LOW)
    assert racing.manager.priorities.pressure == (hot, MemoryPressure.LOW)


def test_the_policy_has_the_newest_pressure(racing: Racing, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pressure is pushed to the HAL before the policy learns of it, and by then there is a newer one."""
    taken: list[object] = []
    monkeypatch.setattr(racing.manager.policy, "set_pressure", taken.append)
    cool = racing.manager.priorities.pressure

    def cools_down() -> None:
        racing.manager.priorities.pressure = cool

    hooked(monkeypatch, racing.manager.hal, "push", lambda: racing.meanwhile(cools_down))
    racing.control.set_thermal_pressure(ThermalStatus.CRITICAL)
    assert taken == [cool]


def test_a_push_of_an_app_that_is_removed_meanwhile_says_nothing_of_it(racing: Racing) -> None:
    class Table(dict[int, SchedulingConfig]):
        def __contains__(self, key: object) -> bool:
            found = super().__contains__(key)
            racing.meanwhile(lambda: racing.control.remove_app(ASSISTANT))
            return found

        def get(self, key: int, default: object = None) -> SchedulingConfig | None:  # type: ignore[override]
            racing.meanwhile(lambda: racing.control.remove_app(ASSISTANT))
            return super().get(key)

    racing.manager.priorities._table = Table(racing.manager.priorities._table)
    racing.hal.take()
    racing.manager.hal.push(lambda: racing.manager.priorities.configs((ASSISTANT,)))
    racing.end()
    assert [uid for _, configs in racing.hal.take() for uid in configs if uid == ASSISTANT] == []


def test_an_app_that_is_installed_while_all_are_judged_is_judged_too(
    racing: Racing, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = 10_003

    def install() -> None:
        racing.control.install_app(new, "new", True, 37)

    hooked(monkeypatch, racing.manager.priorities, "follow_app", lambda: racing.meanwhile(install))
    racing.manager.refresh_all()
    racing.end()
    assert new in {config.uid for config in racing.manager.priorities.configs()}
