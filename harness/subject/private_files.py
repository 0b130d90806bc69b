"""Makes and removes files in folders where others can write: by descriptor, through no link, and only this user's."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextlib.contextmanager
def shared_directory(path: str) -> Iterator[int]:
    """Open a directory that may be anybody's, such as /dev/shm, which may itself be a link. Raises OSError."""
    descriptor = os.open(path, DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def own_directory(path: str, parent: int | None = None) -> Iterator[int]:
    """Open a directory of this user's. Raises OSError for another's, and for a link wherever it leads.

    parent: the directory it is in; what is mounted there is then refused as well.
    """
    descriptor = os.open(path, DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "a directory of another user's", path)
        if parent is not None and found.st_dev != os.fstat(parent).st_dev:
            raise OSError(errno.EXDEV, "another file system", path)
        yield descriptor
    finally:
        os.close(descriptor)


def create(path: str) -> int:
    """Make a file in a directory of this user's; return it opened for reading and writing. Raises OSError."""
    directory, name = os.path.split(path)
    with own_directory(directory) as parent:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=parent)


def remove_file(path: str, made: os.stat_result) -> None:
    """Remove a file's name, where it still is the name of the file that was made there."""
    directory, name = os.path.split(path)
    # A directory that is gone or no longer ours holds nothing that is ours to remove.
    with contextlib.suppress(OSError), own_directory(directory) as parent:
        if os.path.samestat(os.lstat(name, dir_fd=parent), made):
            os.unlink(name, dir_fd=parent)


def make_way(path: str) -> None:
    """Remove a link or a file of this user's that stands where a directory should; what it leads to stays."""
    directory, name = os.path.split(path)
    # What cannot be removed shows when the directory is made.
    with contextlib.suppress(OSError), shared_directory(directory) as parent:
        _own_directories_of((name,), parent)


def remove_files(path: str, prefix: str) -> None:
    """Remove the files of this user's whose names begin so from a directory; it may be gone, and they with it."""
    with contextlib.suppress(OSError), own_directory(path) as directory:
        _own_directories_of((name for name in os.listdir(directory) if name.startswith(prefix)), directory)


def remove_tree(name: str, parent: int) -> None:
    """Remove a directory of this user's with all of this user's in it. What cannot be removed is left, silently."""
    with contextlib.suppress(OSError), own_directory(name, parent) as directory:
        empty(directory)
        os.rmdir(name, dir_fd=parent)


def remove_directory(path: str) -> None:
    """Remove a directory of this user's with all that is in it; a link, or another user's, is left alone."""
    base, name = os.path.split(path)
    with contextlib.suppress(OSError), shared_directory(base) as parent:
        remove_tree(name, parent)


def empty(directory: int) -> None:
    """Remove all of this user's from an open directory. What cannot be removed is left, silently."""
    # Directories in directories are moved up first: their depth costs neither recursion nor open descriptors.
    waiting = _own_directories_of(os.listdir(directory), directory)
    while waiting:
        name = waiting.pop()
        with contextlib.suppress(OSError), own_directory(name, directory) as inner:
            waiting += _moved_up(_own_directories_of(os.listdir(inner), inner), inner, directory)
            os.rmdir(name, dir_fd=directory)


def _own_directories_of(names: Iterable[str], directory: int) -> list[str]:
    """Remove files and links of this user's, by name; return the names of this user's directories."""
    directories = []
    for name in names:
        with contextlib.suppress(OSError):
            found = os.lstat(name, dir_fd=directory)
            if found.st_uid == os.geteuid() and stat.S_ISDIR(found.st_mode):
                directories.append(name)
            elif found.st_uid == os.geteuid():
                os.unlink(name, dir_fd=directory)
    return directories


def _moved_up(names: Iterable[str], directory: int, target: int) -> list[str]:
    """Move directories to another under new names; return those of what could be moved."""
    moved = []
    for name in names:
        with contextlib.suppress(OSError):
            new_name = os.urandom(8).hex()
            os.rename(name, new_name, src_dir_fd=directory, dst_dir_fd=target)
            moved.append(new_name)
    return moved
