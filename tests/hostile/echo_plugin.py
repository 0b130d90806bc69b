"""A small correct plug-in for the tests of isolation and wire."""

from __future__ import annotations

import os
import threading
from typing import Any

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

NO_TIMING = types.Timing(-1, -1)


class EchoModel(hal.PreparedModel):
    """Copies the first pool onto the second."""

    def __init__(self, context: Context, model: types.Model) -> None:
        self._context = context
        self.model = model

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        """Copy."""
        first, second = (self._context.memory.map(pool.pool) for pool in request.pools if pool.pool is not None)
        second[:] = first
        return types.ExecutionResult(True, (), NO_TIMING)

    def execute_fenced(
        self, request: types.Request, wait_for: tuple[hal.Fence | None, ...], *rest: Any
    ) -> hal.FencedExecutionResult:
        """Ask each fence for its state, as a caller of the harness."""
        states = [fence.get_state() for fence in wait_for if fence is not None]
        if any(state != 1 for state in states):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"states {states}")
        return hal.FencedExecutionResult(None, wait_for[0] if wait_for else None)


class SimpleDevice(hal.Device):
    """Answers what the tests ask for."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def get_type(self) -> int:
        """Return a value that no version has."""
        return 77

    def get_version_string(self) -> str:
        """Return who calls."""
        caller = self._context.caller()
        return f"{caller.uid} {caller.pid} {os.getpid()} {dict(self._context.options)}"

    def get_capabilities(self) -> types.Capabilities:
        """Return capabilities with an infinity."""
        return types.Capabilities(float32_performance=types.PerformanceInfo(float("inf"), 0.5))

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """True for even codes."""
        return tuple(operation.type % 2 == 0 for operation in model.main.operations)

    def prepare_model(self, model: types.Model, preference: int, *rest: Any) -> None:
        """Prepare in another thread; preference 99 is rejected, 98 is a bug of the driver."""
        if preference == 99:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "preference 99")
        if preference == 98:
            raise KeyError("a bug")
        prepared = EchoModel(self._context, model)
        threading.Thread(target=rest[-1].notify, args=(int(ErrorStatus.NONE), prepared)).start()

    def allocate(
        self, desc: types.BufferDesc, prepared_models: tuple[hal.PreparedModel | None, ...], *roles: Any
    ) -> hal.DeviceBuffer:
        """Return as the token how many of the models are this host's own."""
        return hal.DeviceBuffer(hal.Buffer(), 1 + sum(type(model) is EchoModel for model in prepared_models))


MANIFEST = Manifest(
    name="simple",
    vendor="tests",
    version="1",
    hal_version=Version.FL8,
    deadlines=Deadlines(prepare=600.0, execute=600.0, call=600.0, start=600.0),
    options={"hal": "HAL version"},
)


def manifest(options: object) -> Manifest:
    """The manifest; HAL version by option."""
    assert isinstance(options, dict)
    return MANIFEST if "hal" not in options else _at(Version(options["hal"]))


def _at(version: Version) -> Manifest:
    import msgspec

    return msgspec.structs.replace(MANIFEST, hal_version=version)


plugin = Plugin(manifest, lambda context: Subject(device=SimpleDevice(context)))
