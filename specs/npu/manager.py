"""The NPU Manager's client API (android.npumanager) and what a test must steer around it. Since Android 17.

The caller's uid and pid are the transport's; executors are the client library's affair (client.py). A client is one
connection: when it closes, what it asked for is gone (NPU-LIF-019). The service keeps nothing when it is restarted:
clients see the connection end, and ask again. Errors: IllegalArgument, IllegalState, SecurityDenied.
"""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.npu.buffers import Allocator, AllocatorCallback
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.types import Atom, ManagerSnapshot, ModelLoadRequest, PolicyParameters, ShellResult


class ModelLoadStatusListener(Interface):
    """The token that comes with a decision: the client reports through it what it did."""

    @method()
    def notify_model_loaded(self, request: ModelLoadRequest) -> None:
        """The model is in the driver's memory."""
        raise refuse("ModelLoadStatusListener.notifyModelLoaded")

    @method()
    def notify_model_unloaded(self, request: ModelLoadRequest) -> None:
        """The model has left the driver's memory."""
        raise refuse("ModelLoadStatusListener.notifyModelUnloaded")


class ModelLoadRequestCallback(Interface):
    """The client's side of the life cycle. One object may serve many requests (NPU-LIF-025)."""

    @method(oneway=True)
    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        """A decision. status: LoadStatus; only CAN_LOAD_NOW authorises loading."""
        raise refuse("ModelLoadRequestCallback.onCanLoadModel")

    @method(oneway=True)
    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        """Ask the client to unload. reason: UnloadReason, or None in the one-argument form (NPU-LIF-018)."""
        raise refuse("ModelLoadRequestCallback.onRequestUnloadModel")

    @method(oneway=True)
    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """The request is over. status: CompletionStatus."""
        raise refuse("ModelLoadRequestCallback.onModelLoadRequestComplete")


class Manager(Interface):
    """The system service `npu`."""

    @method()
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        """Ask to load a model; returns before the decision, which goes to the callback (NPU-LIF-001).

        IllegalArgument: no callback (NPU-REQ-013), a size that the policy does not know (NPU-REQ-010), or an id of the
        caller's uid that is live (NPU-REQ-012). IllegalState: the uid has as many live requests as it may have.
        """
        raise refuse("Manager.requestCanLoadModel")

    @method()
    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        """Withdraw a request in any state; unknown ones are ignored (NPU-LIF-011, -012, -014)."""
        raise refuse("Manager.cancelModelLoad")

    @method()
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        """Replace the loading policy. Needs the permission (NPU-ACC-004).

        IllegalArgument: no such policy, or a maximum or weight that is not positive; then nothing changes.
        """
        raise refuse("Manager.setPolicy")

    @method()
    def create_allocator(self, callback: AllocatorCallback) -> Allocator:
        """Return an allocator of buffers for the caller. Needs no permission."""
        raise refuse("Manager.createAllocator")

    @method()
    def dump(self) -> str:
        """The text of dumpsys npu (NPU-OBS-001).

        Without the dump permission: a refusal that names the service, as text or as SecurityDenied (NPU-OBS-002).
        """
        raise refuse("Manager.dump")

    @method()
    def shell_command(self, arguments: tuple[str, ...]) -> ShellResult:
        """`cmd npu` with these words (NPU-OBS-003 to -005).

        set-status-quo-policy, set-turn-taking-policy, set-budget-policy; info; for root also disable and enable.
        `disable` lets the scheduling HAL alone until `enable`, which sends the whole table and the callback again.
        Words that are none of these: usage, and an exit code other than 0.
        """
        raise refuse("Manager.shellCommand")


