"""Work for the NPU, as AOSP's `run-test-inference` makes it, and what a test steers around the scheduling HAL.

AOSP leaves to the vendor how work reaches the NPU, and asks for a tool: the same inferences at each run, several
hundred milliseconds of them, with a job priority and an original uid. `Workload` is that tool as an interface; a
manifest may name the tool itself instead (Manifest.inference_tool). uid and pid are the transport's (NPU-HAL-015).
"""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.npu.types import Uuid
from npu_conformance.specs.wire_types import Wire

DEFAULT_JOB_PRIORITY = 500
OWN_WORK = -1
"""Original uid of work that an app does for itself."""


class InferenceRun(Wire, frozen=True):
    """One run of the workload. What goes beyond AOSP's tool is None where a test does not ask for it.

    job_priority: 0 (strongest) to 1000. original_uid: whom the work is for, OWN_WORK for the caller. device_number:
    None for the implementation's choice. group_id, feature_id: of all inferences of the run, to be reported in events.
    """

    job_priority: int = DEFAULT_JOB_PRIORITY
    original_uid: int = OWN_WORK
    device_number: int | None = None
    group_id: Uuid | None = None
    feature_id: str | None = None


class WorkloadCallback(Interface):
    """Receives the outcome of a run."""

    @method(oneway=True)
    def on_run_ended(self, succeeded: bool) -> None:
        """The run is over. succeeded: every inference was computed: the tool's exit code 0."""
        raise refuse("WorkloadCallback.onRunEnded")


class Workload(Interface):
    """The vendor's inferences, as any app may run them."""

    @method()
    def run_test_inference(self, run: InferenceRun, callback: WorkloadCallback) -> None:
        """Begin a run and return; how it ends goes to the callback.

        Refused, here or by a run without success: SecurityDenied without direct access (NPU-HAL-011) or attribution
        (NPU-HAL-012); IllegalArgument for a job priority outside 0 to 1000 or a device that does not exist.
        Unsupported: the implementation has no such choice.
        """
        raise refuse("Workload.runTestInference")

    @method()
    def cancel_test_inferences(self) -> None:
        """End every run of the caller, as if the tool were killed: CANCELLED_USER."""
        raise refuse("Workload.cancelTestInferences")


class SchedulingControl(Interface):
    """What a test steers around the scheduling HAL. Only the harness may call it; each method is optional."""

    @method()
    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock and run everything that falls due, callbacks included."""
        raise refuse("SchedulingControl.advanceClock")

    @method()
    def cancel_work(self, uid: int) -> None:
        """Let the system's policy take the NPU away from a uid: its work ends as CANCELLED_SYSTEM."""
        raise refuse("SchedulingControl.cancelWork")

    @method()
    def fail_work(self, uid: int) -> None:
        """Let the hardware fail under the work of a uid: it ends as FAILED."""
        raise refuse("SchedulingControl.failWork")
