"""Where a Python plug-in comes up: while it is imported, describes itself, makes its objects; and at its end.

The environment variable ROOM_KIND says how the module named `starting_now` of this folder acts while it is imported.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.npu import manager
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version
from rooms.kind import START, Start, Verdict, sleep

VARIABLE = "ROOM_KIND"
MANIFEST = Manifest(
    name="hostile",
    vendor="tests",
    version="1",
    hal_version=Version.V1_2,
    deadlines=Deadlines(prepare=3600.0, execute=3600.0, call=3600.0, start=3600.0),
)
_CONTROL = 3
"""The number of the socket on which the process that imports a plug-in talks to the harness."""


class Device(hal.Device):
    """Answers what an innocent case asks."""

    def get_version_string(self) -> str:
        """Return what is expected."""
        return "fine"


class _Both(manager.Manager, manager.ManagerControl):
    """What two interfaces are at once."""


def _made(context: Context | None = None) -> Subject:
    return Subject(device=Device())


def _plugin(describe: Any = MANIFEST, create: Any = _made) -> Plugin:
    return Plugin(describe, create)


def _raise(error: BaseException) -> Callable[..., Any]:
    def act(*arguments: object) -> None:
        raise error

    return act


def _kill(number: int) -> Callable[..., Any]:
    return lambda *arguments: signal.raise_signal(number)


def _returns(value: object) -> Callable[..., Any]:
    return lambda *arguments: value


def _leaves_children(*arguments: object) -> Subject:
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            sleep()
    return _made()


def _leaves_threads(*arguments: object) -> Subject:
    for _ in range(50):
        threading.Thread(target=sleep, daemon=True).start()
    return _made()


def _prints(*arguments: object) -> Subject:
    for number in (1, 2):
        for _ in range(160):
            os.write(number, b"p" * (1 << 16))
    return _made()


def _says_to_harness(data: bytes) -> Callable[..., Any]:
    def act(*arguments: object) -> None:
        socket.socket(fileno=os.dup(_CONTROL)).send(data)
        sleep()

    return act


def _closes(*numbers: int) -> Callable[..., Any]:
    def act(*arguments: object) -> None:
        for number in numbers:
            os.close(number)

    return act


def _changes(*arguments: object) -> None:
    sys.path.clear()
    os.environ.clear()
    os.chdir("/")
    os.umask(0)


def _breaks_msgspec(*arguments: object) -> None:
    msgspec.json.encode = _raise(OSError("broken on purpose"))


def _is_killed_with_the_parent(*arguments: object) -> Subject:
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    return _made()


def _hangs_at_exit(*arguments: object) -> Subject:
    atexit.register(sleep)
    return _made()


def _stays_by_thread(*arguments: object) -> Subject:
    threading.Thread(target=sleep).start()
    return _made()


class _Finalised(Device):
    def __del__(self) -> None:
        sleep()


class _Lying:
    """Says that it is a plug-in."""

    __class__ = Plugin  # type: ignore[assignment]


IMPORTS: dict[str, tuple[str, Verdict, str, Callable[..., Any]]] = {
    "exception": ("raises", "refused", "RuntimeError: no board", _raise(RuntimeError("no board"))),
    "exception_for_terminals": (
        "raises what a terminal obeys",
        "refused",
        "\\x1b[2J\\n\\x00",
        _raise(RuntimeError("\x1b[2J\n\0")),
    ),
    "exception_of_8_mb": ("raises 8 MB of words", "refused", "characters more", _raise(RuntimeError("x" * (8 << 20)))),
    "import_error": ("misses a module", "refused", "no_such_module", lambda: __import__("no_such_module")),
    "syntax_error": ("is not Python", "refused", "SyntaxError", lambda: compile("plugin = (", "vendor.py", "exec")),
    "recursion": ("recurses", "refused", "RecursionError", lambda: IMPORTS["recursion"][3]()),
    "system_exit": ("raises SystemExit", "refused", "SystemExit", _raise(SystemExit(0))),
    "keyboard_interrupt": ("raises KeyboardInterrupt", "refused", "KeyboardInterrupt", _raise(KeyboardInterrupt())),
    "generator_exit": ("raises GeneratorExit", "refused", "GeneratorExit", _raise(GeneratorExit())),
    "exit": ("ends the process", "refused", "the plug-in has died: it exited with status 0", lambda: os._exit(0)),
    "abort": ("aborts", "refused", "the plug-in has died: it was killed by SIGABRT at ", os.abort),
    "segmentation_fault": ("faults", "refused", "the process that imports the plug-in has died", _kill(signal.SIGSEGV)),
    "kill": ("kills itself", "refused", "the process that imports the plug-in has died", _kill(signal.SIGKILL)),
    "sleep": ("sleeps", "refused", "no answer within", sleep),
    "stop": ("stops itself", "refused", "no answer within", _kill(signal.SIGSTOP)),
    "print": ("prints 20 MB", "pass", "", _prints),
    "close_streams": ("closes its streams", "pass", "", _closes(0, 1, 2)),
    "close_control": ("closes the socket to the harness", "refused", "has died", _closes(_CONTROL)),
    "garbage_to_harness": (
        "writes garbage to the harness",
        "refused",
        "sent something that is not a message",
        _says_to_harness(b"\xff garbage"),
    ),
    "unknown_to_harness": (
        "tells the harness what it does not know",
        "refused",
        "sent something that is not a message",
        _says_to_harness(b'{"type": "X"}'),
    ),
    "empty_to_harness": (
        "tells the harness nothing",
        "refused",
        "sent something that is not a message",
        _says_to_harness(b"{}"),
    ),
    "children": ("leaves children", "pass", "", _leaves_children),
    "threads": ("leaves threads", "pass", "", _leaves_threads),
    "change_surroundings": ("changes path, environment, folder", "pass", "", _changes),
    "break_msgspec": ("breaks msgspec", "crash", "the process that imports the plug-in has died", _breaks_msgspec),
}
"""By name: in words, the verdict, words of its line, what is done while the module is imported."""

PLUGINS: dict[str, tuple[str, Verdict, str, object]] = {
    "number": ("is a number", "refused", "is an int, not a", 3),
    "none": ("is None", "refused", "is a NoneType, not a", None),
    "liar": ("says that it is a plug-in", "refused", "_Lying", _Lying()),
    "describe_raises": ("raises while it describes itself", "refused", "RuntimeError: no words",
                        _plugin(_raise(RuntimeError("no words")))),
    "describe_exits": ("ends while it describes itself", "refused", "has died", _plugin(lambda options: os._exit(0))),
    "describe_interrupts": ("interrupts while it describes itself", "refused", "KeyboardInterrupt",
        _plugin(_raise(KeyboardInterrupt()))),
    "describe_none": ("describes itself by None", "refused", "expected a Manifest, found None",
                      _plugin(_returns(None))),
    "describe_words": ("describes itself in words", "refused", "expected a Manifest, found an object of str",
                       _plugin(_returns("a driver"))),
    "describe_sleeps": ("sleeps while it describes itself", "refused", "no answer within",
        _plugin(lambda options: sleep())),
    "create_raises": ("raises while it makes its objects", "refused", "raised RuntimeError at starting.py:",
                      _plugin(create=_raise(RuntimeError("no board")))),
    "create_exits": ("ends while it makes its objects", "refused", "exited with status 0",
                     _plugin(create=lambda context: os._exit(0))),
    "create_aborts": ("aborts while it makes its objects", "refused", "SIGABRT",
        _plugin(create=lambda context: os.abort())),
    "create_interrupts": ("interrupts while it makes its objects", "refused", "KeyboardInterrupt",
        _plugin(create=_raise(KeyboardInterrupt()))),
    "create_sleeps": ("sleeps while it makes its objects", "refused", "no answer within",
        _plugin(create=lambda context: sleep())),
    "create_none": ("makes None", "refused", "its factory returned None", _plugin(create=_returns(None))),
    "create_words": ("makes words", "refused", "its factory returned an object of str", _plugin(create=_returns("s"))),
    "create_number_for_device": ("makes a number for a device", "refused", "does not inherit from Device",
                                 _plugin(create=lambda context: Subject(device=5))),  # type: ignore[arg-type]
    "create_one_for_two": ("makes one object for two interfaces", "refused", "they need two objects",
                           _plugin(create=lambda context: Subject(manager=(one := _Both()), manager_control=one))),
    "create_nothing": ("makes no device, which it said it has", "fail", "device, which its manifest names",
                       _plugin(create=lambda context: Subject())),
    "create_and_leave_children": ("leaves children when it is made", "pass", "", _plugin(create=_leaves_children)),
    "create_and_leave_threads": ("leaves threads when it is made", "pass", "", _plugin(create=_leaves_threads)),
    "create_and_print": ("prints 20 MB when it is made", "pass", "", _plugin(create=_prints)),
    "outlive": ("does not want to end with its parent", "pass", "", _plugin(create=_is_killed_with_the_parent)),
    "hang_at_exit": ("hangs when it should end", "pass", "", _plugin(create=_hangs_at_exit)),
    "stay_by_thread": ("keeps a thread that holds up the end", "pass", "", _plugin(create=_stays_by_thread)),
    "hang_in_finaliser": ("hangs when its objects are dropped", "pass", "",
                          _plugin(create=lambda context: Subject(device=_Finalised()))),
}  # fmt: skip
"""The same, with what the module has as its plug-in."""


def starts() -> dict[str, Start]:
    """The kinds of this room."""
    found = {}
    for room, table in (("import", IMPORTS), ("make", PLUGINS)):
        for name, (does, verdict, says, _) in table.items():
            waits = says == "no answer within"
            found[f"{room}.{name}"] = Start(name, does, verdict, says, seconds=START if waits else 3600.0)
    return found
