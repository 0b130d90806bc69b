"""Steps of apps, configs and time on a scheduling HAL, and what holds of all its events whatever happens.

No decision is predicted: which work goes first, whether it is paused, and from when on a config counts is the
implementation's choice. What an event says has to be what was submitted, every work has to end, and nothing may be
left behind that hinders the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.random_search import fail, must
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.npu.types import MAX_PRIORITY, MIN_PRIORITY, EndReason, SchedulingConfig, Uuid
from npu_conformance.specs.npu.workload import DEFAULT_JOB_PRIORITY, OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.apps import App, asked
from npu_conformance.vts.lib.npu_scheduling.events import PAUSED, UNDISTURBED, Event, Notification
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config
from npu_conformance.vts.lib.npu_scheduling.runs import Run
from npu_conformance.vts.lib.npu_scheduling.submissions import Configs, check_told, differences, told

UIDS_OF_A_USER = 100_000
_FIRST_PID = 7001
_MOST_DEVICES = 4
_LOOK_MS = 100
"""How often to look for the end of a run: times are judged by what events say, not by when they were looked for."""
_GROUP = Uuid(bytes(range(16)))
_FEATURES = ("gallery.search", "a" * 200, "búsqueda/搜索", "1")
"""Names of features, of which a run has the next one."""
_ENDS = {"cancel": EndReason.CANCELLED_USER, "system": EndReason.CANCELLED_SYSTEM, "fail": EndReason.FAILED}


Devices = tuple[int | None, ...]
"""Numbers of devices; (None,) where an app has no choice."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens. app: its place in the list; number: milliseconds, a priority, or a job priority.

    original: of the work, a uid or OWN_WORK. labelled: the work names a group and a feature.
    direct, attribute: rights of a config. spread: how far its own bounds lie around its priority; -1 for none.
    """

    do: str
    app: int = 0
    number: int = 0
    original: int = OWN_WORK
    device: int = 0
    labelled: bool = False
    direct: bool = True
    attribute: bool = False
    spread: int = -1

    def __str__(self) -> str:
        return _TEXTS[self.do].format(self=self)


_TEXTS = {
    "run": "app {self.app} begins inferences: job priority {self.number}, original uid {self.original}, "
    "device {self.device}, with group and feature: {self.labelled}",
    "pass": "{self.number} ms pass",
    "cancel": "app {self.app} cancels its inferences",
    "system": "the system cancels the work of app {self.app}",
    "fail": "the hardware fails under the work of app {self.app}",
    "update": "app {self.app} gets priority {self.number}, direct access {self.direct}, attribution {self.attribute}",
    "set": "the same, and all other configs are dropped: app {self.app} gets priority {self.number}",
    "clear": "all configs are dropped",
}


@dataclass(eq=False)
class Submitted:
    """A run and what may become of it. effective: the priorities that its works may have.

    may_work: it had the right when it was submitted. disturbed: something has ended it, or it has lost its rights,
    which is_withdrawn tells. ended_ms: when it was to end. has_gone_on: long after that it still went on.
    """

    app: App
    pid: int
    run: InferenceRun
    may_work: bool
    result: Run | ToolRun
    effective: set[int] = field(default_factory=set)
    disturbed: bool = False
    is_withdrawn: bool = False
    ended_ms: int | None = None
    has_gone_on: bool = False


class WorkScenario:
    """Apps of two users on the fixture's HAL. steps: what has been run so far; runs: what was submitted.

    devices: those that an app can choose, where an earlier scenario has found them.
    """

    def __init__(self, npu: SchedulingFixture, devices: Devices = ()) -> None:
        npu.need_virtual_clock()
        self.npu = npu
        self.steps: list[Step] = []
        self.runs: list[Submitted] = []
        self._configs = Configs()
        self._reasons: dict[int, set[int]] = {}
        uids = (npu.camera, npu.assistant, npu.camera + UIDS_OF_A_USER)
        self.apps = [npu.app(uid, _FIRST_PID + index) for index, uid in enumerate(uids)]
        self.devices = devices or devices_of(self.apps[0])
        npu.settle()
        npu.register_recorder()

    def run(self, step: Step) -> None:
        """Let it happen."""
        self.steps.append(step)
        DEEDS[step.do](self, step)

    def judge(self) -> None:
        """Let everything end, and judge each event and each run; then every app finds every device free."""
        self.npu.pass_ms(_LOOK_MS)
        self._note_who_goes_on()
        for run in self.runs:
            self._must(partial(self.npu.end_of, run.result, _LOOK_MS))
        self._must(self.npu.settle)
        self._must(self._judge_events)
        for run in self.runs:
            self._judge_end(run)
        self._must(self._judge_last_ends)
        self._must(self._judge_what_is_left)

    def _must(self, check: Callable[[], object]) -> None:
        """Name the steps with what a check says."""
        must(check, self.steps)

    def _fail(self, problem: str) -> None:
        fail(problem, self.steps)

    def _judge_events(self) -> None:
        events = self.npu.events()
        observation.check_reasons(events)
        observation.check_order(events, self._reasons)
        observation.check_times(events)
        observation.check_gaps(events, self.npu.debounce_ms)
        observation.check_fields(events)
        observation.check_starts(events)
        for event in events:
            self._judge_described(event)
        for event in _final_ends(events):
            self._judge_reason(event)

    def _judge_described(self, event: Event) -> None:
        """An event is about work that was submitted: the failure is about the work that is most like it."""
        with checks.about("NPU-HAL-015"):
            checks.that(bool(self.runs), f"event {event.event_type} of uid {event.work.uid}: no work was submitted")
        wrong, run = min(
            ((differences(event.work, one.run, one.app.uid, one.pid, one.effective), one.run) for one in self.runs),
            key=lambda each: len(each[0]),
        )
        check_told(event, wrong, run)

    @checks.about("NPU-HAL-030")
    def _judge_reason(self, event: Event) -> None:
        """Each end has a reason that there was (NPU-HAL-030); work without the right to it may fail.

        Or it is cancelled by the system, whose policy the configs are.
        """
        own = [run for run in self.runs if run.app.uid == event.work.uid]
        allowed = {EndReason.COMPLETED, *self._reasons.get(event.work.uid, ())}
        if not all(run.may_work for run in own) or any(run.disturbed for run in own):
            allowed.add(EndReason.FAILED)
        if not all(run.may_work and not run.is_withdrawn for run in own):
            allowed.add(EndReason.CANCELLED_SYSTEM)
        checks.member(event.reason, sorted(allowed), f"reason of the end of uid {event.work.uid}")

    def _judge_end(self, run: Submitted) -> None:
        if not run.may_work and run.result.succeeded:
            with checks.about("NPU-HAL-011", "NPU-HAL-012"):
                self._fail(f"{told(run.run)} of uid {run.app.uid}: expected a rejection, found success")
        if run.has_gone_on and run.result.succeeded:
            with checks.about("NPU-HAL-030"):
                self._fail(
                    f"{told(run.run)} of uid {run.app.uid}, which was to end early: expected no success, found success"
                )
        if run.may_work and not run.disturbed:
            if not run.result.succeeded:
                self._fail(f"{told(run.run)} of uid {run.app.uid}: expected success, found {run.result.ending}")
            if not run.app.events():
                with checks.about("NPU-HAL-019"):
                    self._fail(f"uid {run.app.uid} has worked, and nothing was notified")

    def _judge_last_ends(self) -> None:
        """All work is over, and so every burst that was notified has its end.

        One that a uid has when it works alone was lost by what others did meanwhile (NPU-HAL-026).
        """
        for app in self.apps:
            last = app.received()[-1:]
            if not last or _is_final(last[0]):
                continue
            self.npu.configure()
            is_told_alone = self._alone(app, self.devices[0], times=2) == list(UNDISTURBED)
            alone = "; work of the uid alone has all its events" if is_told_alone else ""
            with checks.about("NPU-HAL-026" if is_told_alone else "NPU-HAL-024", "NPU-HAL-019"):
                checks.that(
                    False, f"uid {app.uid}: expected the end of its work, found {last[0]} as its last event{alone}"
                )

    def _alone(self, app: App, device: int | None, times: int = 1) -> list[Notification]:
        """What is notified of an app that works alone, the last of several times."""
        seen = 0
        for _ in range(times):
            seen = len(app.events())
            app.works(InferenceRun(device_number=device), _LOOK_MS)
            self.npu.settle()
        return app.received()[seen:]

    @checks.about("NPU-HAL-019")
    def _judge_what_is_left(self) -> None:
        self.npu.configure()
        for app in self.apps:
            for device in self.devices:
                what = f"events of uid {app.uid}, alone on device {device} at last"
                checks.equal(self._alone(app, device), list(UNDISTURBED), what)

    def _run(self, step: Step) -> None:
        app, pid = self.apps[step.app], _FIRST_PID + step.app
        feature = _FEATURES[len(self.runs) % len(_FEATURES)]
        labels = (_GROUP, feature) if step.labelled and self.devices != (None,) else (None, None)
        run = InferenceRun(step.number, step.original, self.devices[step.device % len(self.devices)], *labels)
        may_work = self._configs.may_work(app.uid, step.original)
        self.runs.append(Submitted(app, pid, run, may_work, app.start(run) if may_work else app.attempt(run)))
        self._note_priorities()

    def _pass(self, step: Step) -> None:
        self.npu.pass_ms(step.number)
        self._note_who_goes_on()

    def _note_who_goes_on(self) -> None:
        """Who is ended shortly before its end may succeed all the same, who has more left may not (NPU-HAL-030)."""
        for run in self._unfinished():
            if run.ended_ms is not None and self.npu.passed_ms - run.ended_ms >= _LOOK_MS:
                run.has_gone_on = True

    def _cancel(self, step: Step) -> None:
        self._end(step)
        self.apps[step.app].cancel()

    def _system(self, step: Step) -> None:
        self._end(step)
        asked(lambda: self.npu.control().cancel_work(self.apps[step.app].uid), "cancelWork")

    def _break(self, step: Step) -> None:
        self._end(step)
        asked(lambda: self.npu.control().fail_work(self.apps[step.app].uid), "failWork")

    def _update(self, step: Step) -> None:
        one = self._config(step)
        self._configs[one.uid] = one
        self.npu.update(one)
        self._change_rights()

    def _set(self, step: Step) -> None:
        one = self._config(step)
        self._configs = Configs({one.uid: one})
        self.npu.configure(one)
        self._change_rights()

    def _clear(self, step: Step) -> None:
        self._configs = Configs()
        self.npu.configure()
        self._change_rights()

    def _config(self, step: Step) -> SchedulingConfig:
        one = config(self.apps[step.app].uid, step.number, direct=step.direct, attribute=step.attribute)
        if step.spread < 0 or self.npu.context.manifest.npu_profile != "page":
            return one
        least, most = max(MIN_PRIORITY, step.number - step.spread), min(MAX_PRIORITY, step.number + step.spread)
        return msgspec.structs.replace(one, min_priority=least, max_priority=most)

    def _end(self, step: Step) -> None:
        uid = self.apps[step.app].uid
        self._reasons.setdefault(uid, set()).add(_ENDS[step.do])
        for run in self.runs:
            if run.app.uid == uid and run.result.succeeded is None:
                run.disturbed = True
                run.ended_ms = self.npu.passed_ms if run.ended_ms is None else run.ended_ms

    def _change_rights(self) -> None:
        """A run that goes on may lose what it began with, or keep it."""
        for run in self._unfinished():
            if not self._configs.may_work(run.app.uid, run.run.original_uid):
                run.disturbed = run.is_withdrawn = True
        self._note_priorities()

    def _note_priorities(self) -> None:
        """Add what a work of each unfinished run may have from now on: a config may count at once, or from the next."""
        for run in self._unfinished():
            run.effective |= self._configs.priorities(run.app.uid, run.run)

    def _unfinished(self) -> Iterator[Submitted]:
        return (run for run in self.runs if run.result.succeeded is None)


DEEDS: dict[str, Callable[[WorkScenario, Step], None]] = {
    "run": WorkScenario._run,
    "pass": WorkScenario._pass,
    "cancel": WorkScenario._cancel,
    "system": WorkScenario._system,
    "fail": WorkScenario._break,
    "update": WorkScenario._update,
    "set": WorkScenario._set,
    "clear": WorkScenario._clear,
}


def _final_ends(events: Sequence[Event]) -> Iterator[Event]:
    return (event for event in events if _is_final(event.notification))


def _is_final(one: Notification) -> bool:
    return one.event_type == "ended" and one != PAUSED


def devices_of(app: App) -> Devices:
    """The devices that an app can choose."""
    found: list[int] = []
    try:
        for number in range(_MOST_DEVICES):
            if not app.ends(InferenceRun(DEFAULT_JOB_PRIORITY, OWN_WORK, number, _GROUP, _FEATURES[0]), _LOOK_MS):
                break
            found.append(number)
    except NotApplicable:
        return (None,)
    return tuple(found) or (None,)
