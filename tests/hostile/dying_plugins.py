"""Python plug-ins that fail in getType: by an exception, by a fault, by silence, in a thread; and they print.

Where nothing worse happens the answer is wrong.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

import msgspec

from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version

_PATIENCE = Deadlines(call=600.0, start=600.0)
_MANIFEST = Manifest(name="dying", vendor="tests", version="1", hal_version=Version.V1_2, deadlines=_PATIENCE)
_SOON = msgspec.structs.replace(_MANIFEST, deadlines=Deadlines(call=1.0, start=600.0))
_FRESH = msgspec.structs.replace(_SOON, restart="spawn")
_NEVER = msgspec.structs.replace(_MANIFEST, time_scale=1000.0, deadlines=Deadlines(call=3600.0, start=3600.0))


class _Dying(hal.Device):
    def __init__(self, die: Callable[[], object]) -> None:
        self._die = die

    def get_version_string(self) -> str:
        print("asked for the version")
        return "fine"

    def get_type(self) -> int:
        print("tile 3 \x1b[31m", flush=True)
        self._die()
        return 77


def raise_an_exception() -> None:
    """Raise, as a bug of a driver does."""
    dict[str, int]()["nope"]


def wait_forever() -> None:
    """Hang."""
    threading.Event().wait()


def fail_in_a_thread() -> None:
    """Let a thread of the driver end by an exception."""
    thread = threading.Thread(target=raise_an_exception)
    thread.start()
    thread.join()
    sys.stderr.flush()


def stop_the_parent() -> None:
    """Stop the process that would clean up, and hang."""
    os.kill(os.getppid(), signal.SIGSTOP)
    wait_forever()


def signal_the_group_of_the_parent() -> None:
    """Kill the group of the parent, which must not be that of the harness."""
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
    wait_forever()


def _plugin(die: Callable[[], object], manifest: Manifest = _MANIFEST) -> Plugin:
    return Plugin(manifest, lambda context: Subject(device=_Dying(die)))


raising = _plugin(raise_an_exception)
aborting = _plugin(os.abort)
hanging = _plugin(wait_forever, _SOON)
hanging_for_ever = _plugin(wait_forever, _NEVER)
hanging_fresh = _plugin(wait_forever, _FRESH)
threading_badly = _plugin(fail_in_a_thread)
stopping = _plugin(stop_the_parent, _SOON)
signalling = _plugin(signal_the_group_of_the_parent, _SOON)
