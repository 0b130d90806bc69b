"""Faults that rare inputs alone show: the default cases of vts and cts are green, and a fuzzer has to find them.

What would end or stop the process is an exception here, so that one process can measure how soon each is found.
"""

from __future__ import annotations

from npu_conformance.faults.fuzz_only import (
    buffers,
    bursts,
    caches,
    graphs,
    managers,
    models,
    requests,
    runtimes,
    schedulers,
)

FAULTS = (
    *models.FAULTS,
    *requests.FAULTS,
    *bursts.FAULTS,
    *caches.FAULTS,
    *buffers.FAULTS,
    *graphs.FAULTS,
    *managers.FAULTS,
    *schedulers.FAULTS,
    *runtimes.FAULTS,
)
