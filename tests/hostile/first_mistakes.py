"""Drivers with the mistakes that a first driver in Python has, for what is said about them."""

from __future__ import annotations

from typing import Any

from vendor_plugins import FirstDay, FirstDayScheduling

from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version

_MANIFEST = Manifest(name="first-mistakes", vendor="tests", version="1", hal_version=Version.V1_2)


class _Supporting(FirstDay):
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return (True,) * len(model.main.operations)


class _Prepared(hal.PreparedModel):
    def execute_synchronously(self, *arguments: Any) -> Any:
        raise ValueError("shapes (2,3) (2,)")


class _Stranger:
    """Is called like a prepared model, and is none."""

    def execute(self, *arguments: Any) -> None: ...

    def execute_synchronously(self, *arguments: Any) -> None: ...


class Returning(_Supporting):
    """Returns what it prepares."""

    def prepare_model(self, *arguments: Any) -> Any:
        return _Prepared()


class Strange(_Supporting):
    """Gives an object that is of no interface."""

    def prepare_model(self, *arguments: Any) -> None:
        arguments[-1].notify(0, _Stranger())


class Raising(_Supporting):
    """Raises when it executes."""

    def prepare_model(self, *arguments: Any) -> None:
        arguments[-1].notify(0, _Prepared())


returning = Plugin(_MANIFEST, lambda context: Subject(device=Returning()))
strange = Plugin(_MANIFEST, lambda context: Subject(device=Strange()))
raising = Plugin(_MANIFEST, lambda context: Subject(device=Raising()))
unnamed = Plugin(_MANIFEST, lambda context: Subject(device=FirstDay(), scheduling=FirstDayScheduling()))
named = Plugin(
    Manifest(name="named", vendor="tests", version="1", hal_version=Version.V1_2, interfaces=("device",)),
    lambda context: Subject(device=FirstDay(), scheduling=FirstDayScheduling()),
)
