"""What a process may do that runs a foreign specification file.

Four walls, none of which trusts the others:

- Limits of the kernel (`limit`): no new file descriptor, so that nothing can be opened or connected; no growing file;
  an end to processor time and memory; no new process, where the user is not root.
- A filter of system calls (system_calls): all are refused but those that computing, answering and ending need. Linux on
  x86_64 and aarch64; elsewhere this wall is missing.
- An audit hook (`watch`), which refuses every audited event of the interpreter but a few harmless ones: files, sockets,
  processes, signals, ctypes, garbage collector, new code objects. It cannot be taken off again.
- A scope (`scope`) without `open`, whose `import` knows numpy and the computing modules of the standard library.

What this stops: files, network, other processes, loops without end, memory bombs and floods. What it does not stop:
reading what the process has in memory (this project's code, numpy, the file's own text); a file's writing what it likes
into its own answer, which its reader takes for untrusted data; learning things from time. Where the filter is missing,
calls stay open that the interpreter does not audit and that need no descriptor, such as os.mkfifo; CPython calls audit
hooks no sandbox, and rightly. A hole in the kernel goes through all four: what is known to be an attack belongs into a
virtual machine.
"""

from __future__ import annotations

import builtins
import importlib
import resource
import signal
import sys
from types import FrameType, ModuleType
from typing import Any

IMPORTABLE = (
    "__future__", "array", "bisect", "cmath", "collections", "copy", "dataclasses", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "numbers", "numpy", "operator", "random", "re", "statistics", "string",
    "struct", "sys", "typing",
)  # fmt: skip
"""Modules that a file may import, with all that is in them."""

_LOADED_AHEAD = (*IMPORTABLE, "collections.abc", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.random")
_HARMLESS = frozenset((
    "array.__new__", "builtins.id", "compile", "exec", "object.__getattr__", "object.__setattr__", "sys._getframe",
    "sys._getframemodulename", "sys.unraisablehook", "time.sleep",
))  # fmt: skip
_IMPORT = builtins.__import__
_WITHHELD = ("breakpoint", "copyright", "credits", "exit", "help", "input", "license", "open", "quit")


class ForbiddenError(PermissionError):
    """The file tried what no specification needs."""


class OvertimeError(BaseException):
    """The file used up its processor time; no `except Exception` holds this back."""


def load_ahead() -> None:
    """Import all that a file may import: later nothing can be read."""
    for name in _LOADED_AHEAD:
        importlib.import_module(name)


def limit(seconds: int, memory: int) -> None:
    """Set the limits of this process, for good. seconds: of processor time. memory: bytes of address space."""
    signal.signal(signal.SIGXCPU, _overtime)
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, seconds, seconds + 2),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, 0, 0),
    ):
        resource.setrlimit(kind, (soft, hard))


def _overtime(_signal: int, _frame: FrameType | None) -> None:
    raise OvertimeError


def watch() -> None:
    """Refuse all audited events but the harmless ones, from now on and for good."""
    harmless, rejection, known = _HARMLESS, ForbiddenError, frozenset(sys.modules)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # Operators and closed-over constants only: a file can replace builtins and globals, but not these.
        if event not in harmless and (event != "import" or arguments[0] not in known):
            raise rejection(f"{event} is forbidden in a specification")

    sys.addaudithook(hook)


def scope() -> dict[str, Any]:
    """The builtins of a file: no files, no input, and an import that knows a few modules only."""
    allowed = {name: value for name, value in vars(builtins).items() if name not in _WITHHELD}
    return {**allowed, "__import__": _import}


def _import(name: str, *rest: Any, **more: Any) -> ModuleType:
    if name.partition(".")[0] not in IMPORTABLE:
        raise ImportError(f"a specification cannot import {name}")
    module: ModuleType = _IMPORT(name, *rest, **more)
    return module
