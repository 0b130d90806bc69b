"""Random histories of the reference manager: its books agree with its table after every step."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from npu_device import LARGE, App, Device

from npu_conformance.reference.manager.budget import Budget
from npu_conformance.reference.manager.decisions import Kind, Record
from npu_conformance.reference.manager.requests import Request, State
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import MemoryPressure, PolicyParameters, ThermalStatus

HELD = (State.GRANTED, State.LOADED, State.ASKED)


class History:
    """A device, and a client for each of a few uids that does one thing after another."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        maximum = self.random.choice((None, 3, 8, 10))
        self.device = Device(self.random.choice((1, 2, 2, 2)), PolicyParameters(maximum))
        self.apps = [self.device.app(10_001 + index) for index in range(self.random.randint(1, 6))]
        self.device.manager.watch = self.watch

    def watch(self, record: Record) -> None:
        if record.kind is Kind.GRANT:
            assert record.used <= record.ceiling, record

    def step(self) -> None:
        app = self.random.choice(self.apps)
        self.random.choice(STEPS)(self, app)
        self.device.advance(0)
        check(self.device)

    def live(self, app: App, *states: State) -> list[int]:
        requests = self.device.manager.table.uid(app.uid).requests.values()
        return [request.model.id for request in requests if not states or request.state in states]

    def ask(self, app: App) -> None:
        identifier = self.random.randint(0, 5)
        try:
            app.ask(identifier, self.random.randint(0, LARGE), self.random.choice((0, 1000, 2000)))
        except IllegalArgument:
            assert identifier in self.live(app)

    def load(self, app: App) -> None:
        for identifier in self.live(app, State.GRANTED)[:1]:
            app.loaded(identifier)

    def load_ungranted(self, app: App) -> None:
        for identifier in self.live(app)[:1]:
            app.loaded(identifier)

    def unload(self, app: App) -> None:
        for identifier in (self.live(app, State.ASKED) or self.live(app))[:1]:
            app.unloaded(identifier)

    def cancel(self, app: App) -> None:
        for identifier in self.live(app)[-1:]:
            app.cancel(identifier)

    def work(self, app: App) -> None:
        app.work()

    def move(self, app: App) -> None:
        app.become(self.random.choice((100, 200, 400)))

    def press(self, app: App) -> None:
        self.device.control.set_thermal_pressure(self.random.choice((ThermalStatus.NONE, *ThermalStatus)))
        self.device.control.set_memory_pressure(self.random.choice((MemoryPressure.NONE, *MemoryPressure)))

    def die(self, app: App) -> None:
        app.die()

    def wait(self, app: App) -> None:
        self.device.advance(self.random.choice((1, 60)))


STEPS: tuple[Callable[[History, App], None], ...] = (
    *(History.ask,) * 7, *(History.load,) * 4, *(History.unload,) * 3, History.cancel, *(History.work,) * 2,
    *(History.move,) * 2, History.press, History.die, History.wait, History.load_ungranted,
)  # fmt: skip


def check(device: Device) -> None:
    policy = device.manager.policy
    assert isinstance(policy, Budget)
    live = device.manager.table.live()
    assert policy.used == sum(each.weight for each in live if each.state in HELD) + sum(each.secured for each in live)
    for request in live:
        assert 0 <= request.secured <= request.claim <= request.weight
        assert (request.state is State.WAITING) <= (request.claim == request.weight)
        assert (request.claim > 0) <= (request.state in (State.PARKED, State.WAITING))
    staying = [each for each in live if each.state in (State.GRANTED, State.LOADED)]
    assert sum(each.weight for each in staying) + sum(each.claim for each in live) <= policy.ceiling
    for request in live:
        if request.state is State.PARKED and request.weight <= policy.ceiling:
            assert not _could_be_placed(request, staying, live, policy.ceiling), request


def _could_be_placed(request: Request, staying: list[Request], live: list[Request], ceiling: int) -> bool:
    """NPU-POL-013, worked out apart from the policy: what stronger and equal uids leave is enough."""
    kept = sum(each.weight for each in staying if each.uid.rank <= request.uid.rank)
    claims = (each for each in live if each.claim and each is not request)
    kept += sum(each.claim for each in claims if _keeps_its_claim(each, request))
    return kept + request.weight <= ceiling


def _keeps_its_claim(other: Request, request: Request) -> bool:
    if other.state is State.PARKED:
        return other.entry < request.entry
    return other.uid.rank <= request.uid.rank


@pytest.mark.parametrize("seed", range(60))
def test_a_random_history_keeps_the_books_in_order(seed: int) -> None:
    history = History(seed)
    for _ in range(150):
        history.step()


def test_equal_seeds_give_equal_decisions() -> None:
    def decisions() -> list[Record]:
        history = History(7)
        records: list[Record] = []
        history.device.manager.watch = records.append
        for _ in range(300):
            history.step()
        return records

    first = decisions()
    assert first == decisions()
    assert {record.kind for record in first} >= set(Kind) - {Kind.IGNORED}
