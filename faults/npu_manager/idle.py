"""An NPU Manager that only checks its arguments: it stores nothing, answers nobody, and shows nothing."""

from __future__ import annotations

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.manager import Manager, ManagerControl, ModelLoadRequestCallback
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelSize, Policy, PolicyParameters, ShellResult
from npu_conformance.specs.plugin import Context, Plugin, Subject


class IdleManager(Manager):
    """The manager."""

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        if callback is None or request.size not in tuple(ModelSize):
            raise IllegalArgument("a request needs a callback and a size")

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        pass

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        given = parameters or PolicyParameters()
        numbers = (given.max_budget, *given.model_size_weights.values())
        if policy not in tuple(Policy) or any(number is not None and number <= 0 for number in numbers):
            raise IllegalArgument("no such policy, or a number that is not positive")

    def dump(self) -> str:
        return ""

    def shell_command(self, arguments: tuple[str, ...]) -> ShellResult:
        return ShellResult(1)


class _Indulgent(ManagerControl):
    """Lets a test arrange what it likes, which the manager ignores."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    def install_app(
        self, uid: int, package: str, declares_feature: bool, target_sdk: int, feature_required: bool = True
    ) -> None:
        pass

    def remove_app(self, uid: int) -> None:
        pass

    def grant_permission(self, uid: int, permission: str, granted: bool) -> None:
        pass

    def set_importance(self, uid: int, importance: int) -> None:
        pass

    def connect_hal(self, scheduling: Scheduling | None) -> None:
        pass

    def set_thermal_pressure(self, level: int) -> None:
        pass

    def set_memory_pressure(self, level: int) -> None:
        pass

    def get_system_service(self, name: str) -> Manager | None:
        return self._manager if name == "npu" else None

    def advance_clock(self, duration_ns: int) -> None:
        pass


def with_control(context: Context) -> Subject:
    """The manager with a control that a test can use."""
    manager = IdleManager()
    return Subject(manager=manager, manager_control=_Indulgent(manager))


plugin = Plugin(
    Manifest(name="npu-manager-idle", vendor="npu-conformance-faults", version="1", interfaces=("manager",)),
    lambda context: Subject(manager=IdleManager()),
)
"""The manager alone. Without a control no case can be red, nor show that the manager does anything."""
