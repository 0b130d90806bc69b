"""A driver without a runtime, to be put under one: the reference's device. Option `executing`: dies, or hangs."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from npu_conformance.adapters import reference
from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject


def _die() -> None:
    print("the driver's last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
    _hang()  # another thread may be the one that the signal ends the process in: this one must answer nothing


def _hang() -> None:
    while True:
        time.sleep(60)


_WAYS = {"dies": _die, "hangs": _hang}


class _EndingModel(FaultyPreparedModel):
    def _end(self, *arguments: Any) -> Any:
        _WAYS[self.context.options["executing"]]()

    execute = execute_synchronously = execute_fenced = _end  # type: ignore[assignment]


def _manifest(options: Mapping[str, str]) -> Manifest:
    found = reference.plugin.describe(options)
    limits = Deadlines(prepare=2, execute=2, call=2)
    known = {**found.options, "executing": "dies, or hangs"}
    return replace(found, name="below", interfaces=("device",), deadlines=limits, options=known)


def _create(context: Context) -> Subject:
    device = reference.plugin.create(context).device
    assert device is not None
    if "executing" not in context.options:
        return Subject(device=device)

    class Device(FaultyDevice):
        prepared_model = type("Model", (_EndingModel,), {"context": context})

    return Subject(device=Device(device))


plugin = Plugin(manifest=_manifest, create=_create)
