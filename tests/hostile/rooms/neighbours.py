"""By neighbours on the machine: what lies in the shared memory before a run begins, of this user or another."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable

from rooms.kind import Start

SHARED = "/dev/shm"
PRECIOUS = f"{tempfile.gettempdir()}/precious"
"""A folder with a file, which no run may touch."""
_RUN = f"{SHARED}/npu-conformance-run-4194999-"
_NOBODY = 65534


def _link(target: str) -> Callable[[], object]:
    return lambda: os.symlink(target, f"{_RUN}link")


def _file() -> None:
    with open(f"{_RUN}file", "w") as file:
        file.write("x")


def _socket() -> None:
    socket.socket(socket.AF_UNIX).bind(f"{_RUN}socket")


def _folder(name: str, mode: int = 0o700) -> str:
    path = f"{_RUN}{name}"
    os.mkdir(path)
    os.symlink(PRECIOUS, f"{path}/link")
    os.symlink("..", f"{path}/up")
    os.mkfifo(f"{path}/pipe")
    os.chmod(path, mode)
    return path


def _anothers_folder() -> None:
    os.chown(_folder("other", 0o777), _NOBODY, _NOBODY)


def _anothers_files() -> None:
    path = _folder("mixed")
    os.mkdir(f"{path}/theirs")
    for name in ("theirs", "link"):
        os.chown(f"{path}/{name}", _NOBODY, _NOBODY, follow_symlinks=False)


def _deep() -> None:
    here = os.getcwd()
    os.chdir(_folder("deep"))
    for _ in range(1000):
        os.mkdir("d")
        os.chdir("d")
    os.chdir(here)


def _many() -> None:
    for number in range(300):
        os.mkdir(f"{_RUN}{number}")


def _odd_names() -> None:
    for name in (b"\xff\xfe", b"new\nline", b"x" * 200, b"\x1b[2J"):
        os.mkdir(os.fsencode(_RUN) + name)


_locked: list[int] = []


def _of_a_living_run() -> None:
    descriptor = os.open(_folder("living"), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    _locked.append(descriptor)


ACTS: dict[str, tuple[str, Callable[[], object], bool]] = {
    "link_to_folder": ("links our name to a folder", _link(PRECIOUS), True),
    "link_to_file": ("links our name to a file", _link(f"{PRECIOUS}/file"), True),
    "link_to_itself": ("links our name to itself", _link(f"{_RUN}link"), True),
    "link_to_nothing": ("links our name to nothing", _link("/nowhere"), True),
    "file": ("has a file under our name", _file, True),
    "pipe": ("has a pipe under our name", lambda: os.mkfifo(f"{_RUN}pipe"), True),
    "socket": ("has a socket under our name", _socket, True),
    "stale_folder": ("died, and left links and a pipe", lambda: _folder("stale"), False),
    "forbidden_folder": ("died, and left what nobody may enter", lambda: _folder("forbidden", 0), False),
    "deep_folder": ("died, and left folders 1,000 deep", _deep, False),
    "many_folders": ("died 300 times", _many, False),
    "odd_names": ("left names that are no text", _odd_names, False),
    "anothers_folder": ("is another user, with links to ours", _anothers_folder, True),
    "anothers_files": ("left what another user put there", _anothers_files, True),
    "living_run": ("lives, and has locked its folder", _of_a_living_run, True),
}
"""By name: what the neighbour does, how, and whether it stays what it is."""


def undo(names: Iterable[str]) -> None:
    """Remove what a neighbour made."""
    while _locked:
        os.close(_locked.pop())
    for name in names:
        path = os.path.join(SHARED, name)
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)


def starts() -> dict[str, Start]:
    """The kinds of this room: all in a /dev/shm of their own."""
    return {f"neighbours.{name}": Start(name, does, "pass", "", apart=True) for name, (does, _, _) in ACTS.items()}
