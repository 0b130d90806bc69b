"""Random scenarios in which one app works at a time: then every event is known beforehand, and its content.

What is between the works is drawn: pauses at the edges of the debounce time, calls that are rejected, configs of any
uid, callbacks that are replaced with another debounce time, and a second process of the uid.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.random_search import must
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import EndReason, SchedulingConfig
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.apps import App, asked
from npu_conformance.vts.lib.npu_scheduling.burst_steps import (
    BOUNDS,
    DURATIONS_MS,
    EARLY_ENDS,
    FEATURES,
    GROUPS,
    LISTENER,
    OWN_BOUNDS,
    PAUSES,
    PIDS,
    UIDS,
    WORKERS,
    Step,
)
from npu_conformance.vts.lib.npu_scheduling.bursts_due import Burst, Work, broken
from npu_conformance.vts.lib.npu_scheduling.events import Event, Recorder
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config
from npu_conformance.vts.lib.npu_scheduling.runs import Run
from npu_conformance.vts.lib.npu_scheduling.scenario import Devices, devices_of
from npu_conformance.vts.lib.npu_scheduling.submissions import Configs, check_told, differences, told

_LOOK_MS = 10
_NOT_DONE = (EndReason.FAILED, EndReason.CANCELLED_SYSTEM)
MARGIN_MS = 15
"""More than the time between two looks for the end of a run."""


@dataclass
class BurstScenario:
    """Apps of several kinds that take turns on the fixture's HAL. devices: those that an app can choose.

    shortest_ms: the shortest debounce time that is registered: with it a run is one burst.
    """

    npu: SchedulingFixture
    devices: Devices = ()
    steps: list[Step] = field(default_factory=list)
    shortest_ms: int | None = None

    def __post_init__(self) -> None:
        self.npu.need_virtual_clock()
        self._apps: dict[tuple[int, int], App] = {}
        self._configs = Configs()
        self._bursts: dict[int, list[Burst]] = {}
        self._events: list[Event] = []
        self._recorder = Recorder()
        self._read = 0
        self._newest = self.npu.debounce_ms
        """The debounce time of the newest registration."""
        self._shortest_ms = 0
        """How long the shortest run has taken; 0 before the first."""
        self._is_vague = False
        """Whether the newest run has ended long before that was looked for."""
        self._replaced: list[tuple[Recorder, int]] = []
        """Callbacks that were replaced, and how many events they had by then."""
        self._is_page = self.npu.context.manifest.npu_profile == "page"
        self.devices = self.devices or devices_of(self._app(0, 0))
        self.npu.settle()
        if self.shortest_ms is None:
            self.shortest_ms = self.npu.bridging_ms(self._app(0, 0)) if self._is_page else 0
        self._register(self._recorder, None)

    def run(self, step: Step) -> None:
        """Let it happen, and judge all events so far."""
        self.steps.append(step)
        self._must(lambda: BURST_DEEDS[step.do](self, step))
        self._must(self._judge)

    def judge(self) -> None:
        """Let every burst end, and judge all events."""
        self._must(self._close_all)
        self._must(self._judge)

    def _must(self, check: Callable[[], object]) -> None:
        """Name the steps with what a check says."""
        must(check, self.steps)

    def _judge(self) -> None:
        self._receive()
        for recorder, by_then in self._replaced:
            with checks.about("NPU-HAL-017"):
                checks.equal(len(recorder.events), by_then, "number of events at a callback that was replaced")
        for uid, bursts in self._bursts.items():
            own = [event for event in self._events if event.work.uid == uid]
            due = [one for burst in bursts for one in burst.due()]
            found = [event.notification for event in own]
            with checks.about(*broken(found, due)):
                checks.equal(found, due, f"events of uid {uid}")
            for burst, its_events in zip(bursts, observation.split(own), strict=False):
                self._judge_burst(burst, its_events)
        strangers = {event.work.uid for event in self._events} - {*self._bursts}
        with checks.about("NPU-HAL-015"):
            checks.equal(strangers, set(), "uids with events that have not worked")
        observation.check_times(self._events)
        observation.check_ids(self._events)

    def _judge_burst(self, burst: Burst, events: list[Event]) -> None:
        works = (burst.works[0], burst.works[0], burst.works[-1])
        for event, work in zip(events, works, strict=False):
            check_told(event, differences(event.work, work.run, work.app.uid, work.pid, work.effective), work.run)
        if burst.is_over and not self._is_vague:
            took = events[-1].work.timestamp_ms - events[0].work.timestamp_ms
            most = burst.works[-1].ended_ms - burst.works[0].started_ms
            is_right = most - _LOOK_MS - 1 <= took <= most + 1
            with checks.about("NPU-HAL-024"):
                checks.that(is_right, f"time between a request and the end of the burst: {took} ms, expected {most}")

    def _receive(self) -> None:
        new = self._recorder.events[self._read :]
        self._read += len(new)
        self._events += new

    def _app(self, index: int, process: int) -> App:
        if (index, process) not in self._apps:
            self._apps[index, process] = self.npu.app(UIDS[index], PIDS[process])
        return self._apps[index, process]

    def _run(self, step: Step) -> None:
        app, pid = self._app(step.app, step.process), PIDS[step.process]
        run = self._drawn_run(step)
        if not self._configs.may_work(app.uid, step.original):
            self._is_rejected(app, run)
            return
        self._let_ends_come()
        begun, self._is_vague = self.npu.passed_ms, False
        seen = len(app.received())
        result = app.start(run)
        if step.early and self._is_first(app):
            self.npu.let_begin(app, result, seen)
        effective = self._configs.priorities(app.uid, run)
        self._meanwhile(step, result)
        reason = self._ended(app, result, step)
        if bool(result.succeeded) != (reason == EndReason.COMPLETED):
            expected = "success" if reason == EndReason.COMPLETED else "no success, as it was ended early"
            checks.fail(f"{told(run)} of uid {app.uid}", expected, result.ending)
        effective |= self._configs.priorities(app.uid, run)
        self._note(Work(app, pid, run, effective, reason, begun, self.npu.passed_ms))
        if self._is_vague:
            self._close_all()
        self._let_ends_come()

    def _note(self, work: Work) -> None:
        bursts = self._bursts.setdefault(work.app.uid, [])
        if self._is_first(work.app):
            bursts.append(Burst([], []))
        bursts[-1].works.append(work)
        bursts[-1].durations = [self._newest]

    def _drawn_run(self, step: Step) -> InferenceRun:
        device = self.devices[step.device % len(self.devices)]
        if device is None:
            return InferenceRun(step.number, step.original)
        return InferenceRun(step.number, step.original, device, GROUPS[step.group], FEATURES[step.feature])

    def _ended(self, app: App, result: Run | ToolRun, step: Step) -> int:
        """Let a run end, or end it early in it or late; returns why."""
        if early := step.early:
            is_late = step.place % 2 == 1 and not step.meanwhile
            self.npu.pass_ms(max(MARGIN_MS, self._shortest_ms - 2 * MARGIN_MS) if is_late else MARGIN_MS)
            if result.succeeded is None:
                (app.cancel, partial(self._by_system, app.uid), partial(self._by_failure, app.uid))[early - 1]()
                self.npu.end_of(result, _LOOK_MS)
                return EARLY_ENDS[early]
            self._is_vague = is_late
        self._run_out(result)
        return EndReason.COMPLETED

    def _is_first(self, app: App) -> bool:
        """True where work of an app begins a burst."""
        bursts = self._bursts.get(app.uid)
        return not bursts or bursts[-1].is_over

    def _meanwhile(self, step: Step, result: Run | ToolRun) -> None:
        """Something happens that ends nothing: it concerns another uid, a callback, or priorities alone."""
        if not step.meanwhile:
            return
        self.npu.pass_ms(MARGIN_MS)
        other = self._app((step.app + 1 + step.place % (WORKERS - 1)) % WORKERS, step.process)
        uid = UIDS[step.app] if step.meanwhile == 1 else other.uid
        deeds: tuple[Callable[[], None], ...] = (
            lambda: self._prefer(uid, step.number),
            lambda: self._prefer(uid, step.number),
            self._replace_callback,
            other.cancel,
            lambda: self._by_system(other.uid),
            lambda: self._by_failure(other.uid),
        )
        if result.succeeded is None:
            deeds[step.meanwhile - 1]()

    def _prefer(self, uid: int, priority: int) -> None:
        """A uid gets another priority, and keeps its rights."""
        self._configs[uid] = msgspec.structs.replace(self._configs.of(uid), priority=priority)
        self.npu.update(self._configs[uid])

    def _replace_callback(self) -> None:
        self._receive()
        self._replaced.append((self._recorder, len(self._recorder.events)))
        self._register(Recorder(), self._newest if self._is_page else None)

    def _run_out(self, result: Run | ToolRun) -> None:
        """Let a run end: runs take about as long each time, so it is looked for behind most of that."""
        begun = self.npu.passed_ms
        if self._shortest_ms and result.succeeded is None:
            self.npu.pass_ms(self._shortest_ms * 9 // 10)
            self._is_vague = self._is_vague or result.succeeded is not None
        self.npu.end_of(result, _LOOK_MS)
        if result.succeeded:
            self._shortest_ms = min(self._shortest_ms or self.npu.passed_ms, self.npu.passed_ms - begun)

    def _by_system(self, uid: int) -> None:
        asked(lambda: self.npu.control().cancel_work(uid), "cancelWork")

    def _by_failure(self, uid: int) -> None:
        asked(lambda: self.npu.control().fail_work(uid), "failWork")

    @checks.about("NPU-HAL-011", "NPU-HAL-012")
    def _is_rejected(self, app: App, run: InferenceRun) -> None:
        """Work that is refused has no events, or those of work that fails or is cancelled; nobody else has any."""
        self._close_all()
        self._receive()
        seen = len(self._events)
        checks.that(not app.ends(run, _LOOK_MS), f"{told(run)} of uid {app.uid}: expected a rejection, found success")
        self.npu.pass_ms(self._newest + 2 * MARGIN_MS)
        self._receive()
        new = self._events[seen:]
        if any(one.reason in _NOT_DONE for one in new if one.event_type == "ended" and one.work.uid == app.uid):
            self._events[seen:] = [one for one in new if one.work.uid != app.uid]

    def _open(self) -> list[Burst]:
        return [burst for bursts in self._bursts.values() for burst in bursts if not burst.is_over]

    def _waited(self, burst: Burst) -> int:
        return self.npu.passed_ms - burst.works[-1].ended_ms

    def _let_ends_come(self) -> None:
        """Pass what is left of a debounce time of which it is not sure whether it has passed; note what is over."""
        for burst in self._open():
            over = max(burst.durations) + MARGIN_MS
            if self._waited(burst) > min(burst.durations) - MARGIN_MS:
                if self._waited(burst) < over:
                    self.npu.pass_ms(over - self._waited(burst))
                    self._let_ends_come()
                burst.is_over = True

    def _close_all(self) -> None:
        for burst in self._open():
            self._pass(max(burst.durations) + MARGIN_MS - self._waited(burst))

    def _pass(self, duration_ms: int) -> None:
        """Let time pass, in which ends become due."""
        if duration_ms > 0:
            self.npu.pass_ms(duration_ms)
        self._let_ends_come()

    def _nowhere(self, step: Step) -> None:
        """A device that does not exist does no work (NPU-HAL-032)."""
        if self.devices != (None,):
            self._close_all()
            app = self._app(step.app, step.process)
            app.is_rejected(InferenceRun(device_number=(-1, -2, 1000, 2**31 - 1)[step.number % 4]))

    def _pause(self, step: Step) -> None:
        waiting = self._open()
        burst = waiting[step.place % len(waiting)] if waiting else None
        least, most = (min(burst.durations), max(burst.durations)) if burst else (50, 50)
        waited = self._waited(burst) if burst else 0
        lengths = {
            "half": least // 2 - waited,
            "short": least - MARGIN_MS - 1 - waited,
            "over": most + MARGIN_MS - waited,
            "twice": 2 * most,
            "moment": 1,
        }
        self._pass(lengths[PAUSES[step.number]])

    def _config(self, step: Step) -> None:
        one = config(UIDS[step.app], step.number, direct=step.direct, attribute=step.attribute)
        other = config(UIDS[(step.app + 1 + step.place) % len(UIDS)], (step.number * 7 + 13) % 1001)
        given = (one, other) if step.again else (one,)
        self._configs = Configs() if step.replace else self._configs
        self._configs |= {each.uid: each for each in given}
        (self.npu.configure if step.replace else self.npu.update)(*given)

    def _empty(self, step: Step) -> None:
        if step.replace:
            self._configs = Configs()
        (self.npu.configure if step.replace else self.npu.update)()

    def _refuse(self, step: Step) -> None:
        """A call with a wrong config among good ones is rejected whole (NPU-HAL-004 to -006, -036)."""
        uids = [UIDS[(step.app + index) % len(UIDS)] for index in range(4)]
        given = [config(uid, 7 * index, direct=False, attribute=True) for index, uid in enumerate(uids)]
        wrong = [*BOUNDS, *(OWN_BOUNDS if self._is_page else ())]
        if step.number < len(wrong):
            priority, least, most = wrong[step.number]
            given[step.place % 4] = SchedulingConfig(uids[step.place % 4], priority, True, False, least, most)
        else:
            given[step.place % 4] = given[(step.place + 1 + step.number % 3) % 4]
        scheduling = self.npu.scheduling
        call = scheduling.set_scheduling_configs if step.replace else scheduling.update_scheduling_configs
        own = ("NPU-HAL-036",) if step.number >= len(BOUNDS) else ("NPU-HAL-004", "NPU-HAL-006")
        with checks.about(*(own if step.number < len(wrong) else ("NPU-HAL-005",))):
            checks.raises(lambda: call(tuple(given)), IllegalArgument, f"configs {given}")

    def _register_step(self, step: Step) -> None:
        duration = None if not self._is_page or step.number < 0 else step.number
        self.npu.pass_ms(0)
        self._receive()
        if step.replace and self._is_page:
            self._try_negative()
            if step.place % 2:  # what was there before stays
                return
        if step.again:
            self._register(self._recorder, duration)
            return
        old, told = self._recorder, len(self._recorder.events)
        if step.early:
            self.npu.register_callback(None)
        self._register(Recorder(), duration)
        self._replaced.append((old, told))

    def _try_negative(self) -> None:
        """A registration that is rejected changes nothing; one that is taken is replaced at once."""
        with suppress(IllegalArgument):
            self.npu.scheduling.set_callback(Recorder(), -1)

    def _register(self, recorder: Recorder, duration_ms: int | None) -> None:
        if recorder is not self._recorder:
            self._recorder, self._read = recorder, 0
        duration_ms = None if duration_ms is None else max(duration_ms, self.shortest_ms or 0)
        self.npu.recorder = recorder
        if duration_ms is None or not self.npu.is_registered_with(recorder, duration_ms):
            duration_ms = None
            self.npu.register_callback(recorder)
        self._newest = self.npu.debounce_ms if duration_ms is None else duration_ms
        for burst in self._open():
            burst.durations.append(self._newest)

    def _remove(self, step: Step) -> None:
        """Nobody is told of what is worked while there is no callback (NPU-HAL-016, -018)."""
        self._close_all()
        self._receive()
        old, told = self._recorder, len(self._recorder.events)
        self._leave(dies=step.replace)
        app = self._app(step.app, step.process)
        may_work = self._configs.may_work(app.uid, OWN_WORK)
        result = app.start(InferenceRun(step.number))
        if self.npu.end_of(result, 10 * _LOOK_MS) != may_work:
            checks.fail(f"inferences of uid {app.uid}", "success" if may_work else "a rejection", result.ending)
        self.npu.pass_ms(max(self._newest, self.npu.debounce_ms) + 2 * MARGIN_MS)
        self._replaced.append((old, told))
        duration = DURATIONS_MS[step.number % len(DURATIONS_MS)] if self._is_page else -1
        self._register(Recorder(), None if duration < 0 else duration)

    def _leave(self, *, dies: bool) -> None:
        """Nobody is told any more: the callback is removed, or one takes its place whose process dies."""
        if dies:
            with suppress(NotApplicable):
                listener = self.npu.context.application(*LISTENER)
                self.npu.context.present(listener.interfaces.scheduling, "scheduling").set_callback(Recorder())
                listener.close()
                return
        self.npu.register_callback(None)


BURST_DEEDS: dict[str, Callable[[BurstScenario, Step], None]] = {
    "run": BurstScenario._run,
    "pause": BurstScenario._pause,
    "config": BurstScenario._config,
    "empty": BurstScenario._empty,
    "refuse": BurstScenario._refuse,
    "register": BurstScenario._register_step,
    "remove": BurstScenario._remove,
    "nowhere": BurstScenario._nowhere,
}
