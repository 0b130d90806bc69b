"""Drivers whose bursts have bugs that a single execution does not show. Option `bug` says which one."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import ExecutionResult, Memory, Request
from npu_conformance.specs.plugin import Context, MemoryMap, Plugin, Subject
from npu_conformance.specs.versions import NEWEST

_INVALID = ErrorStatus.INVALID_ARGUMENT
Tokens = tuple[int, ...]


def _with_memories(request: Request, memories: Iterable[Memory | None]) -> Request:
    pools = tuple(replace(pool, pool=memory) for pool, memory in zip(request.pools, memories, strict=True))
    return replace(request, pools=pools)


@forwarding(hal.Burst)
class _Burst(Wrapper, hal.Burst):
    """A burst that looks memory up itself: its inner one gets no identity. shared: by all bursts of the device."""

    inner: hal.Burst
    shared: dict[int, Memory]
    alive: weakref.WeakSet[_Burst]
    memory: MemoryMap

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.known: dict[int, Memory] = {}

    def execute_synchronously(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        return self.run(request, tokens, *rest)

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        return self.inner.execute_synchronously(request, tokens, *rest)

    def looked_up(self, request: Request, tokens: Tokens, *rest: Any, least: int = 0) -> ExecutionResult:
        """Execute with the memory that is known of each token; tokens below `least` are not kept."""
        if len(tokens) != len(request.pools) or min(tokens, default=0) < -1:
            raise ServiceError(_INVALID)
        memories = [
            pool.pool if pool.pool is None or token < least else self.known.setdefault(token, pool.pool)
            for pool, token in zip(request.pools, tokens, strict=True)
        ]
        return self.inner.execute_synchronously(_with_memories(request, memories), (-1,) * len(tokens), *rest)


class _KeepsReleased(_Burst):
    """What is released stays known."""

    run = _Burst.looked_up

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)


class _SharesTokens(_Burst):
    """Tokens are those of all bursts that are open, not of one."""

    run = _Burst.looked_up

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.known = self.shared
        weakref.finalize(self, self._closed, self.alive, self.shared)
        self.alive.add(self)  # behind the finalizer, which so finds the burst gone

    @staticmethod
    def _closed(alive: weakref.WeakSet[_Burst], shared: dict[int, Memory]) -> None:
        if not alive:
            shared.clear()

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)
        self.known.pop(token, None)


class _KeepsNone(_Burst):
    """Keeps also what has no identity."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        return self.looked_up(request, tokens, *rest, least=-1)

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)
        self.known.pop(token, None)


class _KeepsContents(_Burst):
    """Inputs are read when their memory is seen for the first time."""

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.contents: dict[int, bytes] = {}

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = self.inner.execute_synchronously(request, tokens, *rest)
        places = {argument.location.pool_index for argument in request.inputs if not argument.has_no_value}
        for place in places - {argument.location.pool_index for argument in request.outputs}:
            memory = request.pools[place].pool
            if memory is not None and tokens[place] >= 0:
                view = self.memory.map(memory)
                view[:] = self.contents.setdefault(tokens[place], bytes(view))
        return self.inner.execute_synchronously(request, tokens, *rest) if places else result

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)
        self.contents.pop(token, None)


class _CountsLoosely(_Burst):
    """Tokens behind those of the pools are passed over."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        return self.inner.execute_synchronously(request, tokens[: len(request.pools)], *rest)


class _TakesNegative(_Burst):
    """Every negative token after the first one means no identity."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        given = (*tokens[:1], *(max(token, -1) for token in tokens[1:]))
        return self.inner.execute_synchronously(request, given, *rest)


