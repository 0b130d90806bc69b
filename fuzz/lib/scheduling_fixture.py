"""A subject's scheduling HAL with some apps that work, a virtual clock, and callbacks that note what arrives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from npu_conformance.fuzz.lib.findings import Found, raised
from npu_conformance.fuzz.lib.scheduling_steps import APPS
from npu_conformance.fuzz.lib.scheduling_stream import Event, Notification
from npu_conformance.harness.judge.verdicts import CaseEnded, Failed, NotApplicable
from npu_conformance.harness.subject.handle import Application, SubjectHandle
from npu_conformance.specs.errors import IllegalArgument, InterfaceError, SecurityDenied, Unsupported
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import WorkInfo
from npu_conformance.specs.npu.workload import InferenceRun, SchedulingControl, Workload, WorkloadCallback

NS_PER_MS = 1_000_000
_FIRST_PID = 4000
_MOST_DEVICES = 16
_LONGEST_RUN_MS, _STEP_MS = 30_000, 10
Answer = Literal["done", "refused", "denied", "missing"]


class Recorder(SchedulingCallback):
    """One callback. events: what has arrived and was not taken yet."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.heard: list[tuple[Notification, WorkInfo]] = []

    def on_work_requested(self, work: WorkInfo) -> None:
        """Note a request."""
        self.heard.append((("requested", None), work))

    def on_work_started(self, work: WorkInfo, reason: int) -> None:
        """Note a start."""
        self.heard.append((("started", reason), work))

    def on_work_ended(self, work: WorkInfo, reason: int) -> None:
        """Note an end."""
        self.heard.append((("ended", reason), work))

    def take(self, now_ms: int) -> list[Event]:
        """What has arrived since the last time."""
        heard, self.heard = self.heard, []
        return [Event(self.number, notification, work, now_ms) for notification, work in heard]


class Answers(WorkloadCallback):
    """The end of one run, as its app hears of it."""

    def __init__(self, hear: Callable[[bool], None]) -> None:
        self._hear = hear

    def on_run_ended(self, succeeded: bool) -> None:
        """Note how it ended."""
        self._hear(succeeded)


@dataclass
class App:
    """A process of an app. hears: whether it has given the subject anything to call."""

    uid: int
    pid: int
    process: Application
    workload: Workload
    hears: bool = False


class SchedulingFixture:
    """The subject at work. now_ms: of the virtual clock, since the fixture began."""

    def __init__(self, subject: SubjectHandle) -> None:
        found = subject.interfaces
        if not subject.manifest.virtual_clock or found.scheduling_control is None:
            raise NotApplicable("histories need a virtual clock and scheduling_control, which moves it")
        if found.scheduling is None or found.workload is None:
            raise NotApplicable("histories need a scheduling HAL and a workload that uses it")
        self.scheduling: Scheduling = found.scheduling
        self.control: SchedulingControl = found.scheduling_control
        self.subject = subject
        self.now_ms = 0
        self._pids = _FIRST_PID
        self.apps: list[App] = []
        try:
            for uid in APPS:
                self.apps.append(self._started(uid))
            self.base_ms, self.run_ms = self._measure()
            self.devices = self._count_devices()
        except BaseException:
            self.close()
            raise

    def restart(self, number: int) -> None:
        """The process of an app dies, and another one starts."""
        self.apps[number].process.close()
        self.apps[number] = self._started(self.apps[number].uid)

    def run(self, app: App, run: InferenceRun, hear: Callable[[bool], None]) -> None:
        """Let an app run inferences. hear: is told how they end."""
        app.hears = True
        app.workload.run_test_inference(run, Answers(hear))

    def move(self, duration_ms: int) -> None:
        """Let time pass, and everything arrive that was sent in it."""
        answer = call("advanceClock", lambda: self.control.advance_clock(duration_ms * NS_PER_MS))
        if answer != "done":
            raise Failed(f"advanceClock of {duration_ms} ms: {answer}")
        self.now_ms += duration_ms
        for app in self.apps:
            if app.hears:
                app.process.catch_up()
        while self.subject.serve_pending():
            pass

    def close(self) -> None:
        """End the apps; a subject that is broken may refuse even that."""
        with suppress(InterfaceError, CaseEnded):
            self.scheduling.set_callback(None)
        for app in self.apps:
            with suppress(InterfaceError, CaseEnded):
                app.process.close()

    def _started(self, uid: int) -> App:
        self._pids += 1
        process = self.subject.application(uid, self._pids)
        if process.interfaces.workload is None:
            process.close()
            raise NotApplicable("apps cannot reach the workload")
        return App(uid, self._pids, process, process.interfaces.workload)

    def _measure(self) -> tuple[int, int]:
        """Time on the HAL's clock at our moment 0, and how long a run takes."""
        recorder, answers = Recorder(0), list[bool]()
        self.scheduling.set_scheduling_configs(())
        self.scheduling.set_callback(recorder)
        self.run(self.apps[0], InferenceRun(), answers.append)
        while not answers and self.now_ms < _LONGEST_RUN_MS:
            self.move(_STEP_MS)
        took = self.now_ms
        self.scheduling.set_callback(None)
        self.move(1000)
        if answers != [True] or not recorder.heard:
            raise Found("wrong-status", f"a first run: answered {answers}, events {recorder.heard}", "a first run")
        return recorder.heard[0][1].timestamp_ms, took

    def _count_devices(self) -> int:
        """How many devices there are: 0 and those behind it that take work (NPU-HAL-032)."""
        number = 0
        while number < _MOST_DEVICES:
            run = InferenceRun(device_number=number)
            answers: list[bool] = []
            if call("runTestInference", lambda: self.run(self.apps[0], run, answers.append)) != "done":  # noqa: B023
                break
            self.move(2 * self.run_ms)
            if answers != [True]:
                break
            number += 1
        return max(number, 1)


def call(
    what: str, made: Callable[[], object], refusals: tuple[type[InterfaceError], ...] = (IllegalArgument,)
) -> Answer:
    """Make a call; returns how it was answered. Failed where that is no answer of an npu interface.

    refusals: how it may be refused.
    """
    try:
        made()
    except CaseEnded:
        raise
    except refusals:
        return "refused"
    except SecurityDenied:
        return "denied"
    except Unsupported:
        return "missing"
    except Exception as error:
        raise raised(what, error, "which it does not have") from error
    return "done"
