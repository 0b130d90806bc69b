"""The NPU Manager's client API (android.npumanager) and what a test must steer around it. Since Android 17.

The caller's uid and pid are the transport's. Errors: IllegalArgument, SecurityDenied.
"""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.npu.types import ModelLoadRequest, PolicyParameters


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
        """Unload, please. reason: UnloadReason, or null in the one-argument form (NPU-LIF-018)."""
        raise refuse("ModelLoadRequestCallback.onRequestUnloadModel")

    @method(oneway=True)
    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """The request is over. status: CompletionStatus."""
        raise refuse("ModelLoadRequestCallback.onModelLoadRequestComplete")


class Manager(Interface):
    """The system service `npu`."""

    @method()
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback) -> None:
        """Ask to load a model; returns before the decision, which goes to the callback (NPU-LIF-001)."""
        raise refuse("Manager.requestCanLoadModel")

    @method()
    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        """Withdraw a request in any state; unknown ones are ignored (NPU-LIF-011, -012, -014)."""
        raise refuse("Manager.cancelModelLoad")

    @method()
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        """Replace the loading policy. Needs the permission (NPU-ACC-004)."""
        raise refuse("Manager.setPolicy")

    @method()
    def dump(self) -> str:
        """The text of dumpsys npu (NPU-OBS-001)."""
        raise refuse("Manager.dump")


class ManagerControl(Interface):
    """What a test steers: apps, their importance and rights, pressure, and the clock. Only the harness may call it."""

    @method()
    def install_app(self, uid: int, package: str, declares_feature: bool, target_sdk: int) -> None:
        """Add an app."""
        raise refuse("ManagerControl.installApp")

    @method()
    def remove_app(self, uid: int) -> None:
        """Remove an app."""
        raise refuse("ManagerControl.removeApp")

    @method()
    def grant_permission(self, uid: int, permission: str, granted: bool) -> None:
        """Grant or withdraw a permission."""
        raise refuse("ManagerControl.grantPermission")

    @method()
    def set_importance(self, uid: int, importance: int) -> None:
        """Set ActivityManager's importance of a uid: 100 foreground to 1000 gone."""
        raise refuse("ManagerControl.setImportance")

    @method()
    def kill_client(self, uid: int) -> None:
        """Let the client process of a uid die: its binder objects go dead."""
        raise refuse("ManagerControl.killClient")

    @method()
    def set_thermal_pressure(self, level: int) -> None:
        """Thermal status 0 (none) to 6 (shutdown), as in android.os.PowerManager."""
        raise refuse("ManagerControl.setThermalPressure")

    @method()
    def set_memory_pressure(self, level: int) -> None:
        """Memory trim level: 0 none, 5 moderate, 10 low, 15 critical."""
        raise refuse("ManagerControl.setMemoryPressure")

    @method()
    def advance_clock(self, duration_ns: int) -> None:
        """Move the virtual clock and run everything that falls due, callbacks included."""
        raise refuse("ManagerControl.advanceClock")
