"""A device of one process of `run -n 2` that harms the run that it is a part of; the other process has an innocent one.

Options: `deed`, what it does when it is asked for its capabilities; `mark`, a file that the first one to act makes.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from vendor_plugins import FirstDay

from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_SHARED = Path("/dev/shm")


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _end_harness() -> None:
    """Kill the process that tests this one: this one's parent is started by it."""
    os.kill(_parent(os.getppid()), signal.SIGKILL)


def _end_zygote() -> None:
    """Kill the parent."""
    os.kill(os.getppid(), signal.SIGKILL)


def _remove_folders() -> None:
    """Remove the private folders of all processes of the run."""
    for folder in _SHARED.glob("npu-conformance-run-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _spoil_events() -> None:
    """Write garbage behind what the processes have recorded."""
    for events in Path.cwd().glob("**/events.jsonl"):
        with events.open("ab") as file:
            file.write(b"\xff garbage\n")


DEEDS: dict[str, Callable[[], None]] = {
    "end_harness": _end_harness,
    "end_zygote": _end_zygote,
    "remove_folders": _remove_folders,
    "spoil_events": _spoil_events,
}


class _Device(FirstDay):
    def __init__(self, deed: str, mark: str) -> None:
        self._deed = deed
        self._mark = mark

    def get_capabilities(self) -> types.Capabilities:
        try:
            os.close(os.open(self._mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().get_capabilities()
        DEEDS[self._deed]()
        return super().get_capabilities()


def _made(context: Context) -> Subject:
    return Subject(device=_Device(context.options["deed"], context.options["mark"]))


plugin = Plugin(
    Manifest(
        name="sharded",
        vendor="tests",
        version="1",
        hal_version=Version.V1_0,
        options={"deed": f"one of {', '.join(DEEDS)}", "mark": "the file of who acts"},
    ),
    _made,
)
