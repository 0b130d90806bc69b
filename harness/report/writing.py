"""What becomes of a run whose report or output cannot be written: one line says what and where, and the run ends."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})


class UnwritableError(Exception):
    """Something that was to be kept or shown cannot be written. The text is one line: where, what, why."""


@contextmanager
def writing(where: object, what: str) -> Iterator[None]:
    """Turn an OSError into an UnwritableError. where: a path or a stream; what: what was to be written there."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"{where}: cannot write {what}: {error.strerror or error}") from None


def is_of_the_machine(error: OSError) -> bool:
    """True where an error says that a disk is full or broken: no bug of ours, whatever was written."""
    return error.errno in _OF_THE_MACHINE
