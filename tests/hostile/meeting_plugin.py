"""A plug-in whose executions wait for each other: it answers only where calls are really concurrent."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Plugin, Subject

DIES, HANGS = 40, 41
"""Loop timeouts at which an execution ends its process, or never ends."""


class MeetingModel(hal.PreparedModel):
    """Executions end in threes; each reports its loop timeout as a time."""

    def __init__(self) -> None:
        self._meeting = threading.Barrier(3)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """Wait for two others. Loop timeout 0 is rejected."""
        if loop_timeout_duration_ns == DIES:
            os._exit(3)
        if loop_timeout_duration_ns == HANGS:
            threading.Event().wait()
        self._meeting.wait()
        if loop_timeout_duration_ns == 0:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "0")
        return types.ExecutionResult(True, (), types.Timing(loop_timeout_duration_ns, -1))


class MeetingDevice(hal.Device):
    """Prepares anything."""

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        """Notify at once."""
        rest[-1].notify(ErrorStatus.NONE, MeetingModel())


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="meeting",
        vendor="tests",
        version="1",
        deadlines=Deadlines(prepare=600.0, execute=1.0, call=600.0, start=600.0),
        concurrent_calls=int(options.get("calls", "3")),
        options={"calls": "how many at once"},
    )


def _create(context: Context) -> Subject:
    return Subject(device=MeetingDevice())


plugin = Plugin(_manifest, _create)
