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

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import FEATURE_LEVELS, ResultCode
from npu_conformance.specs.versions import OLDEST, Version

_SECONDS = 30.0


class FoundDevice(msgspec.Struct, frozen=True):
    """A device of the library. feature_level: in the API's numbers."""

    name: str
    version: str
    feature_level: int


class Findings(msgspec.Struct, frozen=True):
    """What a library says of itself. feature_level: of the runtime. devices: in their order; none below level 3."""

    feature_level: Version
    devices: tuple[FoundDevice, ...] = ()


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


def look(runtime: Runtime) -> Findings:
    """Ask a runtime which feature level and which devices it has."""
    functions = runtime.functions()
    if "get_runtime_feature_level" in functions:
        level = version_of(runtime.get_runtime_feature_level())
    else:
        level = max((describe(Runtime)[name].mark.since for name in functions), default=OLDEST)
    return Findings(level, _devices(runtime) if "get_device_count" in functions else ())


def version_of(feature_level: int) -> Version:
    """The newest version whose feature level, in the API's numbers, is at most this one."""
    return max((version for version, number in FEATURE_LEVELS.items() if number <= feature_level), default=OLDEST)


def _devices(runtime: Runtime) -> tuple[FoundDevice, ...]:
    count = runtime.get_device_count(True)
    if count.result != ResultCode.NO_ERROR:
        raise LoadError(f"ANeuralNetworks_getDeviceCount returned {count.result}")
    return tuple(_device(runtime, runtime.get_device(index, True).handle) for index in range(count.value))


def _device(runtime: Runtime, handle: int) -> FoundDevice:
    name, version = runtime.device_get_name(handle, True).value, runtime.device_get_version(handle, True).value
    return FoundDevice(name or "", version or "", runtime.device_get_feature_level(handle, True).value)


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
