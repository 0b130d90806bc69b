"""The parent of the hosts: imports the plug-in once, forks a host per start, reports how it ended, cleans up.

A process of its own, started by the supervisor. Its control socket (SOCK_SEQPACKET, one JSON object a packet) is
inherited as descriptor 3. It drains what a host prints, so that a flood neither blocks the host nor fills memory. When
the control socket closes, however the harness ended, it kills everything below it and removes the private directory.

harness -> zygote: Load, then Start with the host's socket, Read, Kill.
zygote -> harness: Loaded or LoadFailed, then Printed (for each Read), Exited.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, NoReturn

import msgspec

from npu_conformance.harness.python_processes import environment, python
from npu_conformance.harness.subject.reaping import kill_orphans, reaped
from npu_conformance.harness.subject.stack_signal import STACK_SIGNAL, tell_stacks
from npu_conformance.specs.forked import end_with_parent, keep_nice, process_control

if TYPE_CHECKING:
    from npu_conformance.specs.plugin import Plugin

CONTROL_DESCRIPTOR = 3
PACKET_LIMIT = 1 << 18
TAIL_LIMIT = 1 << 16
"""Bytes of each of a host's streams that are kept: two of them in base64 fit into a packet."""
_STACK_SECONDS = 2.0
_PR_SET_CHILD_SUBREAPER = 36
_PIPE_READ = 1 << 16
_LIMITS = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))


class Load(msgspec.Struct, frozen=True, tag=True):
    """What to run: a Python plug-in, or (where set) a command.

    path: the harness's sys.path, as the bytes that name files: it may have names that are no text in this locale.
    """

    spec: str
    command: tuple[str, ...]
    options: dict[str, str]
    version: str | None
    directory: str
    path: tuple[bytes, ...]


class Start(msgspec.Struct, frozen=True, tag=True):
    """Start a host on the socket that comes with the packet."""

    serial: int


class Read(msgspec.Struct, frozen=True, tag=True):
    """Send what the host has printed since the last Read."""


class Kill(msgspec.Struct, frozen=True, tag=True):
    """Kill the host. with_stacks: a Python host first writes to its standard error where its threads are."""

    with_stacks: bool = False


class Printed(msgspec.Struct, frozen=True, tag=True):
    """The last bytes of what the host has printed on each of its streams."""

    stdout: bytes = b""
    stderr: bytes = b""


class Exited(msgspec.Struct, frozen=True, tag=True):
    """A host is gone, with everything it had started. status: as waitpid's; printed: since the last Read."""

    serial: int
    status: int
    printed: Printed = Printed()


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """The plug-in is imported: from now on the zygote obeys."""


_LOADED = msgspec.json.encode(Loaded())
"""Made before a plug-in is imported, which may do anything to this process."""


class LoadFailed(msgspec.Struct, frozen=True, tag=True):
    """The plug-in cannot be loaded: one line."""

    text: str


