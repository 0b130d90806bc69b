"""Runs steps on a manager and judges it after each: the steps are data, so that a failure can be run again."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.manager_client import CallbackRecorder, Client, Event, opportunistic_of
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.callback_order import Broken
from npu_conformance.harness.judge.manager_model import DEFAULT_WEIGHTS, ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.run.random_search import fail
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import (
    ATTRIBUTION_PERMISSION,
    BLOCKING_SDK,
    MAX_PRIORITY,
    UNLOAD_TIMEOUT_NS,
    EndReason,
    Importance,
    MemoryPressure,
    ModelLoadRequest,
    ModelPriority,
    Policy,
    PolicyParameters,
    SchedulingConfig,
    ThermalStatus,
)

APPS = 4
_ROUNDS = 2
"""How often every request may have to wait for all others before it counts as starved."""


class ScenarioRunner:
    """A fixture of some apps with a HAL below, and the model that judges it. steps: what has been run so far."""

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        self.fixture = fixture
        self.hal = hal
        self.model = ManagerModel()
        self.apps: dict[int, ClientApp] = {}
        self.steps: list[Step] = []
        self.owners: dict[TrackedRequest, Client] = {}
        """The process of each request."""
        self.under_way = False
        """Whether nothing has arrived yet of the step before."""
        self.joins_in = False
        """Whether that was so when the newest step began."""
        self._read: dict[Client, int] = {}
        self._pressures: dict[str, tuple[int, bool]] = {}
        self._importance: dict[int, int] = {}
        self._undeclared: set[int] = set()
        """Apps that do not declare the feature."""
        self.blocks = True
        """Whether blocking is on."""
        self._once_blockable: set[int] = set()
        """Apps of which an earlier version was one that may be blocked."""
        self._attributing: set[int] = set()
        self._rights_changed: dict[int, tuple[RecordingHal, int]] = {}
        """The HAL, and how many pushes it had got, when an app's right to attribute work was given or taken last."""
        self.model.opportunistic = opportunistic_of(fixture.context)
        self.priorities = (ModelPriority.NORMAL, 100, ModelPriority.BACKGROUND, self.model.opportunistic)
        first = None
        for number in range(APPS):
            is_last = number == APPS - 1
            app = fixture.app(Importance.GONE, user=int(is_last), twin_of=first if is_last else None)
            first = first or app
            self.apps[app.uid] = app
            self.model.importance[app.uid] = self._importance[app.uid] = Importance.GONE

    def run(self, step: Step) -> None:
        """Let it happen, where it can, and judge what follows. Raises Failed with all steps so far."""
        self.steps.append(step)
        if not self.under_way:
            self.model.begin()
        self.joins_in = self.under_way
        self.model.busy = self.under_way or step.soon
        self.under_way = step.soon
        getattr(self, f"_{step.do}")(step)
        if not step.soon:
            self._judge()

    def drain(self) -> None:
        """Relieve the device, and let every app load what it is granted and unload it: all that fits gets its turn.

        (NPU-POL-029, and no capacity is lost on the way.)
        """
        self.run(Step("heat"))
        self.run(Step("shortage"))
        for _ in range(_ROUNDS * len(self.model.live) + 1):
            holders = [tracked for tracked in self.model.live if tracked.holds]
            for tracked in holders:
                self.run(Step("unload" if tracked.loaded else "load", tracked.uid, tracked.request.id))
            if not holders:
                break
        model = self.model
        starved = [tracked.name for tracked in model.live if not model.gates or tracked.weight <= model.maximum]
        if starved:
            names = ", ".join(starved)
            self.fail("NPU-POL-029", f"{names}: starved: never granted while all others loaded and unloaded")

    def tracked(self, step: Step) -> TrackedRequest | None:
        """The newest request of the step's uid and id."""
        return self.newest(step.uid, step.id)

    def newest(self, uid: int, identifier: int) -> TrackedRequest | None:
        """The newest request of this uid and id."""
        same = (each for each in reversed(self.model.requests) if (each.uid, each.request.id) == (uid, identifier))
        return next(same, None)

    def _judge(self) -> None:
        problems: list[Broken] = []

        def sound() -> bool:
            self._receive()
            problems[:] = [*self.model.broken(), *self._table()]
            return not problems

        if not self.fixture.wait(sound):
            self.fail(problems[0][0], "; ".join(text for _, text in problems))
        for doubt in (*self.model.doubtful(), *self._outdated()):
            self.fixture.context.warn_quality(doubt)

    def fail(self, requirement: str, problem: str) -> None:
        """Raise Failed, about a requirement, with all steps so far. requirement: or several, as words."""
        fail(problem, self.steps, *requirement.split())

    def _receive(self) -> None:
        for client in self.fixture.clients:
            events = client.recorder.events
            for event in events[self._read.get(client, 0) :]:
                self._assign(client, event)
            self._read[client] = len(events)

    def _assign(self, client: Client, event: Event) -> None:
        tracked = self.newest(client.uid, event.request.id)
        if tracked is None:
            self.fail("NPU-LIF-003", f"uid {client.uid} got {event}, which it never submitted")
        else:
            client.judge_request(event)
            self.judge_place(tracked, client.recorder)
            self.model.receive(tracked, event)

    def judge_place(self, tracked: TrackedRequest, recorder: CallbackRecorder) -> None:
        """See that a callback came to the object that was given with its request (NPU-LIF-025)."""

    def _table(self) -> list[Broken]:
        """What the HAL has got is what the apps are (NPU-PRI-002, -005, -011, NPU-ACC-008).

        Pressure may weaken priorities, and who has no rank need not be in the table.
        """
        return [
            *(problem for uid in self.installed for problem in self._entry(uid)),
            *(("NPU-PRI-005", each) for each in self.hal.wrong),
        ]

    @property
    def installed(self) -> list[int]:
        """The uids of the apps that are there."""
        return [*self.apps]

    def _entry(self, uid: int) -> Iterator[Broken]:
        found, expected = self.hal.table.get(uid), self.model.importance[uid]
        if found is None and uid in self._undeclared:
            return
        if found is None and expected != MAX_PRIORITY:
            yield "NPU-PRI-009", f"no config of uid {uid} at the HAL, its importance counts {expected}"
            return
        may_attribute = uid in self._attributing
        if found is None and may_attribute and not self._is_told_later(uid):
            yield "NPU-PRI-006", f"no config of uid {uid} at the HAL, which counts {expected} and may attribute work"
            return
        found = found or _no_config(uid)
        if found.priority != expected and not (self.model.pressed and found.priority > expected):
            rules = "NPU-PRI-002 NPU-PRI-005"  # it is wrong in the manager, or was not pushed
            yield rules, f"priority {found.priority} of uid {uid} at the HAL, its importance counts {expected}"
        if found.can_attribute_other_uid != may_attribute and not self._is_told_later(uid):
            yield "NPU-PRI-011", f"attribution of uid {uid} at the HAL: {found.can_attribute_other_uid}"
        if self._is_wrongly_blocked(uid) and uid not in self._once_blockable:
            rule = "NPU-ACC-009" if uid in self._undeclared else "NPU-ACC-008"
            yield rule, f"uid {uid} is not to be blocked, and has no direct access at the HAL"

    def _is_told_later(self, uid: int) -> bool:
        """A right counts by the next push about the app, or the next table: neither has come since it changed."""
        hal, before = self._rights_changed.get(uid, (None, 0))
        pushes = self.hal.pushes[before:]
        return hal is self.hal and not any(
            call == "set" or any(config.uid == uid for config in configs) for call, configs in pushes
        )

    def _outdated(self) -> Iterator[str]:
        """Name the apps that are blocked for what they were before an update, which ought to count (NPU-PRI-012)."""
        for uid in self.installed:
            if uid in self._once_blockable and self._is_wrongly_blocked(uid):
                yield f"uid {uid} was updated, is not to be blocked any more, and has no direct access at the HAL"

    def _is_wrongly_blocked(self, uid: int) -> bool:
        found = self.hal.table.get(uid)
        return found is not None and not found.has_direct_access and not (self.blocks and self.may_block(uid))

    def may_block(self, uid: int) -> bool:
        """True where an app may be denied the NPU while blocking is on (NPU-ACC-007 to -010)."""
        return uid in self._undeclared

    def _policy(self, step: Step) -> None:
        policy = Policy(step.priority)
        weights = {size: weight * step.unit for size, weight in DEFAULT_WEIGHTS.items()}
        maximum = step.number * step.unit
        self.model.replace_policy(policy, 1 if policy is Policy.TURN_TAKING else maximum, weights)
        named = {str(size): weight for size, weight in weights.items()}
        self.fixture.settings.manager.set_policy(policy, PolicyParameters(maximum, named))

    def _ask(self, step: Step) -> None:
        request = ModelLoadRequest(step.id, step.number, step.priority)
        client = self.client_of(step.uid)
        if step.number not in self.model.weights and self.model.gates:
            checks.raises(lambda: client.request(request), IllegalArgument, f"request of size {step.number}")
            return
        tracked = TrackedRequest(step.uid, request, self.model.weight(step.number))
        self.model.requests.append(tracked)
        self.owners[tracked] = client
        client.request(request, self.recorder_of(step))

    def client_of(self, uid: int) -> Client:
        """The process that asks for this uid."""
        return self.apps[uid].client

    def recorder_of(self, step: Step) -> CallbackRecorder | None:
        """The callback object of a request; None: that of its process."""
        return None

    def _load(self, step: Step) -> None:
        tracked, listener = self._with_listener(step)
        if tracked is not None and listener is not None:
            if not tracked.ended and not tracked.loaded:
                tracked.loaded, tracked.ungranted = True, not tracked.holds
            listener.notify_model_loaded(tracked.request)

    def _unload(self, step: Step) -> None:
        tracked, listener = self._with_listener(step)
        if tracked is not None and listener is not None:
            tracked.unloaded = tracked.unloaded or tracked.may_live
            listener.notify_model_unloaded(tracked.request)

    def _cancel(self, step: Step) -> None:
        tracked = self.tracked(step)
        if tracked is not None:
            tracked.cancelled = tracked.cancelled or tracked.may_live
            self.client_of(step.uid).manager.cancel_model_load(tracked.request)

    def _meddle(self, step: Step) -> None:
        """The app behind it in the list uses its own listener, where it has one, and its own connection."""
        tracked = self.tracked(step)
        uids = [*self.apps]
        other = self.apps[uids[(uids.index(step.uid) + 1) % APPS]]
        if tracked is None or self.newest(other.uid, step.id) is not None:
            return
        other.client.manager.cancel_model_load(tracked.request)
        listeners = [each.listener for each in other.client.recorder.events if each.listener is not None]
        for listener in listeners[-1:]:
            listener.notify_model_loaded(tracked.request)
            listener.notify_model_unloaded(tracked.request)

    def _move(self, step: Step) -> None:
        """A control may know those importances alone that Android names."""
        try:
            self.fixture.control.set_importance(step.uid, step.number)
        except IllegalArgument:
            if step.number in tuple(Importance):
                raise
            return
        self._importance[step.uid] = step.number
        self._rank(step.uid)

    def _declare(self, step: Step) -> None:
        self._outdate(step.uid)
        (self._undeclared.discard if step.number else self._undeclared.add)(step.uid)
        self._rank(step.uid)
        self.fixture.control.update_app(step.uid, bool(step.number), BLOCKING_SDK)

    def _outdate(self, uid: int) -> None:
        """Another version of an app comes."""
        if self.may_block(uid):
            self._once_blockable.add(uid)

    def _rank(self, uid: int) -> None:
        """An app counts as much as its importance; in the public page's profile only if it declares the feature."""
        is_ranked = uid not in self._undeclared or self.fixture.context.manifest.npu_profile != "page"
        self.model.importance[uid] = self._importance[uid] if is_ranked else MAX_PRIORITY

    def _attribute(self, step: Step) -> None:
        (self._attributing.add if step.number else self._attributing.discard)(step.uid)
        self._rights_changed[step.uid] = self.hal, len(self.hal.pushes)
        self.fixture.control.grant_permission(step.uid, ATTRIBUTION_PERMISSION, bool(step.number))

    def _work(self, step: Step) -> None:
        if step.number == EndReason.COMPLETED:
            self.model.complete_work(step.uid)
        self.hal.works(step.uid, step.number, arrives=not step.soon)

    def _serve(self, step: Step) -> None:
        self.model.complete_work(step.uid)
        self.hal.works(self.fixture.settings.uid, original=step.uid, arrives=not step.soon)

    def _wait(self, step: Step) -> None:
        """More time than an unload may take, and less than for two of which one follows from the other."""
        self.model.expire([tracked for tracked in self.model.live if tracked.asked])
        with self.fixture.unload_timeout(UNLOAD_TIMEOUT_NS):
            self.fixture.control.advance_clock(UNLOAD_TIMEOUT_NS * 4 // 3)

    def _die(self, step: Step) -> None:
        self._bury(step.uid)
        self.fixture.control.kill_client(step.uid)
        if not step.soon:
            self.fixture.settle()
        self.apps[step.uid].restarts()

    def _bury(self, uid: int, pid: int = 0) -> None:
        """The processes of a uid, or those with this pid, are dead, and what they asked for vanishes (NPU-LIF-019)."""
        self._bury_only([client for client in self.fixture.clients if client.uid == uid and pid in (0, client.pid)])

    def _bury_only(self, dead: list[Client]) -> None:
        for client in dead:
            client.alive = False
        for tracked in self.model.requests:
            if tracked.may_live:
                tracked.dead = self.owners[tracked] in dead

    def _spawn(self, step: Step) -> None:
        self.apps[step.uid].restarts()

    def _heat(self, step: Step) -> None:
        self._press("heat", step.number, severe=step.number >= ThermalStatus.SEVERE)
        self.fixture.control.set_thermal_pressure(step.number)

    def _shortage(self, step: Step) -> None:
        self._press("shortage", step.number, severe=step.number >= MemoryPressure.LOW)
        self.fixture.control.set_memory_pressure(step.number)

    def _press(self, what: str, level: int, *, severe: bool) -> None:
        self.model.pressing = self.model.pressing or self._pressures.get(what, (0, False))[0] != level
        self._pressures[what] = (level, severe)
        self.model.pressed = any(severe for _, severe in self._pressures.values())
        self.model.eased = not any(level for level, _ in self._pressures.values())

    def _with_listener(self, step: Step) -> tuple[TrackedRequest | None, ModelLoadStatusListener | None]:
        """The request, and a listener that its client got."""
        tracked = self.tracked(step)
        listeners = [event.listener for event in tracked.events if event.listener is not None] if tracked else []
        if not listeners or tracked is None or tracked.dead:
            return tracked, None
        return tracked, listeners[0 if step.first else -1]


def _no_config(uid: int) -> SchedulingConfig:
    """What a HAL does with a uid that it has no config of (NPU-HAL-007)."""
    return SchedulingConfig(uid, MAX_PRIORITY, has_direct_access=True, can_attribute_other_uid=False)
