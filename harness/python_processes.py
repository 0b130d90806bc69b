"""Processes of this suite's own in this Python: each finds the modules that this process finds."""

from __future__ import annotations

import os
import site
import sys

_STANDARD_LIBRARY = os.path.dirname(os.__file__)


def python(*words: str) -> list[str]:
    """The command of such a process. It does not look in the current folder first: a `queue.py` there is not Python's.

    Where it needs what lies in the current folder, `look_in` says so.
    """
    return [sys.executable, "-P", *words]


def environment() -> dict[str, str]:
    """The environment of this process, with what was added to the folders of modules since it began in PYTHONPATH.

    Python's own folders stay out: a driver that such a process starts may be a program of another Python.
    """
    given = os.environ.get("PYTHONPATH", "")
    known = {"", os.getcwd(), *given.split(os.pathsep), *_own_folders(), *site.getsitepackages()}
    added = [folder for folder in sys.path if folder not in known]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [given, *added]))}


def look_in(folder: str) -> None:
    """Find the modules of a folder before those that are installed, and behind Python's own."""
    if folder not in sys.path:
        own = [index for index, known in enumerate(sys.path) if known in _own_folders()]
        sys.path.insert(max(own, default=-1) + 1, folder)


def _own_folders() -> tuple[str, ...]:
    archive = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    above = os.path.dirname(_STANDARD_LIBRARY)
    return os.path.join(above, archive), _STANDARD_LIBRARY, os.path.join(_STANDARD_LIBRARY, "lib-dynload")
