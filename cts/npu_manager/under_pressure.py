"""Who holds and who asks under heat or lack of memory: any app, whatever the HAL has of it.

Pressure may weaken priorities (NPU-PRI-015), and need not change that of any app there is. Budgets shrink all the same,
and apps are as important for the loading policies as the activity manager says (NPU-PRI-002).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from npu_conformance.cts.lib.manager_client import GRANT, PARKED, WAIT
from npu_conformance.cts.lib.manager_fixture import (
    SMALL,
    UNLOAD,
    ClientApp,
    ManagerFixture,
    RequestedModel,
)
from npu_conformance.cts.lib.manager_pressure import HEAT, SHORTAGE, Press, heat, pressed, shortage
from npu_conformance.cts.lib.scheduling_hal import recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ROOT_UID, SYSTEM_UID, Importance, PolicyParameters, ThermalStatus

cases = CaseGroup("cts.npu_manager.under_pressure", interface="manager", group=Group.MANAGER_POLICIES)

_SHORTAGES: tuple[tuple[Press, int], ...] = tuple((shortage, level) for level in SHORTAGE)
_LEVELS: tuple[tuple[Press, int], ...] = (*((heat, level) for level in HEAT), *_SHORTAGES)
_ROOM = 8
_HOLDERS: tuple[tuple[int, ...], ...] = (
    *((importance,) for importance in Importance),
    (Importance.FOREGROUND, Importance.FOREGROUND_SERVICE),
    (Importance.FOREGROUND, Importance.GONE),
)
"""Importances of apps that share the budget: of each alone, and of some whose priorities nothing can weaken."""


@cases.case("whoever_holds", "NPU-POL-026", "NPU-POL-027")
def whoever_holds(context: CaseContext) -> None:
    """The budget shrinks whoever holds it, and what was parked meanwhile is granted at the end, to whomever."""
    for (press, level), holders in itertools.product(_LEVELS, _HOLDERS):
        _judge_holders(ManagerFixture(context), press, level, holders)


def _judge_holders(fixture: ManagerFixture, press: Press, level: int, holders: Sequence[int]) -> None:
    _forget_others(fixture)
    apps = [fixture.app(importance) for importance in holders]
    models = [app.loads(SMALL) for app in apps for _ in range(4 // len(apps))]
    with pressed(fixture, press, level):
        fixture.wait(lambda: any(UNLOAD in model.received for model in models))
        asked = [model for model in models if UNLOAD in model.received]
        checks.that(bool(asked), f"models asked to unload at pressure {level}: expected some, found none")
        for model in asked:
            model.unload()
        late = apps[-1].asks(SMALL)
        late.receives_one_of([PARKED], *([] if fixture.context.manifest.virtual_clock else [[WAIT], [PARKED, WAIT]]))
    fixture.wait(lambda: GRANT in late.received)
    checks.equal(late.received[-1:], [GRANT], f"the last callback of {late.name}, behind the pressure")


def _forget_others(fixture: ManagerFixture) -> None:
    """Have no app of an earlier case whose priority pressure could weaken."""
    with recording_hal(fixture) as hal:
        for uid in {*hal.table} - {ROOT_UID, SYSTEM_UID, fixture.settings.uid}:
            with suppress(IllegalArgument):
                fixture.control.remove_app(uid)


def _importances(context: CaseContext, *, is_pressed: bool) -> Iterator[tuple[int, int, int]]:
    """A better importance, one in the middle and a worse one: near each other, and as far as pressure may weaken.

    A manager may weaken them under pressure (NPU-PRI-015), where those near the worst that there is may become one.
    In real time every seventh: each answer takes its time.
    """
    table = itertools.product((400,) if is_pressed else (400, 960, 990, 1000), (10, 50, 100), (10, 50, 100))
    for worst, first, second in itertools.islice(table, 0, None, 1 if context.manifest.virtual_clock else 7):
        yield worst - first - second, worst - first, worst


Moves = tuple[tuple[int, int], tuple[int, int]]
"""Importances of who holds and who asks: before the move of one of them, and behind it."""


def _asker_rises(best: int, middle: int, worst: int) -> Moves:
    return (middle, worst), (middle, best)


def _holder_sinks(best: int, middle: int, worst: int) -> Moves:
    return (best, middle), (worst, middle)


def _declare(name: str, moves_of: Callable[[int, int, int], Moves]) -> None:
    @cases.case(f"ranks.{name}", "NPU-LIF-008", "NPU-PRI-002", "NPU-PRI-013", "NPU-POL-013")
    def ranks(context: CaseContext) -> None:
        """A parked request is reconsidered where its app passes the holder, by whichever importances."""
        for press, level in ((heat, ThermalStatus.NONE), *((heat, each) for each in HEAT[:2]), *_SHORTAGES):
            fixture = ManagerFixture(context, parameters=PolicyParameters(_ROOM))
            apps = fixture.app(), fixture.app()
            with pressed(fixture, press, level):
                for importances in _importances(context, is_pressed=level > 0):
                    _judge_rank(*apps, moves_of(*importances))


def _judge_rank(holder: ClientApp, asker: ClientApp, moves: Moves) -> None:
    before, after = moves
    _come_to(holder, asker, before)
    held = _filled(holder)
    if not held:  # how much is left is the manager's choice
        return
    wanted = asker.asks(SMALL)
    wanted.receives(PARKED)
    _come_to(holder, asker, after)
    wanted.receives(PARKED, WAIT)
    holder.fixture.wait(lambda: any(UNLOAD in model.received for model in held))
    leaving = next((model for model in held if UNLOAD in model.received), None)
    if leaving is None:
        checks.fail(f"models of uid {holder.uid}, which is weaker", "one asked to unload", "none")
    leaving.unload()
    wanted.receives(PARKED, WAIT, GRANT)
    wanted.cancel()
    for model in held:
        model.unload()


def _come_to(holder: ClientApp, asker: ClientApp, importances: tuple[int, int]) -> None:
    for app, importance in zip((holder, asker), importances, strict=True):
        try:
            app.moves(importance)
        except IllegalArgument as error:
            raise NotApplicable(f"importance {importance} cannot be set: {error}") from None


def _filled(app: ClientApp) -> list[RequestedModel]:
    """Models of an app that fill what is left of the budget."""
    models: list[RequestedModel] = []
    for _ in range(_ROOM):
        model = app.asks(SMALL)
        model.is_answered()
        if model.received != [GRANT]:
            model.cancel()
            break
        model.load()
        models.append(model)
    return models


for _name, _moves_of in {"asker_rises": _asker_rises, "holder_sinks": _holder_sinks}.items():
    _declare(_name, _moves_of)
