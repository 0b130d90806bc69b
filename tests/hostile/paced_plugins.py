"""A device that stops at one of its calls until it is told to go on: whatever is to happen there happens there.

Options: `call`, the number of the call; `folder`, where it makes the file `reached`, and waits for `go`.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

from vendor_plugins import FirstDay

from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version


class _Device(FirstDay):
    def __init__(self, call: int, folder: Path) -> None:
        self._calls = itertools.count(1)
        self._call, self._folder = call, folder

    def _pace(self) -> None:
        reached = self._folder / "reached"
        if next(self._calls) != self._call or reached.exists():
            return
        reached.touch()
        while not (self._folder / "go").exists():
            time.sleep(0.002)

    def get_capabilities(self) -> types.Capabilities:
        self._pace()
        return super().get_capabilities()

    def get_status(self) -> int:
        self._pace()
        return super().get_status()

    def get_supported_operations(self, model: Any) -> tuple[bool, ...]:
        self._pace()
        return super().get_supported_operations(model)


def _made(context: Context) -> Subject:
    return Subject(device=_Device(int(context.options["call"]), Path(context.options["folder"])))


_PATIENCE = Deadlines(prepare=600.0, execute=600.0, call=600.0, start=600.0)
plugin = Plugin(
    Manifest(
        name="paced",
        vendor="tests",
        version="1",
        hal_version=Version.V1_0,
        deadlines=_PATIENCE,
        options={"call": "where it stops", "folder": "where it says so"},
    ),
    _made,
)
