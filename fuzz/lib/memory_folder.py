"""A folder in memory for the files of one input: one that is made and removed on a disk costs more than most inputs."""

from __future__ import annotations

import atexit
import functools
from tempfile import TemporaryDirectory

from npu_conformance.harness.subject.private_directory import PrivateDirectory


def memory_folder() -> TemporaryDirectory[str]:
    """A folder that is gone behind a `with`. Where the process is killed, a later run removes it."""
    return TemporaryDirectory(dir=_directory())


@functools.cache
def _directory() -> str:
    directory = PrivateDirectory()
    atexit.register(directory.close)
    return directory.path
