"""What a driver does in a call: it ends its process, holds it up, fills what there is, or breaks the interpreter."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from rooms.kind import Call, sleep

_CHILDREN, _THREADS = 50, 20
_PTRACE_SEIZE = 0x4206
MEGABYTE = 1 << 20
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER = 1, 4, 22, 36
SOCKET = 3
"""The number of the socket on which a host talks to the harness."""


def _kept_control() -> int:
    """A descriptor of the socket on which the process that imports this talks to the harness; -1 in any other."""
    with contextlib.suppress(OSError):
        end = socket.socket(fileno=os.dup(SOCKET))
        return end.detach() if end.type == socket.SOCK_SEQPACKET else -1
    return -1


_CONTROL = _kept_control()


def forges(*messages: bytes) -> Callable[[Call], object]:
    """Say something to the harness in the name of the process that starts hosts."""

    def act(call: Call) -> None:
        end = socket.socket(fileno=os.dup(_CONTROL))
        for message in messages:
            end.send(message)

    return act


def forges_and_sleeps(*messages: bytes) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        forges(*messages)(call)
        sleep()

    return act


def ends_of(serials: range) -> list[bytes]:
    return [b'{"type": "Exited", "serial": %d, "status": 11}' % serial for serial in serials]


def raises(error: BaseException) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        raise error

    return act


def signals(number: int) -> Callable[[Call], object]:
    return lambda call: signal.raise_signal(number)


def segmentation_fault(call: Call | None = None) -> None:
    ctypes.string_at(0)


def parent(number: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        os.kill(os.getppid(), number)
        sleep()

    return act


def limit_parent(limit: int, amount: int) -> Callable[[Call], object]:
    """What the parent has left is also what its next children get (prlimit(2))."""

    def act(call: Call) -> None:
        resource.prlimit(os.getppid(), limit, (amount, amount))
        os._exit(3)

    return act


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")

    __repr__ = __str__


def _child(then: Callable[[], object] = sleep) -> int:
    """Fork, and return the number of the child, which does not return."""
    number = os.fork()
    if number == 0:
        try:
            then()
        finally:
            os._exit(0)
    return number


def _in_a_session(then: Callable[[], object] = sleep) -> None:
    os.setsid()
    then()


def children(call: Call) -> None:
    for _ in range(_CHILDREN):
        _child(_in_a_session)


def children_then_exit(call: Call) -> None:
    children(call)
    os._exit(5)


def daemon_then_exit(call: Call) -> None:
    _child(lambda: _in_a_session(lambda: _child(lambda: _in_a_session(sleep))))
    os._exit(6)


def traced(then: Callable[[Call], object]) -> Callable[[Call], object]:
    """Have a daemon trace this process (ptrace), so that nobody else is told of its end; and go on with `then`."""

    def act(call: Call) -> object:
        process = os.getpid()
        reading, writing = os.pipe()

        def trace() -> None:
            ctypes.CDLL(None).ptrace(_PTRACE_SEIZE, process, None, None)
            os.write(writing, b"x")
            sleep()

        _child(lambda: _in_a_session(lambda: _child(lambda: _in_a_session(trace))))
        os.read(reading, 1)
        return then(call)

    return act


def chain(call: Call) -> None:
    def link(left: int) -> None:
        if left:
            _child(lambda: link(left - 1))
        sleep()

    _child(lambda: link(20))


def zombies(call: Call) -> None:
    for _ in range(_CHILDREN):
        _child(lambda: None)


def flooding_child(call: Call) -> None:
    def flood() -> None:
        while True:
            os.write(1, b"f" * 4096)

    _child(flood)


def spin(call: Call) -> None:
    while True:
        pass


def hold_the_interpreter(call: Call) -> None:
    ctypes.PyDLL(None).sleep(3600)


def deafen_and_sleep(call: Call) -> None:
    faulthandler.disable()
    faulthandler.unregister(signal.SIGUSR1)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    sleep()


def block_signals_and_sleep(call: Call) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    sleep()


def ignore_signals(call: Call) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)


def recurse(call: Call) -> None:
    recurse(call)


def recurse_in_c(call: Call) -> None:
    sys.setrecursionlimit(1 << 30)
    nested: list[Any] = []
    for _ in range(MEGABYTE):
        nested = [nested]
    repr(nested)


def timed(which: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        signal.setitimer(which, 0.01)
        spin(call)

    return act


def eat_memory(call: Call) -> None:
    eaten = []
    while True:
        eaten.append(bytearray(16 * MEGABYTE))


def exhaust_descriptors(call: Call) -> None:
    opened = []
    try:
        while True:
            opened.append(os.dup(0))
    finally:
        for number in opened:
            os.close(number)


def threads(call: Call) -> None:
    for _ in range(_THREADS):
        threading.Thread(target=sleep, daemon=True).start()


def threads_that_hold_exit_up(call: Call) -> None:
    threading.Thread(target=sleep, daemon=False).start()


def fail_in_a_thread(call: Call) -> None:
    thread = threading.Thread(target=lambda: dict[str, int]()["nope"])
    thread.start()
    thread.join()


def fault_in_a_thread(call: Call) -> None:
    threading.Thread(target=segmentation_fault, daemon=True).start()
    sleep()


def print(number: int, chunk: bytes) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        for _ in range(320):
            os.write(number, chunk)

    return act


def close(*numbers: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        for number in numbers:
            os.close(number)

    return act


def close_and_sleep(call: Call) -> None:
    os.close(SOCKET)
    sleep()


def close_everything(call: Call) -> None:
    os.closerange(0, 4096)
    sleep()


def shut(how: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        socket.socket(fileno=os.dup(SOCKET)).shutdown(how)
        sleep()

    return act


def move_into_the_socket(call: Call) -> None:
    os.dup2(os.open(os.devnull, os.O_RDWR), SOCKET)


def change_surroundings(call: Call) -> None:
    os.chdir("/")
    os.umask(0o777)
    os.nice(19)
    os.environ.clear()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def lose_the_folder(call: Call) -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def break_function(owner: Any, name: str) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        def broken(*arguments: object, **named: object) -> None:
            raise OSError("broken on purpose")

        setattr(owner, name, broken)

    return act


def forget_modules(call: Call) -> None:
    sys.modules.clear()


def lose_streams(call: Call) -> None:
    sys.stdout = sys.stderr = None


def kill_own_group(call: Call) -> None:
    os.killpg(0, signal.SIGKILL)


def kill_group_of_parent(call: Call) -> None:
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
    sleep()


def execute(*words: str) -> Callable[[Call], object]:
    return lambda call: os.execv(words[0], words)


def control(option: int, value: int) -> Callable[[Call], object]:
    return lambda call: ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans(call: Call) -> None:
    control(_PR_SET_CHILD_SUBREAPER, 1)(call)
    _child(lambda: _child(_in_a_session))


def become_nobody(call: Call) -> None:
    with contextlib.suppress(PermissionError):
        os.setresuid(65534, 65534, 65534)


def new_name_spaces(call: Call) -> None:
    ctypes.CDLL(None).unshare(0x20000000 | 0x00020000)  # processes, mounts
    _child(_in_a_session)


def hang_at_exit(call: Call) -> None:
    atexit.register(sleep)
