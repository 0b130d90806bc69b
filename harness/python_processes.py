"""Processes of this suite's own in this Python: each finds the modules that this process finds."""

from __future__ import annotations

import os
import signal
import site
import sys

_STANDARD_LIBRARY = os.path.dirname(os.__file__)


def python(*words: str) -> list[str]:
    """The command of such a process. It does not look in the current folder first: a `queue.py` there is not Python's.

    Where it needs what lies there, it says so by `look_in_current_folder`.
    """
    return [sys.executable, "-P", *words]


def wait_for_children() -> None:
    """Let ends of children be told to this process, though who started it may ignore those of its own children.

    That is inherited (SIGCHLD, signal(7)).
    """
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def environment() -> dict[str, str]:
    """The environment of this process, with what was added to the folders of modules since it began in PYTHONPATH.

    Python's own folders stay out: a driver that such a process starts may be a program of another Python.
    """
    given = os.environ.get("PYTHONPATH", "")
    known = {"", _current_folder(), *given.split(os.pathsep), *_own_folders(), *site.getsitepackages()}
    added = [folder for folder in sys.path if folder not in known]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [given, *added]))}


def look_in_current_folder() -> None:
    """Find modules of the current folder before those that are installed, and behind Python's own.

    The command's own path lacks that folder.
    """
    folder = _current_folder()
    if folder and folder not in sys.path:
        own = [index for index, known in enumerate(sys.path) if known in _own_folders()]
        sys.path.insert(max(own, default=-1) + 1, folder)


def _current_folder() -> str:
    """Empty where somebody has removed it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _own_folders() -> tuple[str, ...]:
    archive = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    above = os.path.dirname(_STANDARD_LIBRARY)
    return os.path.join(above, archive), _STANDARD_LIBRARY, os.path.join(_STANDARD_LIBRARY, "lib-dynload")
