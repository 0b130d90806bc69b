"""Drivers whose bursts go wrong behind rare histories: refusals, releases and executions outside in some order."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import ExecutionResult, Memory, Request
from npu_conformance.specs.plugin import Context

_INVALID = ErrorStatus.INVALID_ARGUMENT
_SOME_REFUSALS = 3
Tokens = tuple[int, ...]


@forwarding(hal.Burst)
class FaultyBurst(Wrapper, hal.Burst):
    """A burst behind the boundary. known: the memory that came first under each token since it was released."""

    inner: hal.Burst
    context: Context

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.known: dict[int, Memory] = {}
        self.refusals = 0
        self.released: list[int] = []

    def execute_synchronously(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        """Execute, and count refusals."""
        try:
            result = self.run(request, tokens, *rest)
        except ServiceError:
            self.refusals += 1
            raise
        for token, pool in zip(tokens, request.pools, strict=False):
            if pool.pool is not None and token >= 0:
                self.known.setdefault(token, pool.pool)
        self.released.clear()
        return result

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        """Execute in the way of the fault."""
        return self.inner.execute_synchronously(request, tokens, *rest)

    def release_memory_resource(self, token: int) -> None:
        """Release, and note it."""
        self.inner.release_memory_resource(token)
        self.released.append(token)
        self.known.pop(token, None)

    def instead(self, request: Request, places: dict[int, Memory]) -> Request:
        """The request with other memories of the same size at some places."""
        pools = [
            replace(pool, pool=places[place])
            if place in places and pool.pool is not None and places[place].size == pool.pool.size
            else pool
            for place, pool in enumerate(request.pools)
        ]
        return replace(request, pools=tuple(pools))


class _Tired(FaultyBurst):
    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = super().run(request, tokens, *rest)
        if self.refusals >= _SOME_REFUSALS:
            raise ServiceError(_INVALID)
        return result


class _TwoReleases(FaultyBurst):
    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.stale: dict[int, Memory] = {}

    def release_memory_resource(self, token: int) -> None:
        if self.released and token in self.known:
            self.stale[token] = self.known[token]
        super().release_memory_resource(token)

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        places = {place: self.stale.pop(token) for place, token in enumerate(tokens) if token in self.stale}
        result = super().run(request, tokens, *rest)
        other = self.instead(request, places)
        return result if other == request else super().run(other, (-1,) * len(tokens), *rest)


class _ShortTokens(FaultyBurst):
    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = super().run(request, tokens, *rest)
        short = {token & 0xFFFFFFFF: memory for token, memory in self.known.items() if token >> 32}
        places = {place: short[token] for place, token in enumerate(tokens) if token in short and token}
        other = self.instead(request, places)
        return result if other == request else super().run(other, (-1,) * len(tokens), *rest)


class _RefusedThenKept(FaultyBurst):
    """What a refused execution named is kept under its tokens."""

    def __init__(self, inner: hal.Burst) -> None:
        super().__init__(inner)
        self.refused: dict[int, Memory] = {}

    def execute_synchronously(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        try:
            return super().execute_synchronously(request, tokens, *rest)
        except ServiceError:
            named = zip(tokens, request.pools, strict=False)
            self.refused |= {token: pool.pool for token, pool in named if pool.pool is not None and token > 2}
            raise

    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        result = super().run(request, tokens, *rest)
        places = {place: self.refused[token] for place, token in enumerate(tokens) if token in self.refused}
        other = self.instead(request, places)
        return result if other == request else super().run(other, (-1,) * len(tokens), *rest)


class _TimedAndBound(FaultyBurst):
    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        measure, deadline, loop = rest
        if measure and deadline > 0 and loop > 0:
            raise MemoryError("signal 11")
        return super().run(request, tokens, *rest)


class _ReleasesAhead(FaultyBurst):
    def release_memory_resource(self, token: int) -> None:
        if self.refusals and token >= 0 and token not in self.known and len(self.known) > 3:
            raise ServiceError(_INVALID)
        super().release_memory_resource(token)


class _ReleasedTwice(FaultyBurst):
    def release_memory_resource(self, token: int) -> None:
        if len(self.released) > 1 and self.released[-1] == self.released[-2] == token:
            raise MemoryError("double free")
        super().release_memory_resource(token)


class _SwapsTwins(FaultyBurst):
    def run(self, request: Request, tokens: Tokens, *rest: Any) -> ExecutionResult:
        if len(tokens) == 3 and len(set(tokens)) == 1 and tokens[0] > 0:
            raise MemoryError("signal 6")
        return super().run(request, tokens, *rest)


def _bursts(kind: type[FaultyBurst]) -> type[FaultyPreparedModel]:
    class Model(FaultyPreparedModel):
        def taken(self, interface: type, value: Any) -> Any:
            return kind(value) if interface is hal.Burst else value

    return Model


FAULTS: tuple[FuzzFault, ...] = rows(
    "burst",
    ("tired", "Behind three refused executions a burst refuses good ones.", "NNHAL-BURST-017", _bursts(_Tired)),
    ("two-releases", "Of two releases in a row the second leaves the token in a list of stale memory.",
     "NNHAL-BURST-017", _bursts(_TwoReleases)),
    ("short-tokens", "A token is looked up by 32 bits, once one beyond them was used.",
     "NNHAL-BURST-017", _bursts(_ShortTokens)),
    ("refused-then-kept", "A refused execution's memory is kept under tokens from 3 on.",
     "NNHAL-BURST-017", _bursts(_RefusedThenKept)),
    ("timed-and-bound", "An execution that is timed, with a deadline and a loop timeout, crashes.",
     "NNHAL-BURST-018", _bursts(_TimedAndBound)),
    ("releases-ahead", "With four tokens known, and after a refusal, an unknown one cannot be released.",
     "NNHAL-BURST-010", _bursts(_ReleasesAhead)),
    ("released-thrice", "A token that is released for the third time is freed twice.",
     "NNHAL-BURST-010", _bursts(_ReleasedTwice)),
    ("three-alike", "Three pools under one token that is not 0 crash.",
     "NNHAL-BURST-017", _bursts(_SwapsTwins)),
)  # fmt: skip
