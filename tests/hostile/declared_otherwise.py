"""A driver whose methods are not what the interface declares: they take other arguments, or return something else."""

from __future__ import annotations

from typing import Any, cast

from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version


class _Model(hal.PreparedModel):
    def execute_synchronously(self, *_: Any) -> Any:
        return (0, (), None)

    def configure_execution_burst(self) -> Any:
        return _Fence()


class _Fence(hal.Fence):
    pass


class _Device(hal.Device):
    """Only `allocate`, which gets a prepared model back, is right."""

    def get_version_string(self, locale: str) -> str:  # type: ignore[override]
        return locale

    def get_type(self) -> Any:
        return "accelerator"

    def get_status(self) -> Any:
        return object()

    def get_capabilities(self) -> types.Capabilities:
        return types.Capabilities(if_performance=cast(Any, 7))

    def get_supported_extensions(self) -> Any:
        return len(None)  # type: ignore[arg-type]

    def prepare_model(self, *arguments: Any) -> None:
        *_, callback = arguments
        callback.notify(0, _Model())

    def allocate(self, desc: Any, prepared_models: Any, input_roles: Any, output_roles: Any) -> hal.DeviceBuffer:
        assert [type(model) for model in prepared_models] == [_Model]
        return hal.DeviceBuffer(_Buffer(), 7)


class _Buffer(hal.Buffer):
    def copy_to(self, dst: types.Memory) -> Any:
        return 7


plugin = Plugin(
    Manifest(name="declared-otherwise", vendor="tests", version="1", hal_version=Version.FL6),
    lambda context: Subject(device=_Device()),
)
