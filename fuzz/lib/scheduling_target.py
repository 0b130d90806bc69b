"""The target whose inputs are histories of a scheduling HAL: several apps, their configs, callbacks, and the time.

After each history everything comes to its end, and every app works once more, undisturbed: what an earlier step has
broken shows then at the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import asdict

from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.histories import HistoryTarget, Traces
from npu_conformance.fuzz.lib.scheduling_fixture import Answer, App, Recorder, SchedulingFixture, call
from npu_conformance.fuzz.lib.scheduling_judge import NOBODY, SchedulingJudge, config_problems
from npu_conformance.fuzz.lib.scheduling_steps import (
    APPS,
    NAMES,
    RECORDERS,
    SEEDS,
    Break,
    Cancel,
    Configure,
    Die,
    Pass,
    Register,
    Step,
    Submit,
    Take,
    histories,
    is_sendable,
)
from npu_conformance.fuzz.lib.scheduling_work import Work
from npu_conformance.harness.judge.verdicts import Crashed, Hung
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import IllegalArgument, IllegalState
from npu_conformance.specs.npu.types import DEBOUNCE_DURATION_MS, EndReason, SchedulingConfig, Uuid
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun

SLACK_MS = 100
_CHUNK_MS, _MOST_CHUNKS = 10, 10
"""While work goes on time passes in steps as small, or so many, so that ends are known as well."""
_PROBE = 2
"""The recorder that sees the work behind a history."""


class SchedulingTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "scheduling"

    def __init__(self, subject: SubjectHandle) -> None:
        super().__init__(subject, histories, SEEDS)
        self._fixture: SchedulingFixture | None = None

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        try:
            self._fixture = self._fixture or SchedulingFixture(self._subject)
            return _Play(self._fixture).run(steps)
        except (Crashed, Hung):
            self._fixture = None
            raise

    def forget(self) -> None:
        """Forget the fixture."""
        self._fixture = None

    def _renew(self) -> None:
        if self._fixture is not None:
            self._fixture.close()
        super()._renew()


class _Play:
    """One history on a fixture."""

    def __init__(self, fixture: SchedulingFixture) -> None:
        manifest = fixture.subject.manifest
        self._fixture = fixture
        self._has_bounds = manifest.npu_profile == "page"
        own = frozenset((OWN_WORK,)) if manifest.npu_profile == "cuttlefish" else frozenset[int]()
        debounce_ms = manifest.constants.get("DEBOUNCE_DURATION_MS", DEBOUNCE_DURATION_MS)
        self._judge = SchedulingJudge(fixture.devices, fixture.base_ms, debounce_ms, own)
        self._judge.now_ms = fixture.now_ms
        self._recorders = [Recorder(number) for number in range(RECORDERS + 1)]
        self._owner: int | None = None
        self._answers: list[tuple[Work, bool]] = []

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Let it happen; returns what was seen."""
        self._register(Register(0))
        seen, traces = set[str](), Traces(NAMES)
        for step in steps:
            if is_sendable(step):
                seen.update(traces.features(step, self._perform(step)))
        self._finish()
        told = sorted(stream.told for stream in self._judge.streams.values())
        self._probe()
        return (*seen, *told, " ".join(told))

    def _perform(self, step: Step) -> str:
        match step:
            case Configure():
                return self._configure(step)
            case Register():
                return self._register(step)
            case Submit():
                return self._submit(step)
            case Cancel(app):
                return self._cancel(self._fixture.apps[app % len(APPS)])
            case Take(uid):
                return self._end("cancelWork", uid, EndReason.CANCELLED_SYSTEM)
            case Break(uid):
                return self._end("failWork", uid, EndReason.FAILED)
            case Pass(ms):
                return self._pass(ms)
            case Die(app):
                return self._die(app % len(APPS))

    def _configure(self, step: Configure) -> str:
        configs = tuple(
            SchedulingConfig(each.uid, each.priority, each.direct, each.attribute, each.least, each.most)
            if self._has_bounds
            else SchedulingConfig(each.uid, each.priority, each.direct, each.attribute)
            for each in step.configs
        )
        wrong, is_open = config_problems(configs, has_bounds=self._has_bounds)
        hal = self._fixture.scheduling
        made = hal.update_scheduling_configs if step.update else hal.set_scheduling_configs
        what = "updateSchedulingConfigs" if step.update else "setSchedulingConfigs"
        answer = call(what, lambda: made(configs))
        if answer == "done" and wrong:
            raise Found("invalid-accepted", f"{what}: {wrong[0]}: {configs} is taken", wrong[0])
        if answer == "refused" and not wrong and not is_open:
            raise Found("valid-refused", f"{what}: {configs} is refused", what)
        if answer not in ("done", "refused"):
            raise Found("wrong-status", f"{what}: {configs} is {answer}", what)
        if answer == "done":
            self._judge.configured(configs, update=step.update)
        return " ".join((answer, *wrong))

    def _register(self, step: Register) -> str:
        self._pass(0)
        number = NOBODY if step.recorder < 0 else step.recorder % RECORDERS
        recorder = None if number == NOBODY else self._recorders[number]
        hal = self._fixture.scheduling
        if step.app is not None:
            app = self._fixture.apps[step.app % len(APPS)]
            app.hears, hal = True, app.process.interfaces.scheduling or hal
        given = () if step.debounce is None or not self._has_bounds else (step.debounce,)
        answer = call("setCallback", lambda: hal.set_callback(recorder, *given))
        if answer != "done":
            raise Found("valid-refused", f"NPU-HAL-016: setCallback: {step} is {answer}", "NPU-HAL-016")
        self._judge.registered(number, given[0] if given else None)
        self._owner = None if step.app is None else step.app % len(APPS)
        return "none" if recorder is None else "app" if step.app is not None else "own"

    def _submit(self, step: Submit) -> str:
        app = self._fixture.apps[step.app % len(APPS)]
        group = None if step.group is None else Uuid(bytes([step.group]) * 16)
        run = InferenceRun(step.job, step.original, step.device, group, step.feature)
        work = self._judge.submitted(app.uid, app.pid, run)
        answer = self._begin(app, work)
        self._judge_answer(work, answer)
        return " ".join((answer, *work.wrong))

    def _begin(self, app: App, work: Work) -> Answer:
        def heard(succeeded: bool) -> None:
            self._answers.append((work, succeeded))

        refusals = (IllegalArgument, IllegalState) if work.may_lack_room else (IllegalArgument,)
        return call("runTestInference", lambda: self._fixture.run(app, work.run, heard), refusals)

    def _judge_answer(self, work: Work, answer: Answer) -> None:
        work.is_refused = answer != "done"
        if not work.is_refused or (answer == "missing" and asdict(work.run) != asdict(InferenceRun())):
            return
        if answer == "refused" and (work.is_open or work.may_lack_room):
            return
        expected = {"refused" if requirement == "NPU-HAL-032" else "denied" for requirement in work.wrong}
        if not expected:
            what = f"runTestInference of uid {work.uid}, {work.run}: {answer}"
            raise Found("valid-refused", what, f"runTestInference {answer}")
        if answer not in expected:
            what = f"runTestInference of uid {work.uid}, {work.run}: {answer}, though it breaks {work.wrong}"
            raise Found("wrong-status", what, f"runTestInference {answer}")

    def _cancel(self, app: App) -> str:
        answer = call("cancelTestInferences", app.workload.cancel_test_inferences)
        return self._ended(answer, "cancelTestInferences", app.uid, app.pid, EndReason.CANCELLED_USER)

    def _end(self, what: str, uid: int, reason: EndReason) -> str:
        control = self._fixture.control
        made = control.cancel_work if reason is EndReason.CANCELLED_SYSTEM else control.fail_work
        return self._ended(call(what, partial(made, uid)), what, uid, None, reason)

    def _ended(self, answer: Answer, what: str, uid: int, pid: int | None, reason: EndReason) -> str:
        if answer in ("refused", "denied"):
            raise Found("valid-refused", f"{what} of uid {uid}: {answer}", what)
        if answer == "done":
            self._judge.ended(uid, pid, reason)
        return answer

    def _pass(self, duration_ms: int) -> str:
        """Let time pass, in small steps while there is work whose end is to be known."""
        left, chunk = duration_ms, max(_CHUNK_MS, duration_ms // _MOST_CHUNKS)
        while True:
            is_busy = any(work.is_unfinished for work in self._judge.works)
            step = min(left, chunk) if is_busy else left
            self._move(step)
            left -= step
            if left <= 0:
                return "busy" if is_busy else "idle"

    def _move(self, duration_ms: int) -> None:
        since_ms = self._fixture.now_ms
        self._fixture.move(duration_ms)
        self._judge.now_ms = self._fixture.now_ms
        answers, self._answers = self._answers, []
        for work, succeeded in answers:
            self._judge.answered(work, succeeded=succeeded, since_ms=since_ms)
        for recorder in self._recorders:
            for event in recorder.take(self._fixture.now_ms):
                self._judge.hear(event)

    def _die(self, number: int) -> str:
        self._pass(0)
        app = self._fixture.apps[number]
        self._fixture.restart(number)
        self._judge.died(app.uid, app.pid)
        if self._owner == number:
            self._judge.lost(self._judge.recorder)
            self._owner = None
        return ""

    def _finish(self) -> None:
        """Let everything come to its end, however long it takes where each run waits for all others."""
        limit = self._fixture.now_ms + 3 * self._fixture.run_ms * (1 + len(self._judge.works))
        while any(work.is_unfinished and not work.is_orphan for work in self._judge.works):
            if self._fixture.now_ms > limit:
                break
            self._move(self._fixture.run_ms)
        if any(work.is_orphan for work in self._judge.works):
            self._move(self._fixture.run_ms * (1 + len(self._judge.works)))
        self._move(self._judge.longest_ms + SLACK_MS)
        self._judge.close()

    def _probe(self) -> None:
        """Every app works once more, without configs: each has the events of undisturbed work, and success."""
        self._judge.works.clear()
        self._configure(Configure([]))
        self._judge.registered(_PROBE, None)
        self._fixture.scheduling.set_callback(self._recorders[_PROBE])
        for number in range(len(APPS)):
            self._submit(Submit(number))
        self._finish()
        self._fixture.scheduling.set_callback(None)
