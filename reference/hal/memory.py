"""Memory pools of models and requests, as the driver reaches them."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import MemoryMap

MAPPABLE_KINDS = frozenset({"ashmem", "mmap_fd", "hardware_buffer_blob"})
"""What the driver maps. A hardware buffer that is not a BLOB has a layout of its vendor's (NNHAL-MEMORY)."""


def map_pools(memory_map: MemoryMap, pools: Sequence[Memory]) -> list[memoryview]:
    """Return the bytes of each pool; raises ServiceError(GENERAL_FAILURE) for one that can not be mapped."""
    return [_map(memory_map, pool) for pool in pools]


def _map(memory_map: MemoryMap, pool: Memory) -> memoryview:
    if pool.kind not in MAPPABLE_KINDS:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"memory of kind {pool.kind} can not be mapped")
    view = memory_map.map(pool)
    if len(view) < pool.size:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"a pool of {pool.size} bytes has only {len(view)}")
    return view
