"""Memory pools of models and requests, as the driver reaches them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import MemoryMap

MAPPABLE_KINDS = frozenset({"ashmem", "mmap_fd", "mappableFile", "hardware_buffer_blob"})
"""What the driver maps, in HIDL's and AIDL's names. A hardware buffer that is not a BLOB has its vendor's layout."""

AHARDWAREBUFFER_FORMAT_BLOB = 33


@contextlib.contextmanager
def mapped(memory_map: MemoryMap, pools: Sequence[Memory]) -> Iterator[list[memoryview]]:
    """Give the bytes of each pool for the duration of a call: nothing of the client's memory is held longer.

    Raises ServiceError(GENERAL_FAILURE) for a pool that can not be mapped.
    """
    with contextlib.ExitStack() as views:
        yield [views.enter_context(_map(memory_map, pool)) for pool in pools]


def _map(memory_map: MemoryMap, pool: Memory) -> memoryview:
    """Return a view of our own, which can be released without touching the client's."""
    if pool.kind not in MAPPABLE_KINDS and not _is_blob(pool):
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"memory of kind {pool.kind} can not be mapped")
    view = memory_map.map(pool)
    if len(view) < pool.size:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"a pool of {pool.size} bytes has only {len(view)}")
    return view[:]


def _is_blob(pool: Memory) -> bool:
    """True for AIDL's hardware buffer that is a row of bytes."""
    description = pool.description
    return (
        pool.kind == "hardwareBuffer" and description is not None and description.format == AHARDWAREBUFFER_FORMAT_BLOB
    )