class _ReleasesKnown(_Burst):
    """What is not known, or not any more, cannot be released."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = self.inner.execute_synchronously(request, tokens, *rest)
        self.known.update({token: pool.pool for pool, token in zip(request.pools, tokens, strict=True) if pool.pool})
        return result

    def release_memory_resource(self, token: int) -> None:
        if self.known.pop(token, None) is None:
            raise ServiceError(_INVALID)
        self.inner.release_memory_resource(token)


class _StaysBusy(_Burst):
    """A refused request leaves the burst as if it were executing; another burst of the model is not affected."""

    busy = False

    def run(self, *arguments: Any) -> ExecutionResult:
        if self.busy:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE)
        self.busy = True
        result = self.inner.execute_synchronously(*arguments)
        self.busy = False
        return result


class _ChecksOnce(_Burst):
    """Where all tokens are known from an execution that went well, inputs behind their memory are cut, not refused."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        if tokens and all(token in self.known for token in tokens):
            request = replace(request, inputs=tuple(self._cut(request, argument) for argument in request.inputs))
        result = self.inner.execute_synchronously(request, tokens, *rest)
        self.known.update({token: pool.pool for pool, token in zip(request.pools, tokens, strict=True) if pool.pool})
        return result

    def _cut(self, request: Request, argument: Any) -> Any:
        place = argument.location
        size = request.pools[place.pool_index].pool if 0 <= place.pool_index < len(request.pools) else None
        if size is None or place.offset + place.length + place.padding <= size.size or place.length > size.size:
            return argument
        return replace(argument, location=replace(place, offset=size.size - place.length, padding=0))


class _RefusesTwice(_Burst):
    """One token may not stand for two pools of a request."""

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = self.inner.execute_synchronously(request, tokens, *rest)
        named = [token for token in tokens if token >= 0]
        if len(set(named)) < len(named):
            raise ServiceError(_INVALID)
        return result


class _EvictsWrongly(_Burst):
    """Two memories are kept; a third one takes the place of the first, whose token stays."""

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.slots: list[Memory] = []
        self.places: dict[int, int] = {}

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        self.inner.execute_synchronously(request, tokens, *rest)
        memories = [
            self._kept(token, pool.pool) if pool.pool is not None and token >= 0 else pool.pool
            for pool, token in zip(request.pools, tokens, strict=True)
        ]
        given = _with_memories(request, memories)
        return self.inner.execute_synchronously(given, (-1,) * len(tokens), *rest)

    def _kept(self, token: int, memory: Memory) -> Memory:
        if token not in self.places:
            self.places[token] = len(self.places) % 2
            self.slots[self.places[token] :] = [memory, *self.slots[self.places[token] + 1 :]]
        return self.slots[self.places[token]]

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)
        self.places.pop(token, None)


class _ForgetsTimes(_Burst):
    """A loop timeout is looked at in the older call alone."""

    def execute_synchronously_with_config(self, *arguments: Any) -> ExecutionResult:
        request, tokens, config, deadline = arguments
        return self.inner.execute_synchronously(request, tokens, config.measure_timing, deadline, -1)


class _WritesLate(_Burst):
    """What was released is still cleared: the last byte of its memory, in the next execution."""

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.gone: list[Memory] = []

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        for memory in self.gone:
            self.memory.map(memory)[-1] = 0
        self.gone.clear()
        result = self.inner.execute_synchronously(request, tokens, *rest)
        self.known.update({token: pool.pool for pool, token in zip(request.pools, tokens, strict=True) if pool.pool})
        return result

    def release_memory_resource(self, token: int) -> None:
        self.inner.release_memory_resource(token)
        self.gone += [self.known.pop(token)] if token in self.known else []


BUGS: dict[str, type[_Burst]] = {
    "keeps-released": _KeepsReleased,
    "shares-tokens": _SharesTokens,
    "keeps-none": _KeepsNone,
    "keeps-contents": _KeepsContents,
    "counts-loosely": _CountsLoosely,
    "takes-negative": _TakesNegative,
    "releases-known": _ReleasesKnown,
    "stays-busy": _StaysBusy,
    "checks-once": _ChecksOnce,
    "refuses-twice": _RefusesTwice,
    "evicts-wrongly": _EvictsWrongly,
    "forgets-times": _ForgetsTimes,
    "writes-late": _WritesLate,
}


class _Model(FaultyPreparedModel):
    burst: type[_Burst]

    def taken(self, interface: type, value: Any) -> Any:
        return self.burst(value) if interface is hal.Burst else value


def _create(context: Context) -> Subject:
    kind = BUGS[context.options["bug"]]
    burst = type(kind.__name__, (kind,), {"shared": {}, "alive": weakref.WeakSet(), "memory": context.memory})

    class Device(FaultyDevice):
        prepared_model = type("Model", (_Model,), {"burst": burst, "context": context})

    return Subject(device=Device(ReferenceDevice(context, NEWEST)))


_OPTIONS = {"bug": f"one of {', '.join(BUGS)}"}
plugin = Plugin(Manifest(name="bursts", vendor="tests", version="1", hal_version=NEWEST, options=_OPTIONS), _create)
