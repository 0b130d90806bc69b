"""Faults that rare inputs show, and that a fuzzer has to find; those that no default case shows are fuzzers' only.

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
