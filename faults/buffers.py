"""Faults in driver-managed buffers and in hardware buffers that are more than an edit of the reference's source."""

from __future__ import annotations

import threading
import time
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, fault, faulty_models
from npu_conformance.reference.hal import timing
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

_SOME_SECONDS = 0.02
"""Longer than a client needs to launch the next execution."""


class _NullBuffer(FaultyDevice):
    """Gives a token without a buffer."""

    def allocate(self, *arguments: Any) -> hal.DeviceBuffer:
        return hal.DeviceBuffer(None, super().allocate(*arguments).token)  # type: ignore[arg-type]


class _RefusesWithToken0(FaultyDevice):
    """Says NONE, and means the token 0 as a refusal."""

    def allocate(self, *arguments: Any) -> hal.DeviceBuffer:
        try:
            return super().allocate(*arguments)
        except ServiceError:
            return hal.DeviceBuffer(hal.Buffer(), 0)


class _ReadsPixelsElsewhere(FaultyPreparedModel):
    """Reads another argument where it cannot read a hardware buffer."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        unreadable = {index for index, pool in enumerate(request.pools) if _is_pixels(pool)}
        others = [argument for argument in request.inputs if argument.location.pool_index not in unreadable]
        inputs = tuple(
            others[0] if argument.location.pool_index in unreadable else argument for argument in request.inputs
        )
        pools = tuple(
            request.pools[(others[0].location.pool_index if at in unreadable else at)]
            for at in range(len(request.pools))
        )
        return self.inner.execute_synchronously(types.Request(inputs, request.outputs, pools), *rest)


def _is_pixels(pool: types.RequestMemoryPool) -> bool:
    memory = pool.pool
    return memory is not None and memory.description is not None and memory.description.format != types.BLOB_FORMAT


class _Locking(FaultyPreparedModel):
    """Executes in a thread of its own, and locks buffers until it has ended."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._locked: set[int] = set()

    def execute(self, request: types.Request, *rest: Any) -> None:
        tokens = {pool.token for pool in request.pools if pool.pool is None}
        if tokens & self._locked:
            self.meets_a_lock(rest[-1])
            return
        self._locked |= tokens
        threading.Timer(_SOME_SECONDS, self._run, (tokens, request, *rest)).start()

    def _run(self, tokens: set[int], *arguments: Any) -> None:
        self.inner.execute(*arguments)
        self._locked -= tokens

    def meets_a_lock(self, callback: hal.ExecutionCallback) -> None:
        """Tell the client, or not."""
        raise NotImplementedError


class _OneReader(_Locking):
    def meets_a_lock(self, callback: hal.ExecutionCallback) -> None:
        callback.notify(ErrorStatus.GENERAL_FAILURE, (), timing.unavailable_timing(Version.V1_3))


class _WaitsForEver(_Locking):
    def meets_a_lock(self, callback: hal.ExecutionCallback) -> None:
        pass


class _AloneOrNot(FaultyPreparedModel):
    """Executes slowly, and detects others that use the same buffers meanwhile."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._in_use: set[int] = set()

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        tokens = {pool.token for pool in request.pools if pool.pool is None}
        if tokens & self._in_use:
            self.meets_another()
        self._in_use |= tokens
        try:
            time.sleep(_SOME_SECONDS)
            return self.inner.execute_synchronously(request, *rest)
        finally:
            self._in_use -= tokens

    def meets_another(self) -> None:
        """Fail."""
        raise NotImplementedError


class _Busy(_AloneOrNot):
    def meets_another(self) -> None:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "busy")


class _DiesInCompany(_AloneOrNot):
    def meets_another(self) -> None:
        raise RuntimeError("two of them")


_CONCURRENT = "vts.memory_domains.at_once"


class _NoOutputs(FaultyPreparedModel):
    """Executes nothing whose outputs are in buffers."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        if any(request.pools[one.location.pool_index].pool is None for one in request.outputs):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no outputs in buffers")
        return self.inner.execute_synchronously(request, *rest)


FAULTS = (
    fault("buffer-no-outputs", "Every execution with an output in a buffer is GENERAL_FAILURE.",
          "NNHAL-MEMDOMAIN-015", "vts.memory_domains.execute.missed_deadline "
          "vts.memory_domains.execute.beside_an_output_too_small", _NoOutputs),
    fault("allocate-null-buffer", "A token comes without a buffer.", "NNHAL-MEMDOMAIN-003",
          "vts.memory_domains.allocate.valid", _NullBuffer),
    fault("allocate-refuses-with-token-0", "A refusal is NONE with token 0.", "NNHAL-MEMDOMAIN-002",
          "vts.memory_domains.allocate.role_twice vts.memory_domains.allocate.no_roles", _RefusesWithToken0),
    fault("pixels-read-elsewhere", "Another argument is read in place of a hardware buffer that cannot be read.",
          "NNHAL-MEMORY-007", "vts.memory.hardware_buffer.arguments", _ReadsPixelsElsewhere),
    fault("buffer-of-one-reader", "A buffer that an execution reads cannot be read by another.",
          "NNHAL-MEMDOMAIN-030", f"{_CONCURRENT}.launched", _OneReader, Version.V1_3, "quality-warning"),
    fault("buffer-busy", "A buffer that one thread reads is busy for the others.", "NNHAL-MEMDOMAIN-030",
          f"{_CONCURRENT}.readers", _Busy),
    fault("buffer-dies-in-company", "Two executions with one buffer at once are the driver's death.",
          "NNHAL-MEMDOMAIN-030", f"{_CONCURRENT}.readers {_CONCURRENT}.writers", _DiesInCompany),
    fault("buffer-waits-for-ever", "An execution that meets a locked buffer never ends.", "NNHAL-MEMDOMAIN-030",
          f"{_CONCURRENT}.launched", faulty_models(_WaitsForEver, deadlines=IMPATIENT), Version.V1_3),
)  # fmt: skip
"""Faults of memory at the boundary; those by source edits are in memory_domains.json."""
