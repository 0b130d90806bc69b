"""Which files of the host's machine the other end of a connection may name."""

from __future__ import annotations

import os

from npu_conformance.harness.wire.protocol import MemoryUnreachableError


class Paths:
    """Opens files by the names that a caller gives: any, or those that lie in one folder, or none.

    folder: whose files may be named, but not those of folders in it; None for none.
    """

    def __init__(self, folder: str | None = None, *, everywhere: bool = False) -> None:
        self._folder = folder
        self._everywhere = everywhere

    def __bool__(self) -> bool:
        """True where some file may be named."""
        return self._everywhere or self._folder is not None

    def open(self, path: str, flags: int) -> int:
        """Return a new descriptor; a link is not followed.

        Raises MemoryUnreachableError for a file that may not be named, or that cannot be opened. What may not be named
        is not looked at: the rejection is the same whether or not there is such a file.
        """
        if not self._allow(path):
            raise MemoryUnreachableError(f"{path!r}: this connection may not name it")
        try:
            return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise MemoryUnreachableError(f"{path}: {error.strerror}") from None
        except ValueError as error:  # a zero byte, or half a surrogate pair
            raise MemoryUnreachableError(f"{path!r}: {error}") from None

    def _allow(self, path: str) -> bool:
        if self._everywhere:
            return True
        # The folder is compared as it is spelled, and what follows is one name: nothing leads out of it.
        folder, name = os.path.split(path)
        return os.path.isabs(path) and folder == self._folder and name not in ("", ".", "..")


EVERYWHERE, NOWHERE = Paths(everywhere=True), Paths()
