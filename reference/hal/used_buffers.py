"""The driver-managed buffers that one request names: found and checked when it is launched, used when it runs."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from npu_conformance.reference.hal.buffers import Buffers, Direction, ReferenceBuffer, Role
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Request, RequestArgument

Pool = memoryview | ReferenceBuffer
"""A pool or buffer in which an argument can lie."""


class UsedBuffers:
    """The buffers of a valid request. They live until the execution is over, even if the client drops them."""

    def __init__(self, prepared: object, buffers: Buffers, request: Request) -> None:
        """prepared: by which roles know the model. Raises INVALID_ARGUMENT by NNHAL-MEMDOMAIN-023 to -027, -031."""
        self._user = weakref.ref(prepared)
        self._pools = [buffers.find(pool.token) if pool.pool is None else None for pool in request.pools]
        inputs = self._used("input", request.inputs)
        self._outputs = self._used("output", request.outputs)
        for place, buffer in enumerate(self._outputs):
            if buffer in inputs or buffer in self._outputs[:place]:
                raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a buffer of an output is used a second time")

    def _used(self, direction: Direction, arguments: Sequence[RequestArgument]) -> list[ReferenceBuffer]:
        found = []
        for index, argument in enumerate(arguments):
            buffer = None if argument.has_no_value else self._pools[argument.location.pool_index]
            if buffer is not None:
                buffer.check_use(Role(self._user, direction, index), argument.dimensions)
                found.append(buffer)
        return found

    def among(self, views: Sequence[memoryview]) -> list[Pool]:
        """All pools of the request. views: those of shared memory, in order."""
        rest = iter(views)
        return [next(rest) if buffer is None else buffer for buffer in self._pools]

    def invalidate_outputs(self) -> None:
        """Leave the outputs uninitialised until the execution has succeeded (NNHAL-MEMDOMAIN-016)."""
        for buffer in self._outputs:
            buffer.invalidate()
