"""Drivers that conform until they have executed a few times: plug-ins for the stress tests. Option `end`: which way."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import faulty_models
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Plugin
from npu_conformance.specs.versions import Version

_GOOD_EXECUTIONS = 5
_VICTIM = 10_201
"""The uid of the client that is killed."""


_HARMLESS = (
    "I npu: compiled with AddressSanitizer instrumentation off\n"
    "I npu: no handler is installed that says terminate called or core dumped\n"
)
_DEADLY = "F libc: Fatal signal 11 (SIGSEGV), code 1 in tid 4711 (npu-helper)"


_workers: list[subprocess.Popen[bytes]] = []
_one_at_a_time = threading.Lock()


def _renew_worker() -> None:
    """Compile in a worker that is ended in order, and replaced, after each model.

    Only a worker that has answered shows its own command: before, it may be seen on its way from this process to it.
    """
    with _one_at_a_time:
        for worker in _workers:
            worker.terminate()
            worker.wait()
        _workers[:] = [worker := subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)]
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(b"ready\n")
        worker.stdin.flush()
        worker.stdout.readline()


class StressedModel(FaultyPreparedModel):
    """Executes well a few times, then ends as the option says."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._count = itertools.count(1)
        if self.context.options["end"] == "renew":
            _renew_worker()
        self._uid = 0

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        self._uid = self.context.caller().uid
        result = self.inner.execute_synchronously(request, *rest)
        if next(self._count) > _GOOD_EXECUTIONS:
            self._end(request)
        return result

    def __del__(self) -> None:
        if self.context.options["end"] == "fragile" and self._uid == _VICTIM:
            signal.raise_signal(signal.SIGSEGV)

    def _end(self, request: types.Request) -> None:
        match self.context.options["end"]:
            case "crash":
                signal.raise_signal(signal.SIGSEGV)
            case "hang":
                threading.Event().wait()
            case "talk":
                print(_HARMLESS, file=sys.stderr, flush=True)
            case "lose":
                print(_DEADLY, file=sys.stderr, flush=True)
            case "refuse":
                raise ServiceError(ErrorStatus.GENERAL_FAILURE)
            case "fragile" if self.context.caller().uid != _VICTIM:
                threading.Event().wait()
            case "miscompute":
                memory = request.pools[1].pool
                assert memory is not None
                self.context.memory.map(memory)[0] ^= 0x80


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="stressed",
        vendor="tests",
        version="1",
        hal_version=Version.V1_3,
        deadlines=Deadlines(execute=1.0 if options.get("end") == "hang" else 600.0),
        options={"end": "fragile (dies with a client), crash, hang, refuse, miscompute, renew, talk, lose or none"},
    )


plugin = Plugin(_manifest, lambda context: faulty_models(StressedModel).create(context, Version.V1_3))
