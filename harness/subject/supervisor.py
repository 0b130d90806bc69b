"""The harness's end of the zygote: starts hosts, detects their death, says how they ended."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

import msgspec

from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.python_processes import python
from npu_conformance.harness.subject.holdings import children_of
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.stack_signal import STACK_SIGNAL
from npu_conformance.harness.subject.zygote import (
    CONTROL_DESCRIPTOR,
    PACKET_LIMIT,
    TAIL_LIMIT,
    Exited,
    Kill,
    Load,
    Loaded,
    LoadFailed,
    Printed,
    Read,
    Start,
)
from npu_conformance.harness.wire import strangers_descriptors
from npu_conformance.specs.diagnostics import last_words, stacks
from npu_conformance.specs.diagnostics.signal_name import how_it_ended

_PROGRAM = "from npu_conformance.harness.subject.zygote import main; main()"
_GRACE_SECONDS = 0.5
_LIMIT_SECONDS = 10.0
_STACK_SECONDS = _REAPING_SECONDS = 2.0
_SHOWN_LINES = 3
_DIED, _KILLED = "has died", "does not react (killed)"
_OUTPUT_LIMIT = 1 << 14
"""Bytes that are kept of what a plug-in prints while it is imported."""
_READ = msgspec.json.encode(Read())
_DECODER = msgspec.json.Decoder(Loaded | Printed | Exited | LoadFailed)


class Supervisor:
    """One zygote. `start` returns the harness's end of a new host's socket."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._serial = 0
        self._exited: Exited | None = None
        self._killed_by_us = ""
        """Why the newest host was killed from here; empty where it was not."""
        self._printed = Printed()
        self._own_words = Printed()
        """What the newest host has printed, of all that."""
        self._reads = 0
        """How many answers to Read are to come."""
        self._output = b""
        self._fate = _DIED
        self._is_loaded = False
        self.gone = False
        """True where the zygote itself has died, and with it the host."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PACKET_LIMIT)
        self._output_pipe, write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._output_pipe, False)
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._control = ours
        try:
            self._pid = _spawn(theirs.fileno(), write_end)
        except LoadError:
            ours.close()
            os.close(self._output_pipe)
            raise
        finally:
            theirs.close()
            os.close(write_end)
        self._control.send(msgspec.json.encode(load))

    def start(self) -> socket.socket:
        """Start a host; one that still runs is killed first. The host may still be importing when this returns."""
        self._take_all()  # whatever was said before is not about this host
        self._serial += 1
        self._exited = None
        self._killed_by_us = ""
        self._own_words = Printed()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                packet = msgspec.json.encode(Start(self._serial))
                socket.send_fds(self._control, [packet], [theirs.fileno()])
            except OSError:
                ours.close()
                self._poll_control()  # it may have said why before it ended
                raise LoadError(f"plug-in {self._load.spec}: {self._zygote_gone()}") from None
        return ours

    def has_ended(self) -> bool:
        """True where the host is known to be dead. Raises LoadError where the plug-in could not be loaded."""
        self._drain_output()
        self._poll_control()
        return self._exited is not None

    def process(self) -> int:
        """Number of the host's process, the zygote's only child; 0 where there is none or the kernel does not tell.

        While the plug-in is imported it is the zygote's.
        """
        self._poll_control()
        if not self._is_loaded and self._exited is None:
            return self._pid
        children = children_of(self._pid)
        return children[0] if children else 0

    def kill(self, *, with_stacks: bool = False) -> str:
        """Kill the host, with everything it has started, and return its own standard error since `forget_printed`.

        with_stacks: a Python host may first write where its threads are, and a zygote where its import is.
        """
        self._poll_control()
        if self._exited is None and not self._is_loaded:
            return self._kill_importing(with_stacks=with_stacks)
        if self._exited is None:
            self._killed_by_us = "it had not answered rightly"
            with contextlib.suppress(OSError):
                self._control.send(msgspec.json.encode(Kill(with_stacks)))
            if self._wait_exited(_LIMIT_SECONDS) is None:
                self._give_up()
        return _readable(self._own_words.stderr)

    def _kill_importing(self, *, with_stacks: bool) -> str:
        """End a zygote whose import does not end, and return what it has printed: it has no host, and obeys nobody."""
        if with_stacks:
            os.kill(self._pid, STACK_SIGNAL)
            self._wait(lambda: self.gone, _STACK_SECONDS)
        if not self.gone:
            self._give_up()
        self._drain_output()
        return _readable(self._output)

    def _give_up(self) -> None:
        """End a zygote that does not react, as one that a host has stopped; the hosts die with it."""
        os.kill(self._pid, signal.SIGKILL)
        self._fate = _KILLED if self._fate == _DIED else self._fate
        self.gone = True
        self._exited = Exited(self._serial, signal.SIGKILL)

    def forget_printed(self) -> None:
        """What hosts print counts from here on."""
        self._read_printed()
        self._printed = self._own_words = Printed()

    def printed(self) -> tuple[str, str]:
        """The end of what hosts have printed since `forget_printed`, on standard output and on standard error."""
        if self._exited is None:
            self._read_printed()
        return _readable(self._printed.stdout), _readable(self._printed.stderr)

    def _read_printed(self) -> None:
        """Take in what the host has printed until now. A zygote that has died has nothing to tell."""
        with contextlib.suppress(OSError):
            self._control.send(_READ)
            self._reads += 1
            self._wait(lambda: self._reads == 0 or self.gone, _LIMIT_SECONDS)
            if self._reads and not self.gone:
                self._give_up()

    def crash(self, problem: Exception, doing: str) -> Crashed:
        """The verdict on a host whose connection has ended: how the process died, and its last words."""
        exited = self._wait_exited(_GRACE_SECONDS)
        if exited is not None and exited.status == signal.SIGKILL and self._killed_by_us:
            return Crashed(f"{doing}: the suite had killed the host process: {self._killed_by_us}")
        if self.gone:
            return Crashed(f"{doing}: {self._zygote_gone()}", signal.SIGKILL)
        if exited is None:
            # On a busy machine it may have ended, and nobody has looked yet: then the signal comes too late.
            stderr, exited = self.kill(), self._exited
            if exited is None or exited.status == signal.SIGKILL:
                self._killed_by_us = f"{doing}: {problem}"
                return Crashed(f"{doing}: {problem}, but the host process lives on (killed)", 0, stderr)
        number = exited.status & 0x7F
        how = how_it_ended(os.waitstatus_to_exitcode(exited.status)) + (f" (signal {number})" if number else "")
        half = f" ({problem})" if "half a line" in str(problem) else ""
        words, stack = stacks.split(_readable(self._own_words.stderr))
        said = last_words.of_death(words, exited.status)
        place = stacks.place(stack) or (said.place if said else "")
        where = f" at {place}" if place else ""
        shown = f"; last stderr: {said.what}" if said else _last_lines(words)
        message = f"{doing}: the host process {how}{where}{half}{shown}"
        return Crashed(message, number, words, stack, said.cause if said else "")

    def close(self) -> None:
        """End the zygote, the host, and everything they own."""
        with contextlib.suppress(LoadError):
            self._take_all()
        strangers_descriptors.close_socket(self._control)
        if self._serial == 0:
            os.kill(self._pid, signal.SIGKILL)  # no host to clean up behind: it need not finish its import
        if not self._is_reaped_within(_REAPING_SECONDS if self.gone else _LIMIT_SECONDS):
            os.kill(self._pid, signal.SIGKILL)
            # Whoever traces it (ptrace) keeps its end from us: then it stays a zombie.
            self._is_reaped_within(_REAPING_SECONDS)
        os.close(self._output_pipe)

    def _is_reaped_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def _wait_exited(self, seconds: float) -> Exited | None:
        self._wait(lambda: self._exited is not None, seconds)
        return self._exited

    def _wait(self, predicate: Callable[[], bool], seconds: float) -> None:
        """Take what the zygote tells until the predicate holds, or the time is over."""
        deadline = time.monotonic() + seconds
        while not predicate() and (left := deadline - time.monotonic()) > 0:
            self._control.settimeout(left)
            try:
                self._take(self._receive(0))
            except TimeoutError:
                break
            finally:
                self._control.settimeout(None)

    def _take_all(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while not self.gone:
                self._take(self._receive(socket.MSG_DONTWAIT))

    def _poll_control(self) -> None:
        while self._exited is None:
            try:
                self._take(self._receive(socket.MSG_DONTWAIT))
            except BlockingIOError:
                return

    def _receive(self, flags: int) -> bytes:
        try:
            return self._receive_packet(flags)
        except ConnectionResetError:
            # The zygote died with packets unread. The error is reported once; what it had sent is still there.
            return self._receive_packet(flags)

    def _receive_packet(self, flags: int) -> bytes:
        packet, descriptors = strangers_descriptors.receive(self._control, PACKET_LIMIT, flags)
        strangers_descriptors.close_all(descriptors)  # the zygote sends none: a driver has found its socket
        return packet

    def _take(self, packet: bytes) -> None:
        if not packet:
            self.gone = True
            self._exited = Exited(self._serial, signal.SIGKILL)
            return
        try:
            message = _DECODER.decode(packet)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = None
        if message is None or (self._is_loaded and isinstance(message, LoadFailed)):
            # The plug-in shares processes with what talks to us, and has written there.
            self._fate = "sent something that is not a message"
            self._give_up()
            return
        if isinstance(message, LoadFailed):
            raise LoadError(message.text)
        self._is_loaded = True
        if isinstance(message, Loaded):
            return
        if isinstance(message, Printed):
            self._reads = max(0, self._reads - 1)
            self._keep(message)
            return
        # A host that a restart has replaced may be reported late.
        is_newest = message.serial == self._serial
        self._keep(message.printed, is_newest=is_newest)
        if is_newest:
            self._exited = message

    def _keep(self, printed: Printed, *, is_newest: bool = True) -> None:
        if printed.stdout or printed.stderr:
            self._printed = _joined(self._printed, printed)
            if is_newest:
                self._own_words = _joined(self._own_words, printed)

    def _drain_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._output_pipe, 1 << 16):
                self._output = (self._output + data)[-_OUTPUT_LIMIT:]

    def _zygote_gone(self) -> str:
        """Why there is no process any more that could start hosts, as far as it is known."""
        self._drain_output()
        words, stack = stacks.split(_readable(self._output))
        place = stacks.place(stack)
        told = f"{self._fate}{self._how_it_died()}{f' at {place}' if place else ''}"
        return f"the process that imports the plug-in {told}{_last_lines(words)}"

    def _how_it_died(self) -> str:
        """How a process ended that nobody here has killed; empty where it lives on, without its socket."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._fate == _DIED and time.monotonic() < deadline:
            ended = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
                return f": it {how_it_ended(code)}"
            time.sleep(0.001)
        return ""


def _spawn(control: int, output: int) -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    actions = [
        (os.POSIX_SPAWN_DUP2, null, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
        (os.POSIX_SPAWN_DUP2, control, CONTROL_DESCRIPTOR),
    ]
    try:
        if control == CONTROL_DESCRIPTOR:
            # dup2 onto itself would leave close-on-exec set.
            os.set_inheritable(control, True)
        command = python("-c", _PROGRAM)
        # A group of its own: what a host sends to the group of its parent does not reach the harness.
        return os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)
    except OSError as error:
        limit = " (ulimit -u, or a limit of the container)" if error.errno == errno.EAGAIN else ""
        raise LoadError(f"no process can be started for the plug-in: {error.strerror}{limit}") from None
    finally:
        os.close(null)


def _joined(before: Printed, after: Printed) -> Printed:
    stdout, stderr = before.stdout + after.stdout, before.stderr + after.stderr
    return Printed(stdout[-TAIL_LIMIT:], stderr[-TAIL_LIMIT:])


def _readable(printed: bytes) -> str:
    return stacks.printable(printed.decode(errors="replace"))


def _last_lines(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return f"; last stderr: {' | '.join(lines[-_SHOWN_LINES:])}" if lines else ""
