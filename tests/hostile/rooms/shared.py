"""In shared memory and in files: a driver harms what it was given, and the folder where that lies."""

from __future__ import annotations

import os
from collections.abc import Callable

import memory_drivers

from rooms.kind import Call, Kind, Verdict

_CUT = "has truncated the file of a pool"


def _harm(name: str) -> Callable[[Call], object]:
    return lambda call: memory_drivers.HARMS[name]()


def _files(part: str) -> list[int]:
    """Descriptors of the files whose names contain a text."""
    found = []
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue
        if "/npu-conformance-run-" in target and part in target:
            found.append(number)
    return found


def _path(call: Call) -> str:
    """Where the cache file is."""
    return os.readlink(f"/proc/self/fd/{_files('/cache-')[0]}")


def _resize(size: int) -> Callable[[Call], object]:
    return lambda call: os.truncate(_path(call), size)


def _unlink(call: Call) -> None:
    os.unlink(_path(call))


def _forbid(call: Call) -> None:
    os.chmod(_path(call), 0)


def _overwrite(call: Call) -> None:
    with open(_path(call), "r+b") as file:
        file.write(b"spoilt")


def _replaced(make: Callable[[str], object]) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        path = _path(call)
        os.unlink(path)
        make(path)

    return act


def _fill(call: Call) -> None:
    """Take all the room there is, as long as this process lives."""
    path = f"{os.path.dirname(_path(call))}/filler"
    file = os.open(path, os.O_CREAT | os.O_RDWR)
    os.unlink(path)
    room = os.fstatvfs(file)
    os.posix_fallocate(file, 0, room.f_bavail * room.f_frsize)


def _other_sockets(call: Call) -> None:
    folder = os.path.dirname(_path(call))
    for name in os.listdir(folder):
        if name.endswith(".socket"):
            os.unlink(f"{folder}/{name}")


def _deep(call: Call) -> None:
    os.chdir(os.path.dirname(_path(call)))
    for _ in range(300):
        os.mkdir("d")
        os.chdir("d")
    os.chdir("/")


def _many(call: Call) -> None:
    folder = os.path.dirname(_path(call))
    for number in range(2000):
        os.symlink("/etc/passwd", f"{folder}/link-{number}")


def _kind(
    name: str, does: str, verdict: Verdict, says: str, act: Callable[[Call], object], transport: str = "path"
) -> Kind:
    return Kind(name, does, verdict, says, act, transport=transport)


_UNHARMED = "expected its bytes, found others"

KINDS = (
    _kind("truncate", "truncates the files of pools", "fail", _CUT, _harm("truncate")),
    _kind("truncate_what_has_no_name", "truncates what it got by descriptor", "fail", "a cache file: " + _UNHARMED,
          _harm("truncate"), "descriptor"),
    _kind("truncate_its_own", "truncates what it keeps itself", "pass", "", _harm("truncate"), "message"),
    _kind("truncate_and_stretch", "truncates the files, and stretches them again", "fail", _UNHARMED,
          _harm("truncate_and_stretch")),
    _kind("punch_holes", "gives up the space of the files", "fail", _UNHARMED, _harm("give_up_space")),
    _kind("punch_holes_without_name", "gives up the space of what it got by descriptor", "fail", _UNHARMED,
          _harm("give_up_space"), "descriptor"),
    _kind("unlink_files", "removes all files of the folder", "pass", "", _harm("unlink_files")),
    _kind("forbid_files", "lets nobody open the files", "pass", "", _harm("forbid_files")),
    _kind("forbid_folder", "lets nobody enter the folder", "pass", "", _harm("forbid_folder")),
    _kind("remove_folder", "removes the folder", "pass", "", _harm("remove_folder")),
    _kind("move_folder", "moves the folder, and puts its own there", "pass", "", _harm("move_folder")),
    _kind("link_folder", "moves the folder, and puts a link there", "pass", "", _harm("link_folder")),
    _kind("fill_folder", "puts folders, links and a pipe there", "pass", "", _harm("fill_folder")),
    _kind("remove_sockets", "removes the sockets of apps", "pass", "", _other_sockets),
    _kind("deep_folders", "makes folders in folders, 300 deep", "pass", "", _deep),
    _kind("many_links", "makes 2,000 links to another's file", "pass", "", _many),
    Kind("fill_memory", "fills the shared memory", "pass", "", _fill, apart=True),
    _kind("cut_cache_file", "truncates a cache file", "fail", "a cache file: " + _UNHARMED, _resize(0)),
    _kind("spoil_cache_file", "writes into a cache file", "fail", "a cache file: " + _UNHARMED, _overwrite),
    _kind("endless_cache_file", "stretches a cache file to a terabyte", "fail", "a cache file: expected at most",
          _resize(1 << 40)),
    _kind("unlink_cache_file", "removes a cache file", "pass", "", _unlink),
    _kind("forbid_cache_file", "lets nobody open a cache file", "pass", "", _forbid),
    _kind("link_for_cache_file", "puts a link in the place of a cache file", "pass", "",
          _replaced(lambda path: os.symlink("/etc/passwd", path))),
    _kind("folder_for_cache_file", "puts a folder in the place of a cache file", "pass", "", _replaced(os.mkdir)),
    _kind("pipe_for_cache_file", "puts a pipe in the place of a cache file", "pass", "", _replaced(os.mkfifo)),
)  # fmt: skip
