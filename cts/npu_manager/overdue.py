"""Unload requests that nobody answers in time, and what may have become of the model by then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import BufferApp
from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, pass_time
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.cts.lib.manager_needs import need_room_for
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, Policy, PolicyParameters

cases = CaseGroup("cts.npu_manager.overdue", interface="manager", group=Group.MANAGER_REQUESTS)

FOREGROUND, CACHED = Importance.FOREGROUND, Importance.CACHED
_SECOND_NS = 1_000_000_000
_SETTLE_NS = 100_000_000
_WEEKS_NS = 25 * 24 * 3600 * _SECOND_NS
"""Milliseconds outgrow 31 bits within such a time, and 32 within two."""
_MANY, _OF_ONE_APP = 70, 10
"""Unload requests that are ignored, and how many of them by one app: an app may have few."""
_SHARES = ((FOREGROUND, SMALL), (Importance.VISIBLE, SMALL), (Importance.VISIBLE, MEDIUM))
"""Apps and models that together have the room of a large one."""
_SHORT = 2
"""Unload requests that are soon due, behind one that is not."""
_TIMES_MS = (450, 999, 1500, 2500, 4295, 8590, 65_536 + 700, 3_600_000, 4_294_967 + 900)
"""Beside seconds those at which numbers of 32 bits end, in nanoseconds and microseconds."""


@contextmanager
def _a_minute_for_an_unload(context: CaseContext) -> Iterator[ManagerFixture]:
    """Apps under a manager that lets unload requests be unanswered for a minute of a virtual clock."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock nobody waits for a client that never answers")
    fixture = ManagerFixture(context)
    with fixture.unload_timeout(60 * _SECOND_NS):
        yield fixture


def _was_granted(model: RequestedModel) -> None:
    """Check that it was, some time ago: for how long a grant holds unused is free."""
    model.receives_one_of([WAIT, GRANT], [WAIT, GRANT, CANCELLED])


@cases.case("loaded_again_is_no_answer", "NPU-LIF-027", "NPU-LIF-015")
def loaded_again_is_no_answer(context: CaseContext) -> None:
    """A client that answers an unload request by reporting its model as loaded again has not answered."""
    with _a_minute_for_an_unload(context) as fixture:
        held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
        fixture.control.advance_clock(30 * _SECOND_NS)
        held.load()
        held.receives(GRANT, UNLOAD)
        fixture.control.advance_clock(31 * _SECOND_NS)
        wanted.receives(WAIT, GRANT)


@cases.case("of_several_models", "NPU-LIF-027")
def of_several_models(context: CaseContext) -> None:
    """Each of several unload requests has its time: none of the clients that ignore theirs blocks the others."""
    with _a_minute_for_an_unload(context) as fixture:
        ignoring = [fixture.app(CACHED).loads(MEDIUM) for _ in range(2)]
        wanted = fixture.app(FOREGROUND).asks(LARGE)
        for model in ignoring:
            model.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
        fixture.control.advance_clock(61 * _SECOND_NS)
        wanted.receives(WAIT, GRANT)


@cases.case("moved_meanwhile", "NPU-LIF-027", "NPU-PRI-013")
def moved_meanwhile(context: CaseContext) -> None:
    """An app that comes to another importance while it is asked to unload has no more time than before."""
    for importance in (Importance.GONE, Importance.SERVICE):
        with _a_minute_for_an_unload(context) as fixture:
            ignoring = fixture.app(CACHED)
            held, wanted = ignoring.loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)
            fixture.control.advance_clock(30 * _SECOND_NS)
            ignoring.moves(importance)
            fixture.control.advance_clock(31 * _SECOND_NS)
            wanted.receives(WAIT, GRANT)


@cases.case("room_for_several", "NPU-LIF-027", "NPU-LIF-007")
def room_for_several(context: CaseContext) -> None:
    """The room of one large model that is overdue serves all who wait for it, not only the first."""
    with _a_minute_for_an_unload(context) as fixture:
        ignoring = fixture.app(CACHED).loads(LARGE)
        wanted = [fixture.app(importance).asks(size) for importance, size in _SHARES]
        ignoring.receives(GRANT, UNLOAD)
        for model in wanted:
            model.receives_one_of([WAIT], [PARKED])
        fixture.control.advance_clock(61 * _SECOND_NS)
        for model in wanted:
            model.receives_one_of([WAIT, GRANT], [PARKED, GRANT], [PARKED, WAIT, GRANT])


