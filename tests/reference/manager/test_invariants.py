"""Random histories of the reference manager: its accounts agree with its table after every step."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from npu_manager import ReferenceFixture, Start

from npu_conformance.cts.lib.manager_fixture import LARGE, ClientApp, RequestedModel
from npu_conformance.reference.manager.budget import Budget
from npu_conformance.reference.manager.decisions import Kind, Record
from npu_conformance.reference.manager.requests import Request, State
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import MemoryPressure, Policy, PolicyParameters, ThermalStatus

HELD = (State.GRANTED, State.LOADED, State.ASKED)


class History:
    """A manager, and a client for each of a few uids that does one thing after another."""

    def __init__(self, seed: int, start: Start) -> None:
        self.random = random.Random(seed)
        maximum = self.random.choice((None, 3, 8, 10))
        policy = Policy(self.random.choice((1, 2, 2, 2)))
        self.fixture: ReferenceFixture = start(policy, PolicyParameters(maximum))
        self.apps = [self.fixture.app() for _ in range(self.random.randint(1, 6))]
        self.models: dict[tuple[int, int], RequestedModel] = {}
        """The newest request of each uid and id."""

    def step(self) -> None:
        app = self.random.choice(self.apps)
        self.random.choice(STEPS)(self, app)
        self.fixture.settle()
        check(self.fixture)

    def live(self, app: ClientApp, *states: State) -> list[RequestedModel]:
        requests = self.fixture.manager.table.uid(app.uid).requests.values()
        live = [request.model.id for request in requests if not states or request.state in states]
        return [self.models[app.uid, identifier] for identifier in live]

    def ask(self, app: ClientApp) -> None:
        identifier = self.random.randint(0, 5)
        size, priority = self.random.randint(0, LARGE), self.random.choice((0, 1000, 2000))
        try:
            self.models[app.uid, identifier] = app.asks(size, priority, identifier=identifier)
        except IllegalArgument:
            assert self.models[app.uid, identifier] in self.live(app)

    def load(self, app: ClientApp) -> None:
        for model in self.live(app, State.GRANTED)[:1]:
            model.load()

    def load_ungranted(self, app: ClientApp) -> None:
        for model in self.live(app)[:1]:
            model.load()

    def unload(self, app: ClientApp) -> None:
        for model in (self.live(app, State.ASKED) or self.live(app))[:1]:
            model.unload()

    def cancel(self, app: ClientApp) -> None:
        for model in self.live(app)[-1:]:
            model.cancel()

    def work(self, app: ClientApp) -> None:
        self.fixture.works(app)

    def move(self, app: ClientApp) -> None:
        app.moves(self.random.choice((100, 200, 400)))

    def change_pressure(self, app: ClientApp) -> None:
        self.fixture.control.set_thermal_pressure(self.random.choice((ThermalStatus.NONE, *ThermalStatus)))
        self.fixture.control.set_memory_pressure(self.random.choice((MemoryPressure.NONE, *MemoryPressure)))

    def die(self, app: ClientApp) -> None:
        app.dies()
        app.restarts()

    def wait(self, app: ClientApp) -> None:
        self.fixture.advance(self.random.choice((1, 60)))


STEPS: tuple[Callable[[History, ClientApp], None], ...] = (
    *(History.ask,) * 7, *(History.load,) * 4, *(History.unload,) * 3, History.cancel, *(History.work,) * 2,
    *(History.move,) * 2, History.change_pressure, History.die, History.wait, History.load_ungranted,
)  # fmt: skip


def check(fixture: ReferenceFixture) -> None:
    policy = fixture.manager.policy
    assert isinstance(policy, Budget)
    live = fixture.manager.table.live()
    held, secured = sum(each.weight for each in live if each.state in HELD), sum(each.secured for each in live)
    assert policy.used == held + secured
    assert secured <= max(0, policy.ceiling - held)
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
    """NPU-POL-013, computed apart from the policy: what stronger and equal uids leave is enough."""
    kept = sum(each.weight for each in staying if each.uid.rank <= request.uid.rank)
    claims = (each for each in live if each.claim and each is not request)
    kept += sum(each.claim for each in claims if _keeps_its_claim(each, request))
    return kept + request.weight <= ceiling


def _keeps_its_claim(other: Request, request: Request) -> bool:
    if other.state is State.PARKED:
        return other.entry < request.entry
    return other.uid.rank <= request.uid.rank


@pytest.mark.parametrize("seed", range(60))
def test_a_random_history_keeps_the_books_in_order(start: Start, seed: int) -> None:
    history = History(seed, start)
    for _ in range(150):
        history.step()
    grants = [record for record in history.fixture.decisions if record.kind is Kind.GRANT]
    assert [record for record in grants if record.used > record.ceiling] == []


def test_equal_seeds_give_equal_decisions(start: Start) -> None:
    def decisions() -> list[Record]:
        history = History(7, start)
        for _ in range(300):
            history.step()
        return history.fixture.decisions

    first = decisions()
    assert first == decisions()
    assert {record.kind for record in first} >= set(Kind) - {Kind.IGNORED}
