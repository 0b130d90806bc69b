"""Drivers that take rare requests for others: places, sizes and omissions that no case puts together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import DataLocation, ExecutionResult, Request, RequestArgument

_INVALID = ErrorStatus.INVALID_ARGUMENT
_PAGE = 1 << 16
Change = Callable[[Request], Request]


def _moved(argument: RequestArgument, **change: int) -> RequestArgument:
    return replace(argument, location=replace(argument.location, **change))


def _taking(change: Change) -> type[FaultyPreparedModel]:
    """Executes another request in place of one that it would refuse."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: Request, *rest: Any) -> ExecutionResult:
            try:
                return super().execute_synchronously(request, *rest)
            except ServiceError as error:
                if error.status != _INVALID:
                    raise
                return super().execute_synchronously(change(request), *rest)

    return Model


def _mistaking(change: Change) -> type[FaultyPreparedModel]:
    """Executes another request behind a good one, whose result is what remains."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: Request, *rest: Any) -> ExecutionResult:
            result = super().execute_synchronously(request, *rest)
            other = change(request)
            return result if other == request else super().execute_synchronously(other, *rest)

    return Model


def _refusing(guard: Callable[[Request], bool]) -> type[FaultyPreparedModel]:
    """Calls a good request invalid."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: Request, *rest: Any) -> ExecutionResult:
            result = super().execute_synchronously(request, *rest)
            if guard(request):
                raise ServiceError(_INVALID)
            return result

    return Model


def _crashing(guard: Callable[[Request], bool]) -> type[FaultyPreparedModel]:
    """Dies of a request."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: Request, *rest: Any) -> ExecutionResult:
            if guard(request):
                raise MemoryError("signal 11")
            return super().execute_synchronously(request, *rest)

    return Model


class _WritesBehind(FaultyPreparedModel):
    """Writes a byte behind an output that does not begin at a multiple of 4."""

    def execute_synchronously(self, request: Request, *rest: Any) -> ExecutionResult:
        result = super().execute_synchronously(request, *rest)
        for argument in request.outputs:
            place, pool = argument.location, request.pools[argument.location.pool_index].pool
            end = place.offset + place.length + place.padding
            if place.offset % 4 and pool is not None and end < pool.size:
                self.context.memory.map(pool)[end] = 0
        return result


def _end_by_one(request: Request) -> Request:
    """Outputs that end a byte behind their pool, not at its beginning, end with it."""
    return replace(request, outputs=tuple(_shortened(one, request) for one in request.outputs))


def _shortened(argument: RequestArgument, request: Request) -> RequestArgument:
    place = argument.location
    pool = request.pools[place.pool_index].pool if 0 <= place.pool_index < len(request.pools) else None
    over = 0 if pool is None else place.offset + place.length + place.padding - pool.size
    return _moved(argument, length=place.length - over) if 0 < over <= 4 < place.offset else argument


def _without_extra_outputs(request: Request) -> Request:
    """Two equal outputs at the end are one argument that was sent twice."""
    few = request.outputs[:-1]
    return replace(request, outputs=few) if len(few) > 1 and request.outputs[-1] == few[-1] else request


def _with_fitting_pools(request: Request) -> Request:
    """A pool index is taken as 8 bits."""
    arguments = [
        tuple(_moved(one, pool_index=one.location.pool_index & 0xFF) for one in some)
        for some in (request.inputs, request.outputs)
    ]
    return replace(request, inputs=arguments[0], outputs=arguments[1])


def _with_short_offsets(request: Request) -> Request:
    """An offset is taken as 16 bits."""
    arguments = [
        tuple(_moved(one, offset=one.location.offset & 0xFFFF) for one in some)
        for some in (request.inputs, request.outputs)
    ]
    return replace(request, inputs=arguments[0], outputs=arguments[1])


def _without_padding(request: Request) -> Request:
    """A negative padding is none."""
    arguments = [
        tuple(_moved(one, padding=max(one.location.padding, 0)) for one in some)
        for some in (request.inputs, request.outputs)
    ]
    return replace(request, inputs=arguments[0], outputs=arguments[1])


def _inputs_of_last_pool(request: Request) -> Request:
    """An input in the pool of outputs is read from where it lies in steps of 8 bytes."""
    last = len(request.pools) - 1
    inputs = tuple(
        _moved(one, offset=one.location.offset & ~7) if one.location.pool_index == last and last else one
        for one in request.inputs
    )
    return replace(request, inputs=inputs)


def _has_page_pool(request: Request) -> bool:
    return any(pool.pool is not None and pool.pool.size == _PAGE for pool in request.pools)


def _omits_and_reshapes(request: Request) -> bool:
    arguments = (*request.inputs, *request.outputs)
    return any(one.has_no_value for one in arguments) and any(len(one.dimensions) > 2 for one in arguments)


def _is_empty_at_an_end(request: Request) -> bool:
    return any(one.location.length == 0 and one.location.offset > 1024 for one in (*request.inputs, *request.outputs))


def _has_aliases(request: Request) -> bool:
    places = [argument.location for argument in request.inputs]
    return len(set(places)) < len([place for place in places if place != DataLocation()]) and len(places) > 3


def _rank_of_five(request: Request) -> bool:
    return any(len(argument.dimensions) == 5 and 0 in argument.dimensions for argument in request.outputs)


FAULTS: tuple[FuzzFault, ...] = rows(
    "requests",
    ("page-pool", "A pool of 64 KiB has 0 bytes: its size is kept in 16 bits.",
     "NNHAL-REQUEST-005", _refusing(_has_page_pool)),
    ("end-by-one", "An output that ends up to four bytes behind its pool is cut, unless it begins there.",
     "NNHAL-REQUEST-005", _taking(_end_by_one)),
    ("output-sent-twice", "An output that comes twice at the end is taken once.",
     "NNHAL-REQUEST-002", _taking(_without_extra_outputs)),
    ("pool-of-8-bits", "A pool index is kept in 8 bits.", "NNHAL-REQUEST-004", _taking(_with_fitting_pools)),
    ("offset-of-16-bits", "An offset is kept in 16 bits.", "NNHAL-REQUEST-005", _taking(_with_short_offsets)),
    ("negative-padding", "A negative padding counts as none.", "NNHAL-REQUEST-006", _taking(_without_padding)),
    ("reads-in-steps", "An input in the pool of the outputs is read from a multiple of 8.",
     "NNHAL-EXECUTE-001", _mistaking(_inputs_of_last_pool)),
    ("writes-behind", "A byte is written behind an output that does not begin at a multiple of 4.",
     "NNHAL-ROBUST-003", _WritesBehind),
    ("omits-and-reshapes", "An omitted argument beside one with three dimensions crashes.",
     "NNHAL-ROBUST-003", _crashing(_omits_and_reshapes)),
    ("empty-at-an-end", "An argument without bytes far in its pool crashes.",
     "NNHAL-ROBUST-003", _crashing(_is_empty_at_an_end)),
    ("aliases-of-many", "One of four or more inputs at another's place crashes.",
     "NNHAL-ROBUST-003", _crashing(_has_aliases)),
    ("rank-of-five", "Five dimensions of an output, one of them unknown, crash.",
     "NNHAL-ROBUST-003", _crashing(_rank_of_five)),
)  # fmt: skip
