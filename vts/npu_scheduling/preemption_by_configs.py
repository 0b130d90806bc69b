"""What holds of a scheduler that promises to interrupt weaker work, when configs change who is the stronger one."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import (
    COMPLETED,
    PAUSED,
    REQUESTED,
    STARTED,
    UNDISTURBED,
    events_of,
    time_of,
    without_pauses,
)
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.runs import INTO_WORK_MS

cases = CaseGroup("vts.npu_scheduling.preemption", interface="scheduling", group=Group.SCHEDULING_DECISIONS)


def _changed(
    npu: SchedulingFixture, camera: int, assistant: int, change: Callable[[], None], *, by: int | None = None
) -> None:
    """Priorities change while the assistant's work waits for the camera's: it has the NPU in time.

    camera, assistant: their priorities before. by: another uid that does the camera's work.
    """
    npu.promised_ms()
    others = () if by is None else (config(by, 1000, attribute=True),)
    npu.configure(config(npu.camera, camera), config(npu.assistant, assistant), *others)
    waits, holds = npu.app(npu.assistant), npu.app(npu.camera if by is None else by)
    run = InferenceRun(original_uid=OWN_WORK if by is None else npu.camera)
    _overtakes(npu, (holds, run), (waits, InferenceRun()), change)


def _overtakes(
    npu: SchedulingFixture, held: tuple[App, InferenceRun], wanted: tuple[App, InferenceRun], change: Callable[[], None]
) -> None:
    """Work that waits has the NPU in time after a change. held, wanted: who has it, who waits for it, and for what."""
    promised = npu.promised_ms()
    npu.register_recorder()
    (holds, holding), (waits, waiting) = held, wanted
    holds.start_on_first(holding)
    npu.pass_ms(INTO_WORK_MS)
    waits.start_on_first(waiting)
    npu.pass_ms(INTO_WORK_MS)
    if waits.received() != [REQUESTED]:
        npu.need_no_gaps(holds)
    checks.equal(waits.received(), [REQUESTED], "events of work that waits for stronger work")
    change()
    npu.settle()
    late = time_of(waits.events(), STARTED) - time_of(waits.events(), REQUESTED) - INTO_WORK_MS
    checks.that(0 <= late <= promised, f"work had the NPU {late} ms after it became the stronger one")
    checks.equal(without_pauses(holds.received()), list(UNDISTURBED), "events of the work that became the weaker one")
    ends = [time_of(app.events(), COMPLETED) for app in (waits, holds)]
    checks.equal(ends, sorted(ends), "times of the ends, the stronger first")


@cases.case("made_stronger", "NPU-HAL-009", "NPU-HAL-003")
def made_stronger(context: CaseContext) -> None:
    """Work that waits and whose app comes to the foreground has the NPU in time."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 400, 1000, lambda: npu.update(config(npu.assistant, 100)))


@cases.case("made_stronger_behind_work_for_it", "NPU-HAL-009", "NPU-HAL-003")
def made_stronger_behind_work_for_it(context: CaseContext) -> None:
    """So it does where another app's work for it has ended meanwhile."""
    with scheduling_fixture(context) as npu:
        gallery = npu.app(npu.gallery)

        def change() -> None:
            gallery.start_on_first(InferenceRun(original_uid=npu.assistant))
            gallery.cancel()
            npu.update(config(npu.assistant, 100))

        npu.configure(config(npu.camera, 400), config(npu.assistant, 1000), config(npu.gallery, 1000, attribute=True))
        work = InferenceRun()
        _overtakes(npu, (npu.app(npu.camera), work), (npu.app(npu.assistant), work), change)


@cases.case("made_weaker", "NPU-HAL-009", "NPU-HAL-003")
def made_weaker(context: CaseContext) -> None:
    """Work whose app goes to the background loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.update(config(npu.camera, 1000)))


@cases.case("made_weaker_by_replacing", "NPU-HAL-001", "NPU-HAL-003", "NPU-HAL-007", "NPU-HAL-009")
def made_weaker_by_replacing(context: CaseContext) -> None:
    """Work whose app has no config any more, since all were replaced, loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.configure(config(npu.assistant, 400)))


@cases.case("made_weaker_for_another", "NPU-HAL-014", "NPU-HAL-009")
def made_weaker_for_another(context: CaseContext) -> None:
    """Work that is done for an app which goes to the background loses the NPU in time to what waits."""
    with scheduling_fixture(context) as npu:
        _changed(npu, 100, 400, lambda: npu.update(config(npu.camera, 1000)), by=npu.gallery)


@cases.case("first_config_of_another", "NPU-HAL-014", "NPU-HAL-003", "NPU-HAL-009")
def first_config_of_another(context: CaseContext) -> None:
    """Work that waits, and is done for an app which gets its first config by then, has the NPU in time."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        npu.configure(config(npu.camera, 400), config(npu.gallery, 1000, attribute=True))
        holds, waits = npu.app(npu.camera), npu.app(npu.gallery)
        run = InferenceRun(original_uid=npu.assistant)
        _overtakes(npu, (holds, InferenceRun()), (waits, run), lambda: npu.update(config(npu.assistant, 100)))


@cases.case("made_equal", "NPU-HAL-009", "NPU-HAL-003")
def made_equal(context: CaseContext) -> None:
    """Work that waits and becomes an equal of what runs does not interrupt it: no pause is notified of either."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        is_told_at_once = context.manifest.npu_profile == "page"
        strong, weak = npu.strong_and_weak(debounce_ms=0 if is_told_at_once else None)
        for equal in (config(weak.uid, 100), config(strong.uid, 1000)):
            npu.configure(config(strong.uid, 100), config(weak.uid, 1000))
            for app in (strong, weak):
                app.start_on_first()
                npu.pass_ms(5)
            npu.update(equal)
            npu.settle()
            for app in (strong, weak):
                checks.equal(events_of(app.events(), PAUSED), [], f"pauses of uid {app.uid}, now an equal")


@cases.case("cleared", "NPU-HAL-002", "NPU-HAL-009")
def cleared(context: CaseContext) -> None:
    """Clearing all configs makes equals of a waiting and a running app: nothing is interrupted, both succeed."""
    with scheduling_fixture(context) as npu:
        npu.promised_ms()
        strong, weak = npu.strong_and_weak()
        runs = [strong.start_on_first()]
        npu.pass_ms(5)
        runs.append(weak.start_on_first())
        npu.configure()
        for run in runs:
            npu.succeeds(run, "inferences")
        npu.settle()
        npu.expect(strong, *UNDISTURBED)
        npu.expect(weak, *UNDISTURBED)
