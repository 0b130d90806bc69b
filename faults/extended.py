"""The reference with its own extensions, behind a boundary: models and configurations pass it on their way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version


class ExtendedDevice(FaultyDevice):
    """A device that takes each model as `seen`, and each configuration of a preparation as `hinted`."""

    def seen(self, model: types.Model) -> types.Model:
        """The model as the device sees it."""
        return model

    def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
        """The configuration as the device sees it. Raises ServiceError for one that it rejects."""
        return config

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """Of the model as seen."""
        return self.inner.get_supported_operations(self.seen(model))

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        """Of the model as seen."""
        super().prepare_model(self.seen(model), *rest)

    def prepare_model_with_config(self, model: types.Model, config: types.PrepareModelConfig, *rest: Any) -> None:
        """Of both as the device sees them; a refusal is notified and returned."""
        super().prepare_model_with_config(self.seen(model), self.hinted(model, config), *rest)


def extended(
    kind: Callable[[ReferenceDevice], FaultyDevice], *, count: int = len(own.CATALOGUES), plays: Version | None = None
) -> FaultySubject:
    """The reference with the first `count` of its extensions behind this kind of boundary."""

    def create(context: Context, version: Version) -> Subject:
        return Subject(device=kind(ReferenceDevice(context, plays or version, own.register(count))))

    return FaultySubject(create)


def extended_models(kind: type[FaultyPreparedModel]) -> FaultySubject:
    """The same with prepared models behind a boundary."""

    class Device(ExtendedDevice):
        prepared_model = kind

    return extended(Device)