class ManagerControl(Interface):
    """What a test steers: apps, their importance and rights, flags, pressure, the HAL below, and the clock.

    Only the harness may call it. IllegalArgument: a uid without an app, a level or flag that does not exist.
    """

    @method()
    def install_app(
        self, uid: int, package: str, declares_feature: bool, target_sdk: int, feature_required: bool = True
    ) -> None:
        """Add an app, without permissions and of importance 1000, in place of the uid's earlier one of that name.

        Another package of the same uid shares its permissions and importance; Unsupported where that cannot be.
        declares_feature: its manifest has uses-feature android.hardware.npu; feature_required: an attribute of that.
        """
        raise refuse("ManagerControl.installApp")

    @method()
    def update_app(self, uid: int, declares_feature: bool, target_sdk: int, feature_required: bool = True) -> None:
        """Install another version over an app, which keeps its permissions and importance (NPU-PRI-012).

        Its processes live on.
        """
        raise refuse("ManagerControl.updateApp")

    @method()
    def remove_app(self, uid: int) -> None:
        """Remove an app; its processes die with it. A uid without an app is ignored."""
        raise refuse("ManagerControl.removeApp")

    @method()
    def grant_permission(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission."""
        raise refuse("ManagerControl.grantPermission")

    @method()
    def set_importance(self, uid: int, importance: int) -> None:
        """Set ActivityManager's importance of a uid: 100 foreground to 1000 gone.

        IllegalArgument: one that it has no name for, where the implementation knows named ones alone.
        """
        raise refuse("ManagerControl.setImportance")

    @method()
    def kill_client(self, uid: int, pid: int = 0) -> None:
        """Let the client process of a uid die, or with pid 0 all of them: their binder objects go dead.

        The connection that stands for the process stays open, so that the suite sees that nothing is sent to the dead.
        """
        raise refuse("ManagerControl.killClient")

    @method()
    def set_device_feature(self, declared: bool) -> None:
        """Declare android.hardware.npu for the device, as it is at the start, or not (NPU-ACC-002)."""
        raise refuse("ManagerControl.setDeviceFeature")

    @method()
    def set_flag(self, flag: str, enabled: bool) -> None:
        """Switch a Flag; it holds from the next event on."""
        raise refuse("ManagerControl.setFlag")

    @method()
    def get_system_service(self, name: str) -> Manager | None:
        """What Context.getSystemService gives an app: the manager under `npu`, or None (NPU-ACC-001 to -003)."""
        raise refuse("ManagerControl.getSystemService")

    @method()
    def set_thermal_pressure(self, level: int) -> None:
        """Set the ThermalStatus, 0 to 6. From SEVERE on a manager has to reduce its budget (NPU-POL-026)."""
        raise refuse("ManagerControl.setThermalPressure")

    @method()
    def set_memory_pressure(self, level: int) -> None:
        """Set the MemoryPressure: 0, 5, 10 or 15. From LOW on a manager has to reduce its budget (NPU-POL-026)."""
        raise refuse("ManagerControl.setMemoryPressure")

    @method()
    def set_unload_timeout(self, duration_ns: int) -> None:
        """How long unload requests from now on may stay unanswered (NPU-LIF-027); UNLOAD_TIMEOUT_NS at the start.

        Those that are under way keep the time they had, or have this one.
        """
        raise refuse("ManagerControl.setUnloadTimeout")

    @method()
    def connect_hal(self, scheduling: Scheduling | None) -> None:
        """Let the manager find this HAL under IScheduling/default, new and empty; None: the device's own again.

        A test's own object sees each push, and reports work through the callback that it is given.
        """
        raise refuse("ManagerControl.connectHal")

    @method()
    def kill_hal(self) -> None:
        """Let the process of the HAL die; `connect_hal` brings one back (NPU-PRI-007)."""
        raise refuse("ManagerControl.killHal")

    @method()
    def take_metrics(self) -> tuple[Atom, ...]:
        """The metrics logged since the last call, in order; a manager may keep only the newest 10,000."""
        raise refuse("ManagerControl.takeMetrics")

    @method()
    def take_snapshot(self) -> ManagerSnapshot:
        """Apps, models and budget at this moment, for `npu-conformance npu top`; no case needs it."""
        raise refuse("ManagerControl.takeSnapshot")

    @method()
    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock and run everything that falls due, callbacks included."""
        raise refuse("ManagerControl.advanceClock")
