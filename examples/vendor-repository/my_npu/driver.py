"""A driver that supports nothing yet, for HAL 1.0 and 1.1, which are told apart by what their capabilities say."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version, parse


class Driver(hal.Device):
    """Answers what it is asked first."""

    def __init__(self, version: Version) -> None:
        self._version = version

    def get_capabilities(self) -> types.Capabilities:
        """Say how fast it is."""
        fast = types.PerformanceInfo(exec_time=0.5, power_usage=0.5)
        relaxed = fast if self._version >= Version.V1_1 else None
        return types.Capabilities(
            float32_performance=fast, quantized8_performance=fast, relaxed_float32_to_float16_performance=relaxed
        )

    def get_status(self) -> int:
        """Say that it is available."""
        return 0

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """Refuse what every driver must refuse; support nothing yet."""
        if validate_model(model, self._version):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        return (False,) * len(model.main.operations)


def _version(options: Mapping[str, str]) -> Version:
    version = parse(options.get("hal", "1.1"))
    if version > Version.V1_1:
        raise ValueError(f"hal={version}: the driver has HAL 1.0 and 1.1")
    return version


def _manifest(options: Mapping[str, str]) -> Manifest:
    version = _version(options)
    return Manifest(
        name="my-npu", vendor="me", version="0.1", hal_version=version, options={"hal": "HAL version, 1.0 or 1.1"}
    )


def _create(context: Context) -> Subject:
    return Subject(device=Driver(_version(context.options)))


plugin = Plugin(_manifest, _create)
