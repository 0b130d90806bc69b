"""Apps that run inferences, by the Workload interface or by the inference tool of the subject."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.inference_tool import IGNORED, ToolRun
from npu_conformance.specs.errors import DeadObject, InterfaceError, Unsupported
from npu_conformance.specs.npu.workload import OWN_WORK, InferenceRun, Workload
from npu_conformance.vts.lib.npu_scheduling.events import Event, Notification
from npu_conformance.vts.lib.npu_scheduling.runs import REJECTIONS, NoRoomBesideOthers, Run
from npu_conformance.vts.lib.npu_scheduling.waiting import STEP_MS, Waiting


class App:
    """An app with work for the NPU."""

    def __init__(self, waiting: Waiting, uid: int, pid: int) -> None:
        self.uid = uid
        self._waiting = waiting
        tool = waiting.context.manifest.inference_tool
        self._application: Application | None = None
        self._workload: Workload | None = None
        if tool is None:
            if waiting.context.subject.ignores_tool and "workload" not in waiting.context.manifest.interfaces:
                raise NotApplicable(IGNORED)
            self._application = waiting.context.application(uid, pid)
            self._workload = waiting.context.present(self._application.interfaces.workload, "workload")

    def start(self, run: InferenceRun | None = None) -> Run | ToolRun:
        """Begin a run; what is rejected is a run that ends without success.

        NotApplicable where others are under way, and there is no room for it.
        """
        if not self._waiting.is_busy:
            return self.attempt(run)
        found = self.start_if_there_is_room(run)
        if isinstance(found, Run) and found.is_refused_for_others:
            raise NoRoomBesideOthers(f"the HAL has no room for one more work at once: {found.ending}")
        self._waiting.room.note_start(found, self._waiting.now_ms)
        return found

    def attempt(self, run: InferenceRun | None = None) -> Run | ToolRun:
        """Begin a run that may be rejected, whatever is under way."""
        run = run or InferenceRun()
        if run.device_number is None:
            run = replace(run, device_number=self._waiting.device)
        self._waiting.has_work_for_others |= run.original_uid not in (OWN_WORK, self.uid)
        found = self._by_tool(run) if self._workload is None else self._by_interface(self._workload, run)
        self._waiting.runs.append(found)
        return found

    def start_if_there_is_room(self, run: InferenceRun | None = None) -> Run | ToolRun:
        """Begin a run beside others; whatever refuses it, it is one that ends without success."""
        try:
            return self.attempt(run)
        except (DeadObject, Unsupported):
            raise
        except InterfaceError as error:
            return _refused(error)

    def start_on_first(self, run: InferenceRun | None = None) -> Run | ToolRun:
        """Begin a run on the first device, or the one that is meant, where it meets all others begun so.

        On several devices none need wait for another. Where an app cannot name a device the HAL chooses one.
        """
        try:
            return self.start(replace(run or InferenceRun(), device_number=self._waiting.device or 0))
        except NoRoomBesideOthers:
            raise
        except NotApplicable:
            return self.start(run)

    def works(self, run: InferenceRun | None = None, step_ms: int = STEP_MS) -> None:
        """Run inferences to their successful end."""
        self._waiting.succeeds(self.start(run), f"inferences of uid {self.uid}", step_ms)

    def is_rejected(self, run: InferenceRun | None = None) -> None:
        """See a run end without success. One for another uid breaks the rule on attribution where it does not."""
        is_for_another = run is not None and run.original_uid != OWN_WORK
        with checks.about(*(("NPU-HAL-012",) if is_for_another else ())):
            checks.that(not self.ends(run), f"inferences of uid {self.uid}: expected a rejection, found success")

    def ends(self, run: InferenceRun | None = None, step_ms: int = STEP_MS) -> bool:
        """Run inferences to whatever end: whether it is success. step_ms: how often to look for it."""
        return self._waiting.end_of(self.attempt(run), step_ms)

    def cancel(self) -> None:
        """Cancel what runs. NotApplicable where that cannot be done."""
        workload = self._workload
        if workload is None:
            raise NotApplicable("an inference tool cannot be asked to cancel")
        self._waiting.room.note_ends(self._waiting.now_ms)
        asked(workload.cancel_test_inferences, "cancelTestInferences")

    def leave(self) -> None:
        """End its connection, once its work is over."""
        if self._application is not None:
            self._application.close()

    def events(self) -> list[Event]:
        """The events of its work that were notified."""
        return self._waiting.recorder.of(self.uid)

    def received(self) -> list[Notification]:
        """The same without the works."""
        return [event.notification for event in self.events()]

    def _by_tool(self, run: InferenceRun) -> ToolRun:
        if (run.device_number, run.group_id, run.feature_id) != (None, None, None):
            raise NotApplicable("an inference tool takes job priority and original uid alone")
        tool = self._waiting.context.manifest.inference_tool
        assert tool is not None
        return ToolRun(tool, self.uid, run)

    def _by_interface(self, workload: Workload, run: InferenceRun) -> Run:
        found = Run()
        try:
            asked(lambda: workload.run_test_inference(run, found), "runTestInference of this kind")
        except REJECTIONS as error:
            return _refused(error)
        return found


def _refused(error: InterfaceError) -> Run:
    found = Run()
    found.succeeded, found.refusal = False, error
    return found


def asked(call: Callable[[], None], what: str) -> None:
    """Make an optional call. NotApplicable where the subject does not have it."""
    try:
        call()
    except Unsupported:
        raise NotApplicable(f"the subject does not have {what}") from None
