"""The target whose inputs are histories of the NPU Manager: apps that ask, load, unload, cancel and die.

After each step the model of the manager's promises says what is broken (harness/judge/manager_model.py). At the end the
device is relieved, and whatever is granted is loaded and unloaded, until everything that fits had its turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.histories import HistoryTarget, Traces
from npu_conformance.fuzz.lib.manager_fixture import App, ManagerFixture, pids
from npu_conformance.fuzz.lib.manager_steps import (
    APPS,
    NAMES,
    SEEDS,
    Ask,
    Crash,
    Heat,
    Load,
    Move,
    Permit,
    SetPolicy,
    Shortage,
    Step,
    Unload,
    Withdraw,
    Works,
    histories,
    is_sendable,
)
from npu_conformance.fuzz.lib.scheduling_fixture import Answer, call
from npu_conformance.harness.judge.callback_order import Broken
from npu_conformance.harness.judge.manager_model import DEFAULT_WEIGHTS, ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import IllegalArgument, IllegalState, ServiceError
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import (
    MAX_PRIORITY,
    MIN_PRIORITY,
    PERMISSION,
    EndReason,
    MemoryPressure,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    Policy,
    PolicyParameters,
    ThermalStatus,
)

_NUMBER = re.compile(r"-?\d+")
_ROUNDS = 2
"""How often every request may have to wait for all others before it counts as starved (NPU-POL-029)."""


class ManagerTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "manager"

    def __init__(self, subject: SubjectHandle) -> None:
        super().__init__(subject, histories, SEEDS)
        self._pids = pids()

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        fixture = ManagerFixture(self._subject, self._pids)
        try:
            return _Play(fixture).run(steps)
        finally:
            fixture.close()


class _Open(Exception):
    """The manager did what it is free to, and what no model follows."""


class _Play:
    """One history on a fixture."""

    def __init__(self, fixture: ManagerFixture) -> None:
        self._fixture = fixture
        number = fixture.subject.manifest.constants.get("NPU_MODEL_PRIORITY_OPPORTUNISTIC", ModelPriority.OPPORTUNISTIC)
        self._model = ManagerModel(opportunistic=number)
        self._denied: set[int] = set()
        self._read: dict[int, int] = {}
        self._levels = {"heat": 0, "shortage": 0}
        self._seen: set[str] = set()
        self._traces = Traces(NAMES)

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Let it happen; returns what was seen."""
        try:
            for step in steps:
                if is_sendable(step):
                    self._step(step)
            self._drain()
        except _Open:
            self._seen.add("open")
        return tuple(self._seen)

    def _step(self, step: Step) -> None:
        self._model.begin()
        outcome = self._perform(step)
        self._fixture.settle()
        self._receive()
        for requirement, problem in (*self._model.broken(), *self._table()):
            what = _NUMBER.sub("N", problem.split(": ", 1)[-1])
            raise Found("wrong-status", f"{requirement}: {problem}, after {step}", f"{requirement} {what}")
        self._look(f"{type(step).__name__} {outcome}")
        self._seen.update(self._traces.features(step, outcome))

    def _look(self, word: str) -> None:
        """What tells histories apart: what each step caused, and how the requests of all apps stand."""
        caused = sorted(f"{event.kind}{event.status}" for one in self._model.requests for event in one.new_events)
        stand = sorted(f"{one.decision}{'l' * one.loaded}{'a' * one.asked}" for one in self._model.live)
        self._seen |= {f"{word} {' '.join(caused)}", f"{word} {' '.join(stand)}"}

    def _perform(self, step: Step) -> str:
        match step:
            case SetPolicy():
                return self._set_policy(step)
            case Ask():
                return self._ask(step)
            case Load(app, identifier, by) | Unload(app, identifier, by) | Withdraw(app, identifier, by):
                return self._about(type(step), APPS[app % len(APPS)], identifier, self._app(app if by is None else by))
            case Works(app, reason):
                return self._work(self._app(app), reason)
            case Crash(app):
                return self._die(app)
            case _:
                return self._arrange(step)

    def _app(self, number: int) -> App:
        app = self._fixture.app(number)
        for table in (self._model.importance, self._model.previous):
            table.setdefault(app.uid, MAX_PRIORITY)
        return app

    def _arrange(self, step: Step) -> str:
        """What a test does around the manager, and no app can."""
        control = self._fixture.control
        match step:
            case Move(app, importance):
                uid = self._app(app).uid
                answer = call("setImportance", lambda: control.set_importance(uid, importance))
                if answer == "done":
                    self._model.importance[uid] = importance
                return answer
            case Heat(level):
                self._press("heat", level)
                return call("setThermalPressure", lambda: control.set_thermal_pressure(level))
            case Shortage(level):
                self._press("shortage", level)
                return call("setMemoryPressure", lambda: control.set_memory_pressure(level))
            case Permit(app, granted):
                uid = self._app(app).uid
                (self._denied.discard if granted else self._denied.add)(uid)
                return call("grantPermission", lambda: control.grant_permission(uid, PERMISSION, granted))
            case _:
                return call("killHal", self._fixture.restart_hal)

    def _press(self, what: str, level: int) -> None:
        self._levels[what] = level
        heat, shortage = self._levels["heat"], self._levels["shortage"]
        self._model.pressing = True
        self._model.pressed = heat >= ThermalStatus.SEVERE or shortage >= MemoryPressure.LOW
        self._model.eased = not heat and not shortage

    def _set_policy(self, step: SetPolicy) -> str:
        numbers = [number for number in (step.maximum, *step.weights.values()) if number is not None]
        is_known = step.policy in tuple(Policy)
        wrong = "NPU-POL-002" if not is_known else "NPU-POL-007" if any(number <= 0 for number in numbers) else ""
        given = PolicyParameters(step.maximum, step.weights)
        answer = call("setPolicy", lambda: self._fixture.settings.manager.set_policy(step.policy, given))
        is_open = is_known and step.policy != Policy.BUDGET  # which ignores what is wrong with the parameters, or not
        if answer == "done" and wrong and not is_open:
            raise Found("invalid-accepted", f"setPolicy: {wrong}: {step} is taken", wrong)
        if answer != "done" and not (answer == "refused" and wrong):
            raise Found("valid-refused", f"setPolicy: {step}: {answer}", "setPolicy")
        if answer == "done":
            self._replace_policy(Policy(step.policy), step)
        return f"{answer} {step.policy}"

    def _replace_policy(self, policy: Policy, step: SetPolicy) -> None:
        given = {int(size): step.weights[str(int(size))] for size in ModelSize if str(int(size)) in step.weights}
        weights = {**DEFAULT_WEIGHTS, **given}
        largest = weights[ModelSize.GREATER_THAN_2G]
        maximum = 1 if policy is Policy.TURN_TAKING else step.maximum or largest
        self._model.replace_policy(policy, maximum, weights)

    def _ask(self, step: Ask) -> str:
        app, request = self._app(step.app), ModelLoadRequest(step.id, step.size, step.priority)
        is_live = any((one.uid, one.request.id) == (app.uid, step.id) for one in self._model.live)
        is_size = step.size in tuple(ModelSize)
        is_ordinary = step.priority in (*range(MIN_PRIORITY, MAX_PRIORITY + 1), self._model.opportunistic)
        tracked = TrackedRequest(app.uid, request, self._model.weight(step.size))
        callback = None if step.deaf else app.recorder
        app.hears = True
        # NPU-REQ-012 and NPU-REQ-013 name no error.
        refusals = (IllegalArgument, IllegalState, ServiceError) if is_live or step.deaf else (IllegalArgument,)
        answer = call("requestCanLoadModel", lambda: app.manager.request_can_load_model(request, callback), refusals)
        if answer != "done":
            is_right = not is_size or is_live or step.deaf or not is_ordinary
            self._refused(app, answer, f"requestCanLoadModel: {step}", may_be_refused=is_right)
            return answer
        if not is_size and self._model.gates:
            raise Found("invalid-accepted", f"requestCanLoadModel: NPU-REQ-010: {step} is taken", "NPU-REQ-010")
        if step.deaf or is_live or not is_ordinary or app.uid in self._denied:
            raise _Open
        self._model.requests.append(tracked)
        return answer

    def _refused(self, app: App, answer: Answer, what: str, *, may_be_refused: bool) -> None:
        """See that a refusal is one that the call has."""
        if answer == "denied" and app.uid in self._denied:
            return
        if answer != "refused" or not may_be_refused:
            raise Found("valid-refused", f"{what}: {answer}", f"{what.partition(':')[0]} {answer}")

    def _about(self, kind: type[Step], uid: int, identifier: int, by: App) -> str:
        """An app says something about a request, or cancels it: its own, or another app's, which has no effect."""
        tracked = self._tracked(uid, identifier)
        request = ModelLoadRequest(identifier) if tracked is None else tracked.request
        if by.uid != uid:
            if any((one.uid, one.request.id) == (by.uid, identifier) for one in self._model.live):
                return "its own"
            tracked = None
        if kind is Withdraw:
            return self._said(by, "cancelModelLoad", lambda: by.manager.cancel_model_load(request), tracked, kind)
        listener = self._listener(by, tracked)
        if listener is None:
            return "no listener"
        if kind is Load:
            return self._said(by, "notifyModelLoaded", lambda: listener.notify_model_loaded(request), tracked, kind)
        return self._said(by, "notifyModelUnloaded", lambda: listener.notify_model_unloaded(request), tracked, kind)

    def _said(
        self, by: App, what: str, made: Callable[[], object], tracked: TrackedRequest | None, kind: type[Step]
    ) -> str:
        answer = call(what, made)
        if answer != "done":
            self._refused(by, answer, what, may_be_refused=False)
            return answer
        if by.uid in self._denied:
            raise _Open
        if tracked is None or tracked.ended:
            return "nothing"
        if kind is Withdraw:
            tracked.cancelled = True
        elif kind is Unload:
            tracked.unloaded = True
        elif not tracked.loaded:
            tracked.loaded, tracked.ungranted = True, not tracked.holds
        return answer

    def _tracked(self, uid: int, identifier: int) -> TrackedRequest | None:
        """The newest request of a uid with this id."""
        same = (one for one in reversed(self._model.requests) if (one.uid, one.request.id) == (uid, identifier))
        return next(same, None)

    def _listener(self, by: App, tracked: TrackedRequest | None) -> ModelLoadStatusListener | None:
        """That of the request, or any that the process has."""
        own = [event.listener for event in by.recorder.events if event.listener is not None]
        if tracked is None:
            return own[-1] if own else None
        listeners = [event.listener for event in tracked.events if event.listener is not None]
        return listeners[-1] if listeners and not tracked.dead else None

    def _work(self, app: App, reason: int) -> str:
        if reason == EndReason.COMPLETED:
            self._model.complete_work(app.uid)
        self._fixture.hal.works(app.uid, reason)
        return str(int(reason))

    def _die(self, number: int) -> str:
        uid = self._app(number).uid
        for tracked in self._model.live:
            tracked.dead = tracked.dead or tracked.uid == uid
        self._fixture.restart(number)
        return ""

    def _receive(self) -> None:
        for app in (*self._fixture.apps, *self._fixture.old):
            events, read = app.recorder.events, self._read.get(id(app), 0)
            for event in events[read:]:
                tracked = self._tracked(app.uid, event.request.id)
                if tracked is None or event.request != tracked.request:
                    what = f"NPU-LIF-003: uid {app.uid} got {event}, whose request it never made"
                    raise Found("wrong-status", what, "NPU-LIF-003")
                self._model.receive(tracked, event)
            self._read[id(app)] = len(events)

    def _table(self) -> list[Broken]:
        """What the HAL has is what the apps' importances are (NPU-PRI-002, -005, -006); pressure may weaken them."""
        found = [("NPU-PRI-005", each) for each in self._fixture.hal.wrong]
        for uid, importance in self._model.importance.items():
            config = self._fixture.hal.table.get(uid)
            priority = MAX_PRIORITY if config is None else config.priority  # NPU-HAL-007
            if priority != importance and not (self._model.pressed and config and priority > importance):
                found.append(("NPU-PRI-005", f"priority {priority} of uid {uid} at the HAL, importance {importance}"))
        return found

    def _drain(self) -> None:
        """Relieve the device, and let every app load what it is granted and unload it."""
        for uid in sorted(self._denied):
            self._step(Permit(APPS.index(uid), granted=True))
        for what, relief in (("heat", Heat()), ("shortage", Shortage())):
            if self._levels[what]:
                self._step(relief)
        model = self._model
        for _ in range(_ROUNDS * len(model.live) + 1):
            holders = [one for one in model.live if one.holds]
            for one in holders:
                number = APPS.index(one.uid)
                self._step((Unload if one.loaded else Load)(number, one.request.id))
            if not holders:
                break
        starved = [one.name for one in model.live if not model.gates or one.weight <= model.maximum]
        if starved:
            raise Found("wrong-status", f"NPU-POL-029: {', '.join(starved)}: never granted", "NPU-POL-029")
