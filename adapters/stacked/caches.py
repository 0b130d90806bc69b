"""Cache files of the runtime, lent to a driver in another process as copies that come back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from npu_conformance.specs.neuralnetworks.types import CacheHandle

if TYPE_CHECKING:
    from npu_conformance.harness.subject.files import CacheFile
    from npu_conformance.harness.subject.files import Files as FilesThere
    from npu_conformance.specs.plugin import File, Files

Handles = tuple[CacheHandle, ...]


@contextlib.contextmanager
def lent(here: Files, there: FilesThere, *kinds: Handles) -> Iterator[list[Handles]]:
    """The handles of each kind as the driver gets them. What it has written is in the files behind the block."""
    with contextlib.ExitStack() as stack:
        yield [tuple(_lent(here, there, handle, stack) for handle in handles) for handles in kinds]


def _lent(here: Files, there: FilesThere, handle: CacheHandle, stack: contextlib.ExitStack) -> CacheHandle:
    (token,) = handle.descriptors
    file = here.open(token)
    stack.callback(file.close)
    copy = there.create(file.read(0, file.size()))
    stack.callback(copy.close)
    lent_token = there.open(copy)
    stack.callback(_return, copy, file)
    stack.callback(there.close, lent_token)
    return CacheHandle((lent_token,))


def _return(copy: CacheFile, file: File) -> None:
    content = copy.read()
    file.truncate(len(content))
    file.write(0, content)
