"""Looks at a library in a process of its own: `python -m npu_conformance.adapters.nnapi_c.probe PATH PARENT`.

What it finds goes into the manifest. The process that asks never loads the library: the hosts are forked from it, and
threads that a library has started would be missing in them. The process ends with the one that asks, PARENT.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys

import msgspec

from npu_conformance.adapters.runtime_device.devices import Findings, look
from npu_conformance.harness.python_processes import environment, python
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.specs.diagnostics import last_words
from npu_conformance.specs.diagnostics.signal_name import signal_name
from npu_conformance.specs.forked import ends_with

_SECONDS = 30.0
_REFUSED = 1
"""The status of a look that found a reason why the library cannot be used."""
_LAST_WORDS, _LONGEST_LINE = 3, 200


@functools.cache
def probe(path: str) -> Findings:
    """Look at a library. Raises LoadError, one line, where it cannot be used or dies of being asked."""
    command = python("-m", __name__, path, str(os.getpid()))
    try:
        ended = subprocess.run(command, env=environment(), capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise LoadError(f"plug-in {path}: it did not say which devices it has within {_SECONDS:.0f} seconds") from None
    if ended.returncode == _REFUSED and ended.stdout:
        raise LoadError(ended.stdout.decode())
    if ended.returncode == 0:
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(ended.stdout, type=Findings)
    raise LoadError(f"plug-in {path}: it {_ending(ended)}")


def _ending(ended: subprocess.CompletedProcess[bytes]) -> str:
    """How a library has ended the process that looked at it, and what it said last, in one line."""
    code, stderr = ended.returncode, ended.stderr.decode(errors="replace")
    words = [line[:_LONGEST_LINE] for line in last_words.telling(stderr, _LAST_WORDS)]
    how = f"died of {signal_name(-code)}" if code < 0 else f"ended with status {code}"
    said = f", and said: {' | '.join(words)}" if words else ""
    return f"{how} when it was loaded and asked for its devices{said}"


def main(path: str) -> int:
    """Write what is found as JSON to standard output, or the reason why the library cannot be used, and return 1.

    What the library prints itself, also as it is unloaded, goes to standard error.
    """
    output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        from npu_conformance.adapters.nnapi_c.library import Library
        from npu_conformance.adapters.nnapi_c.runtime import LibraryRuntime

        memory = HostMemory()
        found = look(LibraryRuntime(Library(path), memory, memory))
    except LoadError as error:
        _write(output, str(error).encode())
        return _REFUSED
    _write(output, msgspec.json.encode(found))
    return 0


def _write(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if ends_with(int(sys.argv[2])) else _REFUSED)
