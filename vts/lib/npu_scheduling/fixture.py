"""What cases of the scheduling HAL work with: the HAL and its configs, apps, the events that arrive, and the time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, SchedulingConfig
from npu_conformance.specs.npu.workload import SchedulingControl
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import PAUSED, STARTED, Event, Notification, Recorder
from npu_conformance.vts.lib.npu_scheduling.needed import needed
from npu_conformance.vts.lib.npu_scheduling.runs import INTO_WORK_MS, NoRoomBesideOthers, Run
from npu_conformance.vts.lib.npu_scheduling.waiting import Waiting

CAMERA, ASSISTANT, GALLERY = 10_201, 10_202, 10_203
"""Apps of the cases, by uid."""

_SURE_DEBOUNCE_MS = 10_000
"""No document names the longest debounce time of a registration: so much may be asked for."""
SLACK_MS = 100
"""How long after the debounce time an event may be on its way: what AOSP's tests wait after a run."""


_device: ContextVar[int | None] = ContextVar("device", default=None)
"""See on_device."""


@contextmanager
def on_device(number: int) -> Iterator[None]:
    """Let the work of the fixtures that are made meanwhile go to this device, where it names none itself."""
    token = _device.set(number)
    try:
        yield
    finally:
        _device.reset(token)


class SchedulingFixture(Waiting):
    """What a case has of the subject: the scheduling HAL, its apps, a recorder of notifications, and the time."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context, _device.get())
        tool = context.manifest.inference_tool
        self._fixed_uid = None if tool is None else tool.uid
        self._registered_callback: Recorder | None = None
        """The recorder that is registered, if one is."""
        self.scheduling = scheduling(context)

    @property
    def debounce_ms(self) -> int:
        """The debounce time of a registration that asks for none."""
        return self.context.manifest.constants.get("DEBOUNCE_DURATION_MS", DEBOUNCE_DURATION_MS)

    @property
    def camera(self) -> int:
        """The uid of the first app: the one that the inference tool has, where it has only one."""
        return self._uid(CAMERA) if self._fixed_uid is None else self._fixed_uid

    @property
    def assistant(self) -> int:
        """The uid of another app. NotApplicable where there is none."""
        return self._another(ASSISTANT)

    @property
    def gallery(self) -> int:
        """The uid of a third app. NotApplicable where there is none."""
        return self._another(GALLERY)

    def app(self, uid: int, pid: int = 0) -> App:
        """Connect as an app. NotApplicable where the subject cannot act as it."""
        return App(self, uid, pid)

    def let_begin(self, app: App, run: Run | ToolRun, seen: int) -> None:
        """Let time pass until the first run of a burst has begun, or is over: how soon it begins is free.

        seen: how many events of the app came before it.
        """
        self.pass_ms(0)
        self.wait(lambda: STARTED in app.received()[seen:] or run.succeeded is not None, "start", step_ms=1)

    def with_room(self, runs: Sequence[Run | ToolRun], within_ms: int = INTO_WORK_MS) -> list[Run | ToolRun]:
        """Those of several runs that were not refused for want of room, soon after the call at the latest.

        NotApplicable where that leaves fewer than two.
        """
        self.pass_ms(within_ms)
        taken = [run for run in runs if run.succeeded is not False]
        if len(taken) < 2:
            raise NoRoomBesideOthers("the HAL has no room for two works at once")
        return taken

    def strong_and_weak(self, debounce_ms: int | None = None) -> tuple[App, App]:
        """Two apps of which the first interrupts the work of the second, and the recorder, which sees both."""
        self.configure(config(self.camera, 100), config(self.assistant, 1000))
        self.register_recorder(debounce_ms)
        return self.app(self.camera), self.app(self.assistant)

    def _is_quiet(self) -> bool:
        """True where the last event of every uid is an end for good."""
        last = {event.work.uid: event.notification for event in self.events(self._registered_callback)}
        return all(one[0] == "ended" and one != PAUSED for one in last.values())

    def _another(self, uid: int) -> int:
        if self._fixed_uid is not None:
            raise NotApplicable("the inference tool always runs as one uid")
        return self._uid(uid)

    def _uid(self, uid: int) -> int:
        return uid if self.clock is not None else self.context.case_uid(uid)

    def events(self, recorder: Recorder | None = None) -> list[Event]:
        """What a recorder, by default the fixture's own, was notified of this case's work."""
        events = (recorder or self.recorder).events
        if self.clock is not None or self._fixed_uid is not None:
            return events
        own = {self._uid(uid) for uid in (CAMERA, ASSISTANT, GALLERY)}
        return [event for event in events if event.work.uid in own]

    def need_profile_of_page(self) -> None:
        """NotApplicable where AOSP's interface is all there is."""
        if self.context.manifest.npu_profile != "page":
            raise NotApplicable("the subject has AOSP's profile, see npu_profile of the manifest")

    def control(self) -> SchedulingControl:
        """What steers the subject, to end work. NotApplicable where there is nothing."""
        self.room.note_ends(self.now_ms)
        return self.context.present(self.context.subject.interfaces.scheduling_control, "scheduling_control")

    def configure(self, *configs: SchedulingConfig) -> None:
        """Set configs in place of all others."""
        self._note_denied(configs)
        checks.succeeds(lambda: self.scheduling.set_scheduling_configs(configs), "setSchedulingConfigs")

    def update(self, *configs: SchedulingConfig) -> None:
        """Add or replace configs."""
        self._note_denied(configs)
        checks.succeeds(lambda: self.scheduling.update_scheduling_configs(configs), "updateSchedulingConfigs")

    def _note_denied(self, configs: Sequence[SchedulingConfig]) -> None:
        """Configs may withdraw the right to work, or to work for others, which ends work that is under way."""
        if self.has_work_for_others or not all(one.has_direct_access for one in configs):
            self.room.note_ends(self.now_ms)

    def register_callback(self, callback: SchedulingCallback | None, debounce_ms: int | None = None) -> None:
        """Register a callback, with a debounce time where one is given."""
        given = () if debounce_ms is None else (debounce_ms,)
        checks.succeeds(lambda: self.scheduling.set_callback(callback, *given), "setCallback")
        self._registered_callback = callback if isinstance(callback, Recorder) else None

    def is_registered_with(self, callback: Recorder, debounce_ms: int) -> bool:
        """Register a callback; false where it is refused for its debounce time, as a very long one may be."""

        def is_taken() -> bool:
            try:
                self.scheduling.set_callback(callback, debounce_ms)
            except IllegalArgument:
                if debounce_ms <= _SURE_DEBOUNCE_MS:
                    raise
                return False
            return True

        if not checks.succeeds(is_taken, "setCallback"):
            return False
        self._registered_callback = callback
        return True

    def register_recorder(self, debounce_ms: int | None = None) -> None:
        """Register the recorder."""
        self.register_callback(self.recorder, debounce_ms)

    def unregister_callback(self) -> None:
        """Take any callback away; a HAL that has no setCallback yet can be asked all that needs none."""
        with suppress(NotSupported):
            self.scheduling.set_callback(None)

    def bridging_ms(self, app: App) -> int:
        """The shortest debounce time at which a run is one burst: its gaps are below the default one."""
        return min(self._longest_gap_ms(app) + 1, self.debounce_ms)

    def need_no_gaps(self, app: App) -> None:
        """NotApplicable where a run has gaps between its inferences: in them weaker work may have the NPU."""
        self.settle()
        if self.context.manifest.npu_profile == "page" and self._longest_gap_ms(app) > 0:
            raise NotApplicable("a run has gaps between its inferences, in which weaker work may have the NPU")

    def _longest_gap_ms(self, app: App) -> int:
        """Within a run, by events that are not debounced. No callback is registered afterwards."""
        recorder = Recorder()
        self.register_callback(recorder, 0)
        app.works()
        self.settle(0)
        self.register_callback(None)
        return max(gaps_ms(recorder.of(app.uid)), default=0)

    def settle(self, debounce_ms: int | None = None) -> None:
        """Wait until every run is over, and every event of it has arrived. NotApplicable where one had no room."""
        for run in self.runs:
            self.end_of(run)
        self.room.need()
        self.wait_late(self._is_quiet)
        self.pass_ms((self.debounce_ms if debounce_ms is None else debounce_ms) + SLACK_MS)

    def first_event(self, app: App, seen: int = 0) -> Event:
        """The next event of an app's work after so many of them. Failed where there never is one."""
        self.wait(lambda: len(app.events()) > seen, f"events of uid {app.uid}")
        return app.events()[seen]

    def expect(self, app: App, *expected: Notification) -> None:
        """Check all notifications of an app's work, in order."""
        self.expect_of(app.uid, *expected)

    def expect_of(self, uid: int, *expected: Notification) -> list[Event]:
        """The same of all work of a uid, also where no run of this fixture made it; returns the events."""
        self.wait_late(lambda: len(self.recorder.of(uid)) >= len(expected))
        events = self.recorder.of(uid)
        checks.equal([event.notification for event in events], list(expected), f"events of uid {uid}")
        return events

    def leave(self) -> None:
        """Leave nothing of the case in the subject. AOSP's tests wait as long as this when they end.

        A late notification would reach the next case's callback. Runs that were waited for in vain are left alone.
        """
        self.scheduling.set_scheduling_configs(())
        for run in self.runs:
            if run not in self.endless:
                self.end_of(run)
        if self._registered_callback is not None:
            self.wait_late(self._is_quiet)
        self.unregister_callback()
        if self.runs:
            self.pass_ms(10 * SLACK_MS if self.clock is not None else 2 * SLACK_MS)

    def kill_tools(self) -> None:
        """End tools that hang."""
        for run in self.runs:
            if isinstance(run, ToolRun):
                run.kill()


def gaps_ms(events: Sequence[Event]) -> list[int]:
    """How long after each end the next request came, of one uid that is not debounced."""
    return [
        after.work.timestamp_ms - before.work.timestamp_ms
        for before, after in itertools.pairwise(events)
        if before.event_type == "ended" and after.event_type == "requested"
    ]


@contextmanager
def scheduling_fixture(context: CaseContext) -> Iterator[SchedulingFixture]:
    """Begin without configs and callback, and end so, with all work done."""
    found = SchedulingFixture(context)
    found.configure()
    found.unregister_callback()
    try:
        yield found
    except Exception:
        with suppress(Exception):  # the case has failed by something better known than what tidying up runs into
            found.leave()
        raise
    else:
        found.leave()
    finally:
        found.kill_tools()


def scheduling(context: CaseContext) -> Scheduling:
    """The HAL; Failed where the manifest promises it and it is not there (NPU-ACC-006)."""
    return needed(context.present(context.subject.interfaces.scheduling, "scheduling"))


def config(uid: int, priority: int, *, direct: bool = True, attribute: bool = False) -> SchedulingConfig:
    """A config, with the rights of a uid that has none unless others are given."""
    return SchedulingConfig(uid, priority, direct, attribute)
