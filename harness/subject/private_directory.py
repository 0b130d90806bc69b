"""Directories that only this user can enter, and that are locked as long as their run lives.

One in shared memory holds what travels to the implementation; others hold temporary files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from npu_conformance.harness.judge.verdicts import NoSharedMemory
from npu_conformance.harness.subject import private_files

_SHARED_MEMORY = "/dev/shm"
_PREFIX = "npu-conformance-run-"
_MODE = 0o700


class PrivateDirectory:
    """A directory of this run's. path: its name, which stays the same when it is made again.

    A lock on the directory says that the run lives. It ends with the process, however that ends, and it holds for
    processes that see other process numbers, as in containers that share /dev/shm.
    """

    def __init__(self, base: str | None = None) -> None:
        """base: where to make it, by default /dev/shm. Removes what dead runs of this user have left there first.

        Raises NoSharedMemory where nothing can be made there.
        """
        base = base or (_SHARED_MEMORY if os.path.isdir(_SHARED_MEMORY) else os.environ.get("TMPDIR", "/tmp"))
        sweep(base)
        self.path = f"{base}/{_PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
        self._descriptor = _made(self.path)
        self._identity = os.fstat(self._descriptor)

    def place(self) -> bool:
        """Make the directory again where a plug-in has removed or replaced it; false where it was there."""
        try:
            found = os.lstat(self.path)
        except OSError:
            self._renew()
            return True
        if not os.path.samestat(found, self._identity):
            self._renew()
            return True
        if stat.S_IMODE(found.st_mode) != _MODE or found.st_uid != os.geteuid():
            os.fchown(self._descriptor, os.geteuid(), -1)
            os.fchmod(self._descriptor, _MODE)
        return False

    def close(self) -> None:
        """Remove it with all that is in it, also from where a plug-in has moved it; and what stands in its place."""
        self._clear()
        os.close(self._descriptor)

    def _renew(self) -> None:
        self._clear()
        descriptor = _made(self.path)
        os.close(self._descriptor)
        self._descriptor, self._identity = descriptor, os.fstat(descriptor)

    def _clear(self) -> None:
        private_files.empty(self._descriptor)
        private_files.make_way(self.path)
        private_files.remove_directory(self.path)


def for_temporary_files() -> PrivateDirectory:
    """A directory where temporary files go. It is the next one that removes what a run that was killed has left."""
    import tempfile

    return PrivateDirectory(tempfile.gettempdir())


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A directory for temporary files, gone at the end."""
    with contextlib.closing(for_temporary_files()) as directory:
        yield Path(directory.path)


def _made(path: str) -> int:
    """Make a directory and return it opened and locked. No sweep sees it unlocked under its name."""
    base, name = os.path.split(path)
    try:
        with private_files.shared_directory(base) as parent:
            return _locked(f".{name}", name, parent)
    except OSError as error:
        raise NoSharedMemory(f"{base}: no directory can be made there: {error.strerror}") from None


def _locked(first_name: str, name: str, parent: int) -> int:
    os.mkdir(first_name, _MODE, dir_fd=parent)
    descriptor = -1
    try:
        descriptor = os.open(first_name, private_files.DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(first_name, name, src_dir_fd=parent, dst_dir_fd=parent)
    except OSError:
        private_files.remove_tree(first_name, parent)
        if descriptor >= 0:
            os.close(descriptor)
        raise
    return descriptor


def sweep(base: str) -> None:
    """Remove the private directories that no living run has locked. What cannot be removed is left."""
    # Others can write there as well: nothing that they put there may end a run.
    with contextlib.suppress(OSError), private_files.shared_directory(base) as parent:
        for name in os.listdir(parent):
            if name.startswith(_PREFIX):
                _remove_where_free(name, parent)


def _remove_where_free(name: str, parent: int) -> None:
    with contextlib.suppress(OSError), private_files.own_directory(name, parent) as directory:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        private_files.remove_tree(name, parent)
