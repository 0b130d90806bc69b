"""Whose work has the NPU, under a promise to interrupt weaker work: nobody stronger waits, nobody is paused in vain.

What is known of each run is its device, its effective priority, and when it ended. The strongest run of a device has to
be over when it has had the device for as long as a run takes beside weaker ones. Equals may come in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.random_search import fail, must
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.specs.npu.types import MAX_PRIORITY
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling import observation
from npu_conformance.vts.lib.npu_scheduling.apps import App, asked
from npu_conformance.vts.lib.npu_scheduling.events import COMPLETED, PAUSED, REQUESTED, STARTED, last_of, time_of
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, gaps_ms
from npu_conformance.vts.lib.npu_scheduling.runs import Run
from npu_conformance.vts.lib.npu_scheduling.scenario import UIDS_OF_A_USER, Devices, devices_of

OWN = -1
_LOOK_MS = 10
_MOST_RUNS = 6
"""That are under way at once."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens. number: a priority, a job priority, or milliseconds. device: its place in the list.

    original: the app for which a run is; OWN for the one that runs it.
    """

    do: str
    app: int = 0
    number: int = 0
    device: int = 0
    original: int = OWN

    def __str__(self) -> str:
        whose = "itself" if self.original == OWN else f"app {self.original}"
        return f"{self.do}: app {self.app} for {whose}, number {self.number}, device {self.device}"


class Timed(msgspec.Struct, eq=False):
    """A run that is under way. uids: that it may count as one of: its own, and that of the app for which it is.

    since: when it became the strongest of its device; None while it is not.
    """

    app: App
    device: int | None
    job: int
    uids: tuple[int, ...]
    result: Run | ToolRun
    since: int | None = None


class Order:
    """Apps, their runs, and the time. steps: what has been run so far."""

    def __init__(self, npu: SchedulingFixture, devices: Devices = ()) -> None:
        npu.need_profile_of_page()
        self.npu, self._promised_ms = npu, npu.promised_ms()
        self.steps: list[Step] = []
        uids = (npu.camera, npu.assistant, npu.gallery, npu.camera + UIDS_OF_A_USER)
        self.apps = [npu.app(uid) for uid in uids]
        self.devices = devices or devices_of(self.apps[0])
        self._runs: list[Timed] = []
        self._priorities: dict[int, int] = {}
        self._ended_early: set[int] = set()
        self._ranks: list[tuple[int, list[tuple[int, int | None, int, int]]]] = []
        """From when on, uids that were under way with device, and the strongest and weakest that they may have been."""
        self._busy: dict[int | None, tuple[int, int]] = {}
        """Since when a device has had work, and how many runs."""
        self._measure()

    def run(self, step: Step) -> None:
        """Let it happen."""
        self.steps.append(step)
        DEEDS[step.do](self, step)
        self._note()

    def judge(self) -> None:
        """Let everything end, and look at the pauses that were told."""
        for _ in range(len(self._runs) + 1):
            for _ in range(self._longest_ms // _LOOK_MS):
                if self._runs:
                    self._pass(_LOOK_MS)
        self.npu.settle()
        must(self._judge_events, self.steps)

    def _measure(self) -> None:
        """How long a run takes beside a weaker one; every event is told, since nothing is debounced.

        It waits for the NPU at its start, and behind each gap that it has.
        """
        self.npu.settle()
        self.npu.register_recorder(0)
        self.npu.configure(config(self.apps[0].uid, 0), config(self.apps[1].uid, MAX_PRIORITY))
        device = self.devices[0]
        weak = self.apps[1].start(InferenceRun(device_number=device))
        self.npu.pass_ms(_LOOK_MS)
        begun = self.npu.passed_ms
        strong = self.apps[0].start(InferenceRun(device_number=device))
        self.npu.end_of(strong, 1)
        took = self.npu.passed_ms - begun
        self.npu.end_of(weak)
        self.npu.settle()
        events = self.apps[0].events()
        self._alone_ms = last_of(events, COMPLETED).work.timestamp_ms - time_of(events, STARTED)
        self._waits_ms = self._promised_ms * (1 + sum(gap > 0 for gap in gaps_ms(events)))
        self._longest_ms = took + self._waits_ms + _LOOK_MS
        self._shift_ms = time_of(self.apps[0].events(), REQUESTED) - begun
        self.npu.configure()
        self._seen = len(self.npu.events())

    def _pass(self, duration_ms: int) -> None:
        """Let time pass, and look what has ended; the strongest run of a device must not take long."""
        for _ in range(0, duration_ms, _LOOK_MS):
            self.npu.pass_ms(min(_LOOK_MS, duration_ms))
            self._note()
            for run in self._runs:
                waited = 0 if run.since is None else self.npu.passed_ms - run.since
                if waited > self._longest_ms:
                    what = f"the strongest work of device {run.device}, of uid {run.app.uid}"
                    fail(f"{what}: expected its end within {self._longest_ms} ms, found none", self.steps)

    def _note(self) -> None:
        """Note what is under way, and which of it is the strongest of its device."""
        now, under_way = self.npu.passed_ms, [run for run in self._runs if run.result.succeeded is None]
        self._runs = under_way
        for run in under_way:
            rivals = [one for one in under_way if one is not run and one.device == run.device]
            if any(self._strongest(one) <= self._weakest(run) for one in rivals):
                run.since = None
            elif run.since is None:
                run.since = now
        ranks = [(run.app.uid, run.device, self._strongest(run), self._weakest(run)) for run in under_way]
        self._ranks.append((now, ranks))
        self._judge_work(now)

    def _judge_work(self, now: int) -> None:
        """Nothing is done twice: what is interrupted goes on where it stopped, however often it is ranked anew."""
        devices = {run.device for run in self._runs}
        self._busy = {device: busy for device, busy in self._busy.items() if device in devices}
        for device, (since, count) in self._busy.items():
            most = count * (self._alone_ms + self._waits_ms) + 2 * self._promised_ms + _LOOK_MS
            if now - since > most:
                what = f"{count} runs on device {device}, at which something was done all the time"
                fail(f"{what}: expected their end within {most} ms, found none", self.steps)

    def _strongest(self, run: Timed) -> int:
        return min(self._possible(run))

    def _weakest(self, run: Timed) -> int:
        return max(self._possible(run))

    def _possible(self, run: Timed) -> list[int]:
        """Its effective priorities: work for another uid counts as that uid's or as the submitter's."""
        return [self._priorities.get(uid, MAX_PRIORITY) + run.job for uid in run.uids]

    def _judge_events(self) -> None:
        events = self.npu.events()[self._seen :]
        observation.check_reasons(events)
        observation.check_order(events, self._ended_early)
        observation.check_times(events)
        for event in events:
            if event.notification == PAUSED:
                self._judge_pause(event.work.uid, event.work.device_number, event.work.timestamp_ms - self._shift_ms)

    def _judge_pause(self, uid: int, device: int, at_ms: int) -> None:
        """A pause is for stronger work, of the same device, within the time of a checkpoint before it."""
        begins = at_ms - self._promised_ms - _LOOK_MS
        recent = [ranks for now, ranks in self._ranks if begins <= now <= at_ms]
        before = [ranks for now, ranks in self._ranks if now < begins]
        for ranks in (*before[-1:], *recent):
            here = [one for one in ranks if one[1] in (None, device)]
            own = [weakest for other, _, _, weakest in here if other == uid]
            if own and min(strongest for _, _, strongest, _ in here) < max(own):
                return
        checks.that(False, f"uid {uid} was paused on device {device}, and no stronger work was there")

    def _begin(self, step: Step) -> None:
        if len(self._runs) >= _MOST_RUNS:
            return
        app, device = self.apps[step.app], self.devices[step.device % len(self.devices)]
        uids: tuple[int, ...] = (app.uid,)
        if step.original not in (OWN, step.app) and app.uid in self._priorities:
            uids = (app.uid, self.apps[step.original].uid)
        original = uids[-1] if len(uids) > 1 else OWN_WORK
        result = app.start(InferenceRun(step.number, original, device))
        self._runs.append(Timed(app, device, step.number, uids, result))
        since, count = self._busy.get(device, (self.npu.passed_ms, 0))
        self._busy[device] = since, count + 1

    def _update(self, step: Step) -> None:
        uid = self.apps[step.app].uid
        self._priorities[uid] = step.number
        self.npu.update(config(uid, step.number, attribute=True))

    def _set(self, step: Step) -> None:
        uid = self.apps[step.app].uid
        self._priorities = {uid: step.number}
        self.npu.configure(config(uid, step.number, attribute=True))

    def _swap(self, step: Step) -> None:
        """Two apps get each other's priority in one call."""
        uids = [self.apps[step.app].uid, self.apps[step.app - 1].uid]
        first, second = (self._priorities.get(uid, MAX_PRIORITY) for uid in uids)
        self._priorities |= dict(zip(uids, (second, first), strict=True))
        self.npu.update(*(config(uid, self._priorities[uid], attribute=True) for uid in uids))

    def _level(self, step: Step) -> None:
        """An app gets the priority of another one: where both have jobs of one priority, they become equals."""
        uid, other = self.apps[step.app].uid, self.apps[step.app - 1].uid
        self._priorities[uid] = self._priorities.get(other, MAX_PRIORITY)
        self.npu.update(config(uid, self._priorities[uid], attribute=True))

    def _cancel(self, step: Step) -> None:
        self._ended_early.add(self.apps[step.app].uid)
        self.apps[step.app].cancel()

    def _system(self, step: Step) -> None:
        self._ended_early.add(self.apps[step.app].uid)
        asked(lambda: self.npu.control().cancel_work(self.apps[step.app].uid), "cancelWork")

    def _wait(self, step: Step) -> None:
        self._pass(step.number)


DEEDS: dict[str, Callable[[Order, Step], None]] = {
    "run": Order._begin,
    "update": Order._update,
    "set": Order._set,
    "swap": Order._swap,
    "level": Order._level,
    "cancel": Order._cancel,
    "system": Order._system,
    "pass": Order._wait,
}


def replay(npu: SchedulingFixture, steps: Sequence[Step]) -> None:
    """Run listed steps."""
    order = Order(npu)
    for step in steps:
        order.run(step)
    order.judge()