@cases.case("of_many_models", "NPU-LIF-027")
def of_many_models(context: CaseContext) -> None:
    """However many unload requests are ignored, none of them blocks who waits for all of the room."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock nobody waits for a client that never answers")
    need_room_for(context, _MANY)
    fixture = ManagerFixture(context, parameters=PolicyParameters(None, {str(int(LARGE)): _MANY}))
    with fixture.unload_timeout(60 * _SECOND_NS):
        apps = [fixture.app(CACHED) for _ in range(_MANY // _OF_ONE_APP)]
        ignoring = [app.loads(SMALL) for app in apps for _ in range(_OF_ONE_APP)]
        wanted = fixture.app(FOREGROUND).asks(LARGE)
        wanted.receives(WAIT)
        for model in ignoring:
            model.receives(GRANT, UNLOAD)
        fixture.control.advance_clock(61 * _SECOND_NS)
        wanted.receives(WAIT, GRANT)


@cases.case("time_is_set_again", "NPU-LIF-027")
def time_is_set_again(context: CaseContext) -> None:
    """An unload request has the time that was set last, longer or shorter than that of earlier ones."""
    with _a_minute_for_an_unload(context) as fixture:
        for seconds in (60, 240, 15):
            fixture.control.set_unload_timeout(seconds * _SECOND_NS)
            held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)
            fixture.control.advance_clock(seconds * _SECOND_NS * 2 // 3)
            wanted.receives(WAIT)
            fixture.control.advance_clock(seconds * _SECOND_NS // 3 + _SECOND_NS)
            wanted.receives(WAIT, GRANT)
            wanted.cancel()


@cases.case("time_set_later", "NPU-LIF-027")
def time_set_later(context: CaseContext) -> None:
    """Where another time is set meanwhile, an unload request has that or the one before: no less, and no more."""
    with _a_minute_for_an_unload(context) as fixture:
        for later in (240, 30):
            fixture.control.set_unload_timeout(60 * _SECOND_NS)
            held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)
            fixture.control.advance_clock(10 * _SECOND_NS)
            fixture.control.set_unload_timeout(later * _SECOND_NS)
            fixture.control.advance_clock((min(60, later) - 15) * _SECOND_NS)
            wanted.receives(WAIT)
            fixture.control.advance_clock((max(60, later) - min(60, later) + 6) * _SECOND_NS)
            _was_granted(wanted)
            wanted.cancel()


@cases.case("of_a_long_uptime", "NPU-LIF-027")
def of_a_long_uptime(context: CaseContext) -> None:
    """Weeks after the device has started an unload request has its time as on the first day."""
    with _a_minute_for_an_unload(context) as fixture:
        for _ in range(2):
            fixture.control.advance_clock(_WEEKS_NS)
            held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
            held.receives(GRANT, UNLOAD)
            wanted.receives(WAIT)
            fixture.control.advance_clock(40 * _SECOND_NS)
            wanted.receives(WAIT)
            fixture.control.advance_clock(40 * _SECOND_NS)
            _was_granted(wanted)
            wanted.cancel()


@cases.case("of_an_earlier_policy", "NPU-LIF-022", "NPU-LIF-027")
def of_an_earlier_policy(context: CaseContext) -> None:
    """The time of an unload request is over with its policy, and ends no later request, whatever id that has."""
    with _a_minute_for_an_unload(context) as fixture:
        app = fixture.app(CACHED)
        held = app.loads(LARGE)
        fixture.app(FOREGROUND).asks(LARGE).receives(WAIT)
        held.receives(GRANT, UNLOAD)
        fixture.settings.manager.set_policy(Policy.BUDGET, None)
        fixture.settle()
        again = app.asks(LARGE, identifier=held.request.id)
        again.receives(GRANT)
        again.load()
        fixture.control.advance_clock(61 * _SECOND_NS)
        again.receives(GRANT)


@cases.case("of_an_ended_request", "NPU-LIF-027", "NPU-LIF-013")
def of_an_ended_request(context: CaseContext) -> None:
    """The time of an unload request is over with its answer: a later request of its id, asked as well, has its own."""
    with _a_minute_for_an_unload(context) as fixture:
        app, other = fixture.app(CACHED), fixture.app(FOREGROUND)
        held, wanted = app.loads(LARGE), other.asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
        held.unload()
        held.receives(GRANT, UNLOAD, COMPLETE)
        wanted.cancel()
        fixture.control.advance_clock(40 * _SECOND_NS)
        again = app.asks(LARGE, identifier=held.request.id)
        again.receives(GRANT)
        again.load()
        late = other.asks(LARGE)
        late.receives(WAIT)
        fixture.control.advance_clock(40 * _SECOND_NS)
        again.receives(GRANT, UNLOAD)
        late.receives(WAIT)
        fixture.control.advance_clock(40 * _SECOND_NS)
        _was_granted(late)


@cases.case("any_time", "NPU-LIF-027")
def any_time(context: CaseContext) -> None:
    """The time of an unload request is kept to the millisecond, whatever it is: nobody's model goes earlier."""
    with _a_minute_for_an_unload(context) as fixture:
        for milliseconds in _TIMES_MS:
            duration_ns = milliseconds * 1_000_000
            fixture.control.set_unload_timeout(duration_ns)
            held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
            begun = 2 * _SETTLE_NS  # at most: two looks, each of which lets time pass
            held.receives(GRANT, UNLOAD)
            fixture.control.advance_clock(duration_ns - begun)
            held.app.client.catch_up()
            wanted.app.client.catch_up()
            checks.equal(wanted.received, [WAIT], f"callbacks before {milliseconds} ms for an unload have passed")
            fixture.control.advance_clock(begun + _SECOND_NS // 2)
            wanted.receives(WAIT, GRANT)
            wanted.cancel()


@cases.case("not_at_once_in_real_time", "NPU-LIF-027")
def not_at_once_in_real_time(context: CaseContext) -> None:
    """Where time passes by itself, a client has more than half a second to answer an unload request."""
    if context.manifest.virtual_clock:
        raise NotApplicable("with a virtual clock another case asks the same to the millisecond")
    fixture = ManagerFixture(context)
    held, wanted = fixture.app(CACHED).loads(LARGE), fixture.app(FOREGROUND).asks(LARGE)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)
    context.subject.wait_until(lambda: wanted.received != [WAIT], 0.5)
    held.receives(GRANT, UNLOAD)
    wanted.receives(WAIT)


