"""Memory pools of models and requests, as the driver reaches them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import BLOB_FORMAT, Memory
from npu_conformance.specs.plugin import MemoryMap

FILES = frozenset({"ashmem", "mmap_fd", "mappableFile"})
"""The kinds that are files, by their names in HIDL and AIDL."""


@contextlib.contextmanager
def mapped(memory_map: MemoryMap, pools: Sequence[Memory]) -> Iterator[list[memoryview]]:
    """Give the bytes of each pool for the duration of a call: nothing of the client's memory is held longer.

    Raises ServiceError(GENERAL_FAILURE) for a pool that cannot be mapped.
    """
    if not pools:
        yield []
        return
    with contextlib.ExitStack() as views:
        yield [views.enter_context(_map(memory_map, pool)) for pool in pools]


def _map(memory_map: MemoryMap, pool: Memory) -> memoryview:
    """Return a separate view, which can be released without touching the client's."""
    if pool.kind not in FILES and not _is_blob(pool):
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"memory of kind {pool.kind} cannot be mapped")
    view = memory_map.map(pool)
    if len(view) < pool.size:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"a pool of {pool.size} bytes has only {len(view)}")
    return view[:]


def writable(view: memoryview) -> memoryview:
    """The view; raises GENERAL_FAILURE where the client allows reading alone."""
    if view.readonly:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the memory is read-only")
    return view


def _is_blob(pool: Memory) -> bool:
    """True for a hardware buffer that is a row of bytes; any other has its vendor's layout (NNHAL-MEMORY-003).

    HIDL's name promises a BLOB; the description, where there is one, has the last word (NNHAL-MEMORY-012).
    """
    if pool.kind not in ("hardware_buffer_blob", "hardwareBuffer"):
        return False
    if pool.description is None:
        return pool.kind == "hardware_buffer_blob"
    return pool.description.format == BLOB_FORMAT