class _Tail:
    """The read end of a host's pipe, and the last bytes that came through it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._kept = b""

    def drain(self) -> bool:
        """Read what is there; false at the end."""
        return self._read() != b""

    def take(self) -> bytes:
        """Read what is left in the pipe, bounded; return what was kept, and forget it."""
        for _ in range(64):
            if not self._read():
                break
        taken, self._kept = self._kept, b""
        return taken

    def _read(self) -> bytes | None:
        """Read once; empty at the end, None where nothing is there yet."""
        try:
            data = os.read(self.descriptor, _PIPE_READ)
        except BlockingIOError:
            return None
        self._kept = (self._kept + data)[-TAIL_LIMIT:]
        return data


class _Host:
    def __init__(self, serial: int, pid: int, tails: tuple[_Tail, _Tail]) -> None:
        self.serial = serial
        self.pid = pid
        self.tails = tails
        self.process = os.pidfd_open(pid)

    def take_printed(self) -> Printed:
        """What it has printed since the last time."""
        return Printed(*(tail.take() for tail in self.tails))


class _Program(msgspec.Struct, frozen=True):
    """What each host runs: a plug-in that is imported here, or a command. options: of the plug-in."""

    load: Load
    options: dict[str, str]
    plugin: Plugin | None
    executes: bool
    """True where a host does not go on from here, but becomes another program."""

    def run(self) -> None:
        """Be the host. Its socket is CONTROL_DESCRIPTOR."""
        if self.executes:
            self._execute()
        else:
            self._serve()

    def _serve(self) -> None:
        from npu_conformance.harness.subject.host import limit_memory, serve_connection

        assert self.plugin is not None
        limit_memory(self.plugin.describe(self.options).memory_limit)
        connection = socket.socket(fileno=CONTROL_DESCRIPTOR)
        serve_connection(connection, self.plugin, self.options, self.load.directory)

    def _execute(self) -> None:
        command = list(self.load.command)
        variables = dict(os.environ) if command else environment()
        # The variable's name is the wire protocol's; importing it from there would load what a command never needs.
        variables["NPU_CONFORMANCE_FD"] = str(CONTROL_DESCRIPTOR)
        if not command:
            options = [f"--plugin-option={name}={value}" for name, value in self.options.items()]
            served = [self.load.spec, "--inherited", self.load.directory]
            command = python("-m", "npu_conformance.harness.subject.serve", *served, *options)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(command[0], command, variables)


def _imported(load: Load) -> _Program:
    """Import the plug-in. Raises LoadError."""
    from npu_conformance.harness.subject import host  # noqa: F401  imported here once, for every host
    from npu_conformance.harness.subject.plugin_loading import load_plugin, manifest_of, with_version
    from npu_conformance.specs.versions import Version

    plugin = load_plugin(load.spec)
    version = Version(load.version) if load.version else None
    options = with_version(plugin, load.spec, dict(load.options), version)
    manifest = manifest_of(plugin, load.spec, options)
    return _Program(load, options, plugin, executes=manifest.restart == "spawn")


class Zygote:
    """The loop: one host at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._decoder = msgspec.json.Decoder(Load | Start | Read | Kill)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._host: _Host | None = None

    def run(self) -> None:
        """Serve until the harness is gone, or a host has changed what the next ones inherit."""
        load = self._receive()[0]
        if not isinstance(load, Load):
            return
        try:
            program = self._program(load)
            if program is not None:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self._control.send(_LOADED)
                self._loop(program)
        finally:
            self._end_host()
            from npu_conformance.harness.subject.private_files import remove_directory

            remove_directory(load.directory)

    def _program(self, load: Load) -> _Program | None:
        """What the hosts run; None where it cannot be loaded, and the harness has been told so."""
        sys.path[:] = map(os.fsdecode, load.path)
        if load.command:
            program = _Program(load, load.options, None, executes=True)
        else:
            from npu_conformance.harness.subject.plugin_loading import LoadError

            try:
                program = _imported(load)
            except LoadError as error:
                self._send(LoadFailed(str(error)))
                return None
        _silence()
        process_control(_PR_SET_CHILD_SUBREAPER, 1)
        gc.collect()
        gc.freeze()
        return program

    def _loop(self, program: _Program) -> None:
        legacy = _legacy()
        while True:
            ready = [descriptor for descriptor, _ in self._poll.poll()]
            # A command and a death close descriptors, whose numbers may then be a new host's: poll again after each.
            if self._control.fileno() in ready:
                message, descriptors = self._receive()
                if message is None or (isinstance(message, Start) and _legacy() != legacy):
                    return
                self._obey(program, message, descriptors)
            elif self._host is not None and self._host.process in ready:
                self._end_host()
            else:
                self._drain(ready)

    def _obey(self, program: _Program, message: Load | Start | Read | Kill, descriptors: list[int]) -> None:
        if isinstance(message, Read):
            self._send(Printed() if self._host is None else self._host.take_printed())
        elif isinstance(message, Kill):
            if message.with_stacks and program.plugin is not None and self._host is not None:
                self._await_stacks(self._host)
            self._end_host()
        elif isinstance(message, Start) and len(descriptors) == 1:
            self._end_host()
            self._start(program, message.serial, descriptors[0])

    def _await_stacks(self, host: _Host) -> None:
        """Ask a Python host for its stacks; it ends when it has written them, or is killed later as any other."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(host.pid, STACK_SIGNAL)
        deadline = time.monotonic() + _STACK_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            ready = [descriptor for descriptor, _ in self._poll.poll(left * 1000)]
            if host.process in ready or self._control.fileno() in ready:
                return
            self._drain(ready)

    def _drain(self, ready: list[int]) -> None:
        for tail in self._host.tails if self._host is not None else ():
            if tail.descriptor in ready and not tail.drain():
                self._poll.unregister(tail.descriptor)

    def _start(self, program: _Program, serial: int, host_socket: int) -> None:
        out, err = _pipe(), _pipe()
        pid = os.fork()
        if pid == 0:
            _become_host(program, host_socket, out[1], err[1])
        for descriptor in (out[1], err[1], host_socket):
            os.close(descriptor)
        self._host = _Host(serial, pid, (_Tail(out[0]), _Tail(err[0])))
        for descriptor in (out[0], err[0], self._host.process):
            self._poll.register(descriptor, select.POLLIN)

    def _end_host(self) -> None:
        """Kill the host with everything it has started; report how it had ended."""
        host, self._host = self._host, None
        if host is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(host.pid, signal.SIGKILL)
        # Between fork and setsid the host has no group of its own yet.
        with contextlib.suppress(ProcessLookupError):
            os.kill(host.pid, signal.SIGKILL)
        status = reaped(host.pid)
        kill_orphans()
        for descriptor in (*(tail.descriptor for tail in host.tails), host.process):
            with contextlib.suppress(KeyError):
                self._poll.unregister(descriptor)
        printed = host.take_printed()
        for descriptor in (*(tail.descriptor for tail in host.tails), host.process):
            os.close(descriptor)
        self._send(Exited(host.serial, status, printed))

    def _receive(self) -> tuple[Load | Start | Read | Kill | None, list[int]]:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, PACKET_LIMIT, 4, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            return None, []
        return (self._decoder.decode(data), descriptors) if data else (None, [])

    def _send(self, message: Loaded | Printed | Exited | LoadFailed) -> None:
        # The harness may be gone: then the next receive ends the loop.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(msgspec.json.encode(message))


def _legacy() -> tuple[object, ...]:
    """What hosts inherit of this process that any of them could have changed, as with prlimit(2)."""
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in _LIMITS}
    return limits, os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)


def _become_host(program: _Program, host_socket: int, out: int, err: int) -> NoReturn:
    status = 70
    try:
        os.setsid()
        keep_nice()
        end_with_parent()
        if os.getppid() == 1:
            os._exit(0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.dup2(host_socket, CONTROL_DESCRIPTOR, inheritable=program.executes)
        os.close(host_socket)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        program.run()
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _pipe() -> tuple[int, int]:
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read_end, False)
    return read_end, write_end


def _silence() -> None:
    """Send what this process prints nowhere: from here on only hosts have something to say."""
    sys.stdout.flush()
    sys.stderr.flush()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def main() -> None:
    """Run on the inherited control socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_inheritable(CONTROL_DESCRIPTOR, False)
    tell_stacks()  # of an import that does not end, or ends the process
    Zygote(socket.socket(fileno=CONTROL_DESCRIPTOR)).run()
