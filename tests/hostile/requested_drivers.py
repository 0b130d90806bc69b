"""Drivers with bugs that only unusual requests find. Option `bug` says which one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel, PreparedModelCallback
from npu_conformance.specs.neuralnetworks.types import ExecutionResult, Request, RequestArgument
from npu_conformance.specs.plugin import Context, MemoryMap, Plugin, Subject

BUGS = ("accepts", "refuses", "misplaces", "touches", "raises")
Execute = Callable[..., ExecutionResult]


def _moved(argument: RequestArgument, **change: int) -> RequestArgument:
    return replace(argument, location=replace(argument.location, **change))


class _Prepared(PreparedModel):
    """A prepared model with a bug."""

    def __init__(self, inner: PreparedModel, memory: MemoryMap, bug: str) -> None:
        self._inner, self._memory, self._bug = inner, memory, bug

    def execute_synchronously(self, request: Request, *arguments: Any) -> ExecutionResult:
        bug = getattr(self, f"_{self._bug}", None)
        return bug(request, *arguments) if bug else self._inner.execute_synchronously(request, *arguments)

    def _accepts(self, request: Request, *arguments: Any) -> ExecutionResult:
        """Takes a pool that is none for the last one."""
        last = len(request.pools) - 1
        inputs = tuple(
            _moved(argument, pool_index=min(max(argument.location.pool_index, 0), last)) for argument in request.inputs
        )
        return self._inner.execute_synchronously(replace(request, inputs=inputs), *arguments)

    def _refuses(self, request: Request, *arguments: Any) -> ExecutionResult:
        """Wants outputs at the beginning of a pool."""
        if any(argument.location.offset for argument in request.outputs[:1]):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        return self._inner.execute_synchronously(request, *arguments)

    def _misplaces(self, request: Request, *arguments: Any) -> ExecutionResult:
        """Reads inputs whose offset is not a multiple of four from where the multiple is."""
        self._inner.execute_synchronously(request, *arguments)  # what is wrong with the request is told first
        inputs = tuple(_moved(argument, offset=argument.location.offset & ~3) for argument in request.inputs)
        return self._inner.execute_synchronously(replace(request, inputs=inputs), *arguments)

    def _touches(self, request: Request, *arguments: Any) -> ExecutionResult:
        """Clears the rest of a pool that is larger than its output."""
        result = self._inner.execute_synchronously(request, *arguments)
        place, pool = request.outputs[0].location, request.pools[request.outputs[0].location.pool_index].pool
        end = place.offset + place.length + place.padding
        if pool is not None and end < pool.size:
            self._memory.map(pool)[end] = 0
        return result

    def _raises(self, request: Request, *arguments: Any) -> ExecutionResult:
        """Looks its arguments up before it counts them."""
        return self._inner.execute_synchronously(request, *arguments) if request.inputs[0] else self._raises(request)


class _Notified(PreparedModelCallback):
    def __init__(self, inner: PreparedModelCallback, wrap: Callable[[PreparedModel], PreparedModel]) -> None:
        self._inner, self._wrap = inner, wrap

    def notify(self, status: int, prepared_model: PreparedModel | None) -> None:
        self._inner.notify(status, None if prepared_model is None else self._wrap(prepared_model))


class RequestedDevice(ReferenceDevice):
    """The reference with a bug in its prepared models."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._wrap = lambda prepared: _Prepared(prepared, context.memory, context.options.get("bug", "none"))

    def prepare_model(self, *arguments: Any) -> None:
        given = (*arguments[:-1], _Notified(arguments[-1], self._wrap))
        super().prepare_model(*given)


plugin = Plugin(
    Manifest(name="requested", vendor="tests", version="1", options={"bug": "which one"}),
    lambda context: Subject(device=RequestedDevice(context)),
)