@cases.case("short_behind_long", "NPU-LIF-027", "NPU-BUF-003")
def short_behind_long(context: CaseContext) -> None:
    """What is due soon happens soon, though a client has weeks to answer: other unload requests, and allocations."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(_SHORT * 4 + 4))
    holder, app = fixture.app(CACHED), fixture.app(FOREGROUND)
    held = [holder.loads(LARGE) for _ in range(_SHORT + 1)]
    with fixture.unload_timeout(_WEEKS_NS):
        waiting = [app.asks(LARGE)]
        waiting[0].receives(WAIT)
        _gets_a_buffer(context)
        for due in range(1, _SHORT + 1):
            fixture.control.set_unload_timeout(_SETTLE_NS)
            waiting.append(app.asks(LARGE))
            pass_time(context)
            fixture.wait(partial(_are_granted, waiting, due))
            what = f"expected {due} grants when as many unload requests are overdue, found {_granted(waiting)}"
            checks.that(_granted(waiting) >= due, what)
    for model in held:
        model.unload()
    for model in waiting:
        model.receives(WAIT, GRANT)


def _granted(models: list[RequestedModel]) -> int:
    return sum(model.received[-1:] == [GRANT] for model in models)


def _are_granted(models: list[RequestedModel], count: int) -> bool:
    return _granted(models) >= count


def _gets_a_buffer(context: CaseContext) -> None:
    with suppress(NotApplicable):  # a manager may have none
        app = BufferApp(context).supported()
        app.allocated(app.request(1))


@cases.case("others_ask_meanwhile", "NPU-LIF-027")
def others_ask_meanwhile(context: CaseContext) -> None:
    """The time of an unload request runs on, whatever else is asked, loaded and decided meanwhile."""
    with _a_minute_for_an_unload(context) as fixture:
        busy = fixture.app(CACHED)
        fixture.app(CACHED).loads(LARGE).receives(GRANT)
        wanted = fixture.app(FOREGROUND).asks(LARGE)
        wanted.receives(WAIT)
        for _ in range(5):
            fixture.control.advance_clock(20 * _SECOND_NS)
            busy.asks(LARGE)
            fixture.settle()
        _was_granted(wanted)
