"""`python -m MODULE` and `python -c CODE` in processes that begin warm: forks of one that has imported what they need.

A test that needs a process, and not a cold start, saves most of its time so. Tests of the start itself (closed streams,
what is imported when, another installation) start theirs with subprocess.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

import msgspec
import pytest
from _pytest.config import default_plugins
from patience import SECONDS

_PACKET = 1 << 20
_IMPORTED = (
    *("numpy", "jinja2", "execnet", "pdb", "_hypothesis_pytestplugin"),  # not xdist, which keeps the path that it finds
    *(f"_pytest.{name}" for name in default_plugins),
    *("npu_conformance.adapters.reference", "npu_conformance.cli.main", "npu_conformance.cli.commands._running"),
    *(f"npu_conformance.cli.commands.{name}" for name in ("check", "list", "replay", "report", "run")),
    *(f"npu_conformance.harness.pytest_plugin.{name}" for name in ("adapter", "reporting", "workers")),
    *(f"npu_conformance.harness.report.{name}" for name in ("junit", "page", "writing")),
    *(f"npu_conformance.harness.subject.{name}" for name in ("host", "inprocess", "remote")),
    *(f"npu_conformance.{suite}" for suite in ("cts", "fuzz", "mlts", "vts", "vts.queries", "vts.validation")),
)


class _Start(msgspec.Struct):
    """What to run, and where. Its standard streams come with it, and the socket that hears number and exit code."""

    words: tuple[str, ...]
    folder: str
    environment: dict[str, str]


class Process:
    """What `subprocess.Popen([sys.executable, *words], text=True, ...)` is, as far as tests need it."""

    def __init__(self, server: socket.socket, start: _Start, stdout: int) -> None:
        """stdout: a descriptor to write to, or subprocess.PIPE. Standard error can be read from `stderr`."""
        self._told, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out_reader, out = os.pipe() if stdout == subprocess.PIPE else (os.open(os.devnull, os.O_RDONLY), os.dup(stdout))
        errors_reader, errors = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        socket.send_fds(server, [msgspec.json.encode(start)], [nothing, out, errors, theirs.fileno()])
        theirs.close()
        for descriptor in (nothing, out, errors):
            os.close(descriptor)
        self.stdout, self.stderr = (os.fdopen(each, errors="replace") for each in (out_reader, errors_reader))
        self.pid = int(self._told.recv(_PACKET))
        self.returncode: int | None = None
        weakref.finalize(self, _close, self._told, self.stdout, self.stderr)  # of a process that nobody waits for

    def poll(self) -> int | None:
        """The exit code, None before the end."""
        return self.wait(0) if select.select([self._told], [], [], 0)[0] or self.returncode is not None else None

    def wait(self, seconds: float = SECONDS) -> int:
        """Wait for the end; return the exit code."""
        if self.returncode is None:
            self._told.settimeout(seconds or None)
            self.returncode = int(self._told.recv(_PACKET))
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self) -> tuple[str, str]:
        """Return what it has written, when it has ended."""
        with self.stdout, self.stderr, ThreadPoolExecutor(1) as reader:
            errors = reader.submit(self.stderr.read)
            told = self.stdout.read(), errors.result()
        self.wait()
        return told


def _close(*ends: socket.socket | TextIO) -> None:
    for end in ends:
        end.close()


def start(
    *words: str,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    installed: Path | None = None,
) -> Process:
    """Start a Python with these words, the first of which is -m or -c.

    installed: where the suite is imported from, beside what the environment says; None for this one.
    """
    started = _Start(words, str(cwd or Path.cwd()), dict(os.environ if env is None else env))
    return Process(_server(installed), started, stdout)


def run(
    *words: str,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    installed: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """What `subprocess.run([sys.executable, *words], capture_output=True, text=True)` returns. The rest as of start."""
    process = start(*words, cwd=cwd, env=env, stdout=stdout, installed=installed)
    told = process.communicate()
    return subprocess.CompletedProcess([sys.executable, *words], process.wait(), *told)


def run_pytest(*arguments: str) -> pytest.RunResult:
    """What `pytester.runpytest_subprocess(*arguments)` returns."""
    began = time.monotonic()
    done = run("-m", "pytest", *arguments)
    print(done.stdout, done.stderr, sep="\n")  # for whoever reads why a test failed
    lines = (done.stdout.splitlines(), done.stderr.splitlines())
    return pytest.RunResult(done.returncode, *lines, time.monotonic() - began)


@functools.cache
def _server(installed: Path | None) -> socket.socket:
    """The connection to the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # OpenBLAS alone would start threads, and what has threads had better not fork.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if installed is not None:
        environment["PYTHONPATH"] = str(installed)
    words = [sys.executable, __file__, str(theirs.fileno())]
    process = subprocess.Popen(words, env=environment, pass_fds=[theirs.fileno()], cwd="/")
    theirs.close()
    atexit.register(_end, ours, process)
    return ours


def _end(connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
    connection.close()
    process.wait()


class _Server:
    """Forks for each request, and tells of each end."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._running: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> _Start:
        """Return in the processes that are to run something; the server itself ends with its client."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._running:
                    self._tell_end(descriptor)
                elif (started := self._take()) is not None:
                    return started

    def _take(self) -> _Start | None:
        packet, descriptors, _, _ = socket.recv_fds(self._requests, _PACKET, 4)
        if not packet:
            os._exit(0)
        number = os.fork()
        if number == 0:
            self._leave(descriptors)
            return msgspec.json.decode(packet, type=_Start)
        answers = socket.socket(fileno=descriptors.pop())
        answers.send(str(number).encode())
        for descriptor in descriptors:
            os.close(descriptor)
        ends = os.pidfd_open(number)
        self._poll.register(ends, select.POLLIN)
        self._running[ends] = number, answers
        return None

    def _leave(self, descriptors: Sequence[int]) -> None:
        """Keep nothing of the server's, and the streams as standard streams."""
        self._requests.close()
        for ends, (_, answers) in self._running.items():
            os.close(ends)
            answers.close()
        for standard, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, standard)
        for descriptor in descriptors:
            os.close(descriptor)

    def _tell_end(self, ends: int) -> None:
        number, answers = self._running.pop(ends)
        self._poll.unregister(ends)
        os.close(ends)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        with answers:
            if select.select([answers], [], [], 0)[0]:
                return  # nobody waits any more
            answers.send(str(code).encode())


def _become(started: _Start, path: Sequence[str]) -> None:
    """Run the words as a Python that has just been started with them."""
    signal.alarm(int(SECONDS))  # only what hangs is still there then
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what nohup starts ignores it
    os.environ.clear()
    os.environ.update(started.environment)
    os.chdir(started.folder)
    kind, program, *words = started.words
    if program == "pytest":
        words += ["-W", "ignore:Module already imported"]  # so it is: what it asserts is not explained, and nobody asks
    sys.path[:] = ["" if kind == "-c" else started.folder, *_python_path(started.environment), *path]
    sys.argv[:] = [kind, *words]
    if kind == "-c":
        exec(program, {"__name__": "__main__"})
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


def _python_path(environment: Mapping[str, str]) -> list[str]:
    return [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _main() -> None:
    for name in _IMPORTED:
        with contextlib.suppress(ImportError):  # whoever needs it will say so
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    of_python = sys.path[1 + len(_python_path(os.environ)) :]
    _become(_Server(socket.socket(fileno=int(sys.argv[1]))).serve(), of_python)


if __name__ == "__main__":
    _main()
