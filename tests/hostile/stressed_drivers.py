"""Drivers that conform until they have executed a few times: plug-ins for the stress tests. Option `end`: which way."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Mapping

from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_GOOD_EXECUTIONS = 5
_VICTIM = 10_201
"""uid of the client that is killed."""


class StressedModel(hal.PreparedModel):
    """Executes well a few times, then ends as told."""

    def __init__(self, inner: hal.PreparedModel, context: Context) -> None:
        self._inner, self._context = inner, context
        self._count = itertools.count(1)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        result = self._inner.execute_synchronously(request, measure_timing, deadline_ns, loop_timeout_duration_ns)
        if next(self._count) > _GOOD_EXECUTIONS:
            self._end(request)
        return result

    def __del__(self) -> None:
        if self._context.options["end"] == "fragile":
            os.kill(os.getpid(), signal.SIGSEGV)

    def _end(self, request: types.Request) -> None:
        match self._context.options["end"]:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "hang":
                threading.Event().wait()
            case "refuse":
                raise ServiceError(ErrorStatus.GENERAL_FAILURE)
            case "fragile" if self._context.caller().uid != _VICTIM:
                threading.Event().wait()
            case "miscompute":
                memory = request.pools[1].pool
                assert memory is not None
                self._context.memory.map(memory)[0] ^= 0x80


class Wrapping(hal.PreparedModelCallback):
    """Hands the client a stressed model in place of the reference's."""

    def __init__(self, client: hal.PreparedModelCallback, context: Context) -> None:
        self._client, self._context = client, context

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        stressed = None if prepared_model is None else StressedModel(prepared_model, self._context)
        self._client.notify(status, stressed)


class StressedDevice(ReferenceDevice):
    """The reference device with models that break under load."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, Version.V1_3)
        self._own_context = context

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        wrapping = None if callback is None else Wrapping(callback, self._own_context)
        super().prepare_model(model, preference, priority, deadline_ns, model_cache, data_cache, token, wrapping)


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="stressed",
        vendor="tests",
        version="1",
        hal_version=Version.V1_3,
        deadlines=Deadlines(execute=0.5 if options.get("end") == "hang" else 30.0),
        options={"end": "fragile (dies with a client), crash, hang, refuse, miscompute or none"},
    )


plugin = Plugin(_manifest, lambda context: Subject(device=StressedDevice(context)))
