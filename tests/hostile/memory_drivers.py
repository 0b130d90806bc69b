"""The reference that harms the memory that is shared with it: by option, once in a process, after an execution."""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_KEEP_SIZE, _PUNCH_HOLE = 1, 2


def _files() -> Iterator[tuple[int, str]]:
    """The pools' files: those that this process has open, with the kernel's word for where they are."""
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:  # the listing's own
            continue
        if "/npu-conformance-run-" in target or target.startswith("/memfd:npu-conformance"):
            yield number, target


def _folder() -> str:
    return next(os.path.dirname(target) for _, target in _files() if not target.startswith("/memfd:"))


def _resize(*sizes: int) -> None:
    for number, _ in list(_files()):
        whole = os.fstat(number).st_size
        for size in sizes:
            try:
                os.ftruncate(number, whole if size < 0 else size)
            except PermissionError:
                print("sealed", flush=True)


def truncate() -> None:
    """Leave nothing of the files."""
    _resize(0)


def truncate_and_stretch() -> None:
    """The same, but of the old size."""
    _resize(0, -1)


def give_up_space() -> None:
    """Punch holes."""
    fallocate = ctypes.CDLL(None, use_errno=True).fallocate64
    for number, _ in list(_files()):
        size = ctypes.c_int64(os.fstat(number).st_size)
        fallocate(number, _PUNCH_HOLE | _KEEP_SIZE, ctypes.c_int64(0), size)


def write_behind() -> None:
    """Write at the end of the first page of each file, where no pool of less than a page reaches."""
    for number, _ in list(_files()):
        os.pwrite(number, b"!", mmap.PAGESIZE - 1)


def unlink_files() -> None:
    """Remove the files of the folder."""
    folder = _folder()
    for entry in os.scandir(folder):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry)


def forbid_files() -> None:
    """Let nobody open the files."""
    for number, _ in list(_files()):
        os.fchmod(number, 0)


def forbid_folder() -> None:
    """Let nobody enter the folder."""
    os.chmod(_folder(), 0)


def remove_folder() -> None:
    """Remove the folder."""
    shutil.rmtree(_folder())


def move_folder() -> None:
    """Move the folder, and put one of this driver's there."""
    folder = _folder()
    os.rename(folder, f"{folder}-moved")
    os.mkdir(folder)


def link_folder() -> None:
    """Move the folder, and put a link there, to what it is now."""
    folder = _folder()
    os.rename(folder, f"{folder}-moved")
    os.symlink(f"{folder}-moved", folder)


def fill_folder() -> None:
    """Put folders, links and a pipe into the folder."""
    folder = _folder()
    os.makedirs(f"{folder}/a/b/c")
    os.symlink("/", f"{folder}/a/link")
    os.mkfifo(f"{folder}/pipe")


def do_nothing() -> None:
    """Conform."""


HARMS: dict[str, Callable[[], None]] = {
    harm.__name__: harm
    for harm in (
        truncate,
        truncate_and_stretch,
        give_up_space,
        write_behind,
        unlink_files,
        forbid_files,
        forbid_folder,
        remove_folder,
        move_folder,
        link_folder,
        fill_folder,
        do_nothing,
    )
}


class _Model(FaultyPreparedModel):
    harms: list[Callable[[], None]]

    def execute_synchronously(self, *arguments: Any) -> Any:
        """Execute, then do the harm."""
        result = self.inner.execute_synchronously(*arguments)
        if self.harms:
            self.harms.pop()()
        return result


def _reference(context: Context) -> Subject:
    class Device(FaultyDevice):
        prepared_model = type("Model", (_Model,), {"harms": [HARMS[context.options["harm"]]]})

    return Subject(device=Device(ReferenceDevice(context, Version.FL8)))


_OPTIONS = {"harm": f"one of {', '.join(HARMS)}"}
_MANIFEST = Manifest(name="harmful", vendor="tests", version="1", hal_version=Version.FL8, options=_OPTIONS)

harmful = Plugin(_MANIFEST, _reference)
