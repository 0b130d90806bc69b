"""In a call: a driver ends its process, holds it up, fills what there is, or breaks the interpreter it runs in."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import faulthandler
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from rooms.kind import SOON, Call, Kind, Verdict, sleep

_CHILDREN, _THREADS = 50, 20
_MEGABYTE = 1 << 20
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER = 1, 4, 22, 36
SOCKET = 3
"""The number of the socket on which a host talks to the harness."""


def _kept_control() -> int:
    """A descriptor of the socket on which the process that imports this talks to the harness; -1 in any other."""
    with contextlib.suppress(OSError):
        end = socket.socket(fileno=os.dup(SOCKET))
        return end.detach() if end.type == socket.SOCK_SEQPACKET else -1
    return -1


_CONTROL = _kept_control()


def _forges(*messages: bytes) -> Callable[[Call], object]:
    """Say something to the harness in the name of the process that starts hosts."""

    def act(call: Call) -> None:
        end = socket.socket(fileno=os.dup(_CONTROL))
        for message in messages:
            end.send(message)

    return act


def _forges_and_sleeps(*messages: bytes) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        _forges(*messages)(call)
        sleep()

    return act


def _ends_of(serials: range) -> list[bytes]:
    return [b'{"type": "Exited", "serial": %d, "status": 11}' % serial for serial in serials]


def _raises(error: BaseException) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        raise error

    return act


def _signals(number: int) -> Callable[[Call], object]:
    return lambda call: signal.raise_signal(number)


def _segmentation_fault(call: Call | None = None) -> None:
    ctypes.string_at(0)


def _parent(number: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        os.kill(os.getppid(), number)
        sleep()

    return act


class _Unprintable(Exception):
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


def _children(call: Call) -> None:
    for _ in range(_CHILDREN):
        _child(_in_a_session)


def _children_then_exit(call: Call) -> None:
    _children(call)
    os._exit(5)


def _daemon_then_exit(call: Call) -> None:
    _child(lambda: _in_a_session(lambda: _child(lambda: _in_a_session(sleep))))
    os._exit(6)


def _chain(call: Call) -> None:
    def link(left: int) -> None:
        if left:
            _child(lambda: link(left - 1))
        sleep()

    _child(lambda: link(20))


def _zombies(call: Call) -> None:
    for _ in range(_CHILDREN):
        _child(lambda: None)


def _flooding_child(call: Call) -> None:
    def flood() -> None:
        while True:
            os.write(1, b"f" * 4096)

    _child(flood)


def _spin(call: Call) -> None:
    while True:
        pass


def _hold_the_interpreter(call: Call) -> None:
    ctypes.PyDLL(None).sleep(3600)


def _deafen_and_sleep(call: Call) -> None:
    faulthandler.disable()
    faulthandler.unregister(signal.SIGUSR1)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    sleep()


def _block_signals_and_sleep(call: Call) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    sleep()


def _ignore_signals(call: Call) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)


def _recurse(call: Call) -> None:
    _recurse(call)


def _recurse_in_c(call: Call) -> None:
    sys.setrecursionlimit(1 << 30)
    nested: list[Any] = []
    for _ in range(_MEGABYTE):
        nested = [nested]
    repr(nested)


def _timed(which: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        signal.setitimer(which, 0.01)
        _spin(call)

    return act


def _eat_memory(call: Call) -> None:
    eaten = []
    while True:
        eaten.append(bytearray(16 * _MEGABYTE))


def _exhaust_descriptors(call: Call) -> None:
    opened = []
    try:
        while True:
            opened.append(os.dup(0))
    finally:
        for number in opened:
            os.close(number)


def _threads(call: Call) -> None:
    for _ in range(_THREADS):
        threading.Thread(target=sleep, daemon=True).start()


def _threads_that_hold_exit_up(call: Call) -> None:
    threading.Thread(target=sleep, daemon=False).start()


def _fail_in_a_thread(call: Call) -> None:
    thread = threading.Thread(target=lambda: dict[str, int]()["nope"])
    thread.start()
    thread.join()


def _fault_in_a_thread(call: Call) -> None:
    threading.Thread(target=_segmentation_fault, daemon=True).start()
    sleep()


def _print(number: int, chunk: bytes) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        for _ in range(320):
            os.write(number, chunk)

    return act


def _close(*numbers: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        for number in numbers:
            os.close(number)

    return act


def _close_and_sleep(call: Call) -> None:
    os.close(SOCKET)
    sleep()


def _close_everything(call: Call) -> None:
    os.closerange(0, 4096)
    sleep()


def _shut(how: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        socket.socket(fileno=os.dup(SOCKET)).shutdown(how)
        sleep()

    return act


def _move_into_the_socket(call: Call) -> None:
    os.dup2(os.open(os.devnull, os.O_RDWR), SOCKET)


def _change_surroundings(call: Call) -> None:
    os.chdir("/")
    os.umask(0o777)
    os.nice(19)
    os.environ.clear()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _lose_the_folder(call: Call) -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def _break(owner: Any, name: str) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        def broken(*arguments: object, **named: object) -> None:
            raise OSError("broken on purpose")

        setattr(owner, name, broken)

    return act


def _forget_modules(call: Call) -> None:
    sys.modules.clear()


def _lose_streams(call: Call) -> None:
    sys.stdout = sys.stderr = None


def _kill_own_group(call: Call) -> None:
    os.killpg(0, signal.SIGKILL)


def _kill_group_of_parent(call: Call) -> None:
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
    sleep()


def _execute(*words: str) -> Callable[[Call], object]:
    return lambda call: os.execv(words[0], words)


def _control(option: int, value: int) -> Callable[[Call], object]:
    return lambda call: ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _adopt_orphans(call: Call) -> None:
    _control(_PR_SET_CHILD_SUBREAPER, 1)(call)
    _child(lambda: _child(_in_a_session))


def _become_nobody(call: Call) -> None:
    with contextlib.suppress(PermissionError):
        os.setresuid(65534, 65534, 65534)


def _new_name_spaces(call: Call) -> None:
    ctypes.CDLL(None).unshare(0x20000000 | 0x00020000)  # processes, mounts
    _child(_in_a_session)


def _hang_at_exit(call: Call) -> None:
    atexit.register(sleep)


_LONG = RuntimeError("x" * (32 * _MEGABYTE))
_GONE, _HUNG = "the host process ", f"no answer within {SOON:g} s (host killed)"
_CALL = "a call failed"


def _hang(name: str, does: str, act: Callable[[Call], object], apart: bool = False) -> Kind:
    return Kind(name, does, "hang", _HUNG, act, SOON, apart=apart)


def _crash(name: str, does: str, how: str, act: Callable[[Call], object], apart: bool = False) -> Kind:
    return Kind(name, does, "crash", _GONE + how, act, apart=apart)


def _kind(
    name: str, does: str, verdict: Verdict, says: str, act: Callable[[Call], object], apart: bool = False
) -> Kind:
    return Kind(name, does, verdict, says, act, apart=apart)


_EXIT_70 = "exited with status 70"
_ERROR = "answered with error -32603"

KINDS = (
    _crash("abort", "calls abort()", "was killed by SIGABRT (signal 6)", lambda call: os.abort()),
    _crash("segmentation_fault", "reads address 0", "was killed by SIGSEGV", _segmentation_fault),
    _crash("bus_error", "raises SIGBUS", "was killed by SIGBUS", _signals(signal.SIGBUS)),
    _crash("kill_itself", "sends itself SIGKILL", "was killed by SIGKILL", _signals(signal.SIGKILL)),
    _crash("real_time_signal", "sends itself a signal without a name", "was killed by ", _signals(signal.SIGRTMIN + 5)),
    _crash("exit_0", "ends with status 0", "exited with status 0", lambda call: os._exit(0)),
    _crash("exit_255", "ends with status 255", "exited with status 255", lambda call: os._exit(255)),
    _crash("system_exit", "raises SystemExit", _EXIT_70, _raises(SystemExit(0))),
    _crash("keyboard_interrupt", "raises KeyboardInterrupt", _EXIT_70, _raises(KeyboardInterrupt())),
    _crash("generator_exit", "raises GeneratorExit", _EXIT_70, _raises(GeneratorExit())),
    _crash("execute_true", "becomes another program that ends", "exited with status 0", _execute("/bin/true")),
    _crash("alarm", "is ended by an alarm", "was killed by SIGALRM", _timed(signal.ITIMER_REAL)),
    _crash("virtual_alarm", "is ended by a limit of time", "was killed by SIGVTALRM", _timed(signal.ITIMER_VIRTUAL)),
    _crash("confined", "forbids itself all system calls", "was killed by SIGKILL", _control(_PR_SET_SECCOMP, 1)),
    _crash("recursion_in_c", "recurses without a limit", "was killed by SIGSEGV", _recurse_in_c),
    _crash("fault_in_a_thread", "faults in a thread", "was killed by SIGSEGV", _fault_in_a_thread),
    _crash("kill_own_group", "kills its process group", "was killed by SIGKILL", _kill_own_group, apart=True),
    _crash("children_then_exit", "leaves children in sessions of their own", "exited with status 5",
           _children_then_exit),
    _crash("daemon_then_exit", "leaves a daemon", "exited with status 6", _daemon_then_exit),
    _kind("kill_parent", "kills the process that started it", "crash", "the process that imports it has died",
          _parent(signal.SIGKILL), apart=True),
    _kind("fault_in_parent", "sends its parent SIGSEGV", "crash", "the process that imports it has died",
          _parent(signal.SIGSEGV), apart=True),
    _kind("kill_group_of_parent", "kills the group of its parent", "crash", "the process that imports it has died",
          _kill_group_of_parent, apart=True),
    _hang("stop_parent", "stops the process that started it", _parent(signal.SIGSTOP), apart=True),
    _hang("spin", "computes for ever", _spin),
    _hang("sleep", "sleeps", lambda call: sleep()),
    _hang("hold_the_interpreter", "sleeps with the interpreter's lock held", _hold_the_interpreter),
    _hang("stop_itself", "stops itself", _signals(signal.SIGSTOP)),
    _hang("ignore_all_and_sleep", "ignores every signal, and sleeps", _deafen_and_sleep),
    _hang("block_all_and_sleep", "blocks every signal, and sleeps", _block_signals_and_sleep),
    _kind("close_everything", "closes all descriptors, and sleeps", "crash", "lives on", _close_everything),
    _kind("close_socket", "closes its socket, and sleeps", "crash", "lives on",
          _close_and_sleep),
    _kind("shut_writing", "shuts its end of the socket", "crash", "lives on", _shut(socket.SHUT_WR)),
    _kind("shut_both", "shuts the socket", "crash", "lives on", _shut(socket.SHUT_RDWR)),
    _kind("execute_sleep", "becomes another program that goes on", "crash", "lives on",
          _execute("/bin/sleep", "3600")),
    _crash("lose_socket", "puts something else in the place of its socket", "exited with status 0",
           _move_into_the_socket),
    _kind("forge_garbage", "garbles what the process that starts it says", "crash", "said what is no message",
          _forges_and_sleeps(b"\xff garbage")),
    _kind("forge_failed_import", "says that it could not be imported", "crash", "said what is no message",
          _forges_and_sleeps(b'{"type": "LoadFailed", "text": "no board"}')),
    _kind("forge_end", "says that it has died", "crash", "was killed by SIGSEGV",
          _forges_and_sleeps(*_ends_of(range(400)))),
    _kind("forge_prints", "says that it has printed", "pass", "", _forges(*[b'{"type": "Printed"}'] * 50)),
    _kind("unicode_error", "raises what bad params raise as well", "fail", "UnicodeDecodeError",
          _raises(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"))),
    _kind("validation_error", "raises what bad params raise as well", "fail", "answered with error -32603",
          _raises(msgspec.ValidationError("no - at `$.model`"))),
    _kind("exception", "raises an exception", "fail", "KeyError: 'nope'", _raises(KeyError("nope"))),
    _kind("os_error", "raises an error of the system", "fail", "OSError", _raises(OSError(5, "no device"))),
    _kind("memory_error", "raises MemoryError", "fail", "MemoryError", _raises(MemoryError())),
    _kind("stop_iteration", "raises StopIteration", "fail", "StopIteration", _raises(StopIteration())),
    _kind("exception_group", "raises several exceptions", "fail", "ExceptionGroup",
          _raises(ExceptionGroup("several", [ValueError("a"), ValueError("b")]))),
    _kind("exception_without_words", "raises what cannot be printed", "fail", _ERROR, _raises(_Unprintable())),
    _kind("exception_of_32_mb", "raises with 32 MB of words", "fail", "characters more", _raises(_LONG)),
    _kind("exception_for_terminals", "raises with what a terminal obeys", "fail", "\\x1b[2J",
          _raises(RuntimeError("\x1b[2J\x1b]0;title\x07\x00\r\nline"))),
    _kind("exception_in_surrogates", "raises with half a character", "fail", _ERROR, _raises(RuntimeError("\ud800"))),
    _kind("recursion", "recurses to the limit", "fail", "RecursionError", _recurse),
    _kind("eat_memory", "takes memory without end", "fail", "MemoryError", _eat_memory),
    _kind("exhaust_descriptors", "opens all that it may", "fail", "Too many open files", _exhaust_descriptors),
    _kind("children", "starts children that stay", "pass", "", _children),
    _kind("chain_of_children", "starts a child that starts a child that ...", "pass", "", _chain),
    _kind("zombies", "leaves dead children", "pass", "", _zombies),
    _kind("flooding_child", "leaves a child that prints for ever", "pass", "", _flooding_child),
    _kind("adopt_orphans", "adopts what should be the suite's to clean up", "pass", "", _adopt_orphans),
    _kind("new_name_spaces", "starts a child in name spaces of its own", "pass", "", _new_name_spaces, apart=True),
    _kind("threads", "leaves threads that sleep", "pass", "", _threads),
    _kind("threads_that_stay", "leaves threads that hold up the end", "pass", "", _threads_that_hold_exit_up),
    _kind("fail_in_a_thread", "fails in a thread", "pass", "", _fail_in_a_thread),
    _kind("print_on_stdout", "prints 20 MB", "pass", "", _print(1, b"o" * (1 << 16))),
    _kind("print_on_stderr", "prints 20 MB of zeros on stderr", "pass", "", _print(2, bytes(1 << 16))),
    _kind("close_streams", "closes stdin, stdout and stderr", "pass", "", _close(0, 1, 2)),
    _kind("lose_streams", "has no sys.stdout", "pass", "", _lose_streams),
    _kind("ignore_signals", "ignores what asks it to end", "pass", "", _ignore_signals),
    _kind("hang_at_exit", "hangs when it should end", "pass", "", _hang_at_exit),
    _kind("change_surroundings", "changes folder, umask, priority, environment", "pass", "", _change_surroundings),
    _kind("lose_the_folder", "stands in a folder that is gone", "pass", "", _lose_the_folder),
    _kind("not_dumpable", "lets nobody look at its process", "pass", "", _control(_PR_SET_DUMPABLE, 0)),
    _kind("outlive_parent", "does not want to end with its parent", "pass", "", _control(_PR_SET_PDEATHSIG, 0)),
    Kind("become_nobody", "gives up its user", "pass", "", _become_nobody, apart=True, after="fail"),
    _kind("break_len", "breaks the interpreter's len", "crash", _GONE, _break(builtins, "len")),
    _kind("break_json", "breaks the module json", "pass", "", _break(json, "dumps")),
    _kind("break_encoder", "breaks msgspec", "pass", "", _break(msgspec.json, "encode")),
    _kind("forget_modules", "forgets all modules", "pass", "", _forget_modules),
)  # fmt: skip
