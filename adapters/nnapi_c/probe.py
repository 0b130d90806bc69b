"""Looks at a library in a process of its own: `python -m npu_conformance.adapters.nnapi_c.probe PATH`.

What it finds goes into the manifest. The process that asks never loads the library: the hosts are forked from it, and
threads that a library has started would be missing in them.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys

import msgspec

from npu_conformance.adapters.runtime_device.devices import Findings, look
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.wire.memory import HostMemory

_SECONDS = 30.0


@functools.cache
def probe(path: str) -> Findings:
    """Look at a library. Raises LoadError, one line, where it cannot be used or dies of being asked."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-m", __name__, path]
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise LoadError(f"plug-in {path}: it did not say which devices it has within {_SECONDS:.0f} seconds") from None
    if ended.returncode < 0:
        name = signal.Signals(-ended.returncode).name
        raise LoadError(f"plug-in {path}: it died of {name} when it was loaded and asked for its devices")
    if ended.returncode:
        raise LoadError(ended.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return msgspec.json.decode(ended.stdout.rstrip().rpartition(b"\n")[2], type=Findings)


def main(path: str) -> int:
    """Print what is found as one line of JSON; 1 and the reason on standard error where the library cannot be used."""
    try:
        from npu_conformance.adapters.nnapi_c.library import Library
        from npu_conformance.adapters.nnapi_c.runtime import LibraryRuntime

        memory = HostMemory()
        found = look(LibraryRuntime(Library(path), memory, memory))
    except LoadError as error:
        print(error, file=sys.stderr)
        return 1
    print(msgspec.json.encode(found).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
