"""Drivers that fail by chance, and what has to come of each of their calls. Everything follows from a seed.

A mortal driver dies in some calls; a moody one answers errors, or what cannot be right. No driver is both, so that of
each call it is known by its number how it was to end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import FOR_EVER, DriverCall, DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version

DEAD = (ResultCode.DEAD_OBJECT, ResultCode.OP_FAILED)
"""What a death may be called: in an execution it is no code of its own before feature level 5."""
PREPARE, FROM_CACHE, QUERY, EXECUTE = "prepare_model", "prepare_model_from_cache", "get_supported_operations", "execute"
_BURST = "configure_execution_burst"
_STATUSES = tuple(
    int(status)
    for status in ErrorStatus
    if status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, ErrorStatus.INVALID_ARGUMENT)
)
_OLD_STATUSES = (int(ErrorStatus.GENERAL_FAILURE), int(ErrorStatus.DEVICE_UNAVAILABLE))
"""Those of HAL 1.0 to 1.2."""
_KINDS = {
    QUERY: ("status", "length"),
    PREPARE: ("status", "callback", "null"),
    FROM_CACHE: ("status", "callback", "null"),
    EXECUTE: ("status", "status", "callback", "shapes", "length", "lazy"),
    _BURST: ("status",),
    f"{_BURST}_on_queues": ("status",),
}
_OFTEN = {QUERY: 0.3, PREPARE: 0.4, FROM_CACHE: 0.7, EXECUTE: 0.8, _BURST: 0.3, f"{_BURST}_on_queues": 0.3}
"""How often a driver fails in a method at all, once; in executions in each of three places."""
_LATEST = {QUERY: 3, PREPARE: 4, FROM_CACHE: 3, EXECUTE: 12, _BURST: 3, f"{_BURST}_on_queues": 3}
_FOR_GOOD = ("status", "shapes", "dies")
_OFTEN_DEAD, _MANY = 0.5, 40
_IN_ANSWERS = ("shapes", "length")
"""Kinds that spoil the shapes of outputs, which drivers tell from HAL 1.2 on, but not behind fences."""


def failing_by_chance(scripts: Sequence[DriverScript], seed: int) -> tuple[DriverScript, ...]:
    """The scripts with failures of their own; one driver of four is mortal, and half of these are back at once."""
    chance = random.Random(seed)
    return tuple(_failing(script, chance) for script in scripts)


def failing_for_good(scripts: Sequence[DriverScript], seed: int) -> tuple[DriverScript, ...]:
    """The scripts, each of which fails in all executions from some on, and in nothing else."""
    chance = random.Random(seed)
    return tuple(
        replace(script, misbehaviours=(Misbehaviour(EXECUTE, chance.choice(_FOR_GOOD), first=chance.randint(1, 4)),))
        for script in scripts
    )


def failing_now_and_then(scripts: Sequence[DriverScript], seed: int) -> tuple[DriverScript, ...]:
    """The scripts, each of which fails in single executions, and in nothing else: many by a code, or some by death."""
    chance = random.Random(seed)
    return tuple(
        replace(
            script, restarts=True, misbehaviours=_now_and_then(script, chance, is_mortal=chance.random() < _OFTEN_DEAD)
        )
        for script in scripts
    )


def _now_and_then(script: DriverScript, chance: random.Random, *, is_mortal: bool) -> tuple[Misbehaviour, ...]:
    numbers = sorted(chance.sample(range(2, _MANY), 3 if is_mortal else 9))
    kinds = ("dies",) if is_mortal else ("status", "callback")
    return tuple(
        Misbehaviour(EXECUTE, chance.choice(kinds), _status(script, chance), first=number, count=1)
        for number in numbers
    )


def _failing(script: DriverScript, chance: random.Random) -> DriverScript:
    is_mortal, restarts = chance.randrange(4) == 0, chance.random() < 0.5
    failures = [
        _failure(script, chance, method, "dies" if is_mortal else chance.choice(kinds))
        for method, kinds in _KINDS.items()
        for _ in range(3 if method == EXECUTE else 1)
        if chance.random() < _OFTEN[method]
    ]
    return replace(script, restarts=restarts, misbehaviours=tuple(failures))


def _failure(script: DriverScript, chance: random.Random, method: str, kind: str) -> Misbehaviour:
    status = _status(script, chance)
    return Misbehaviour(method, kind, status, chance.randint(1, _LATEST[method]), chance.choice((1, 1, 2)))


def _status(script: DriverScript, chance: random.Random) -> int:
    return chance.choice(_STATUSES if script.hal >= Version.V1_3 else _OLD_STATUSES)


@dataclass(frozen=True)
class Asked:
    """A call that a driver got, and how it was to misbehave, if at all."""

    script: DriverScript
    call: DriverCall
    found: Misbehaviour | None

    @property
    def method(self) -> str:
        """The name by which misbehaviours know it."""
        return _method(self.call)

    @property
    def is_fenced(self) -> bool:
        """Whether it is an execution behind fences."""
        return "fenced" in self.call.method

    @property
    def fails_later(self) -> bool:
        """Whether it was launched behind fences, and failed then: nobody has to make up for that."""
        return self.is_fenced and self.found is not None and self.found.kind == "callback"

    @property
    def died(self) -> bool:
        """Whether it found the driver dead, or killed it."""
        is_mortal = any(one.kind == "dies" for one in self.script.misbehaviours)
        return is_mortal and self.call.status == ErrorStatus.DEVICE_UNAVAILABLE

    def codes(self) -> tuple[ResultCode, ...]:
        """What a runtime that does not make up for this call may say; empty where nothing excuses a failure."""
        if self.found is not None:
            return self._codes_of(self.found)
        return DEAD if self.died else ()

    def _codes_of(self, found: Misbehaviour) -> tuple[ResultCode, ...]:
        if found.kind in ("status", "callback"):
            return (result_of_status(found.status),)
        if found.kind == "null":
            return (ResultCode.OP_FAILED,)
        tells_shapes = self.script.hal >= Version.V1_2 and not self.is_fenced and self.method == EXECUTE
        return (ResultCode.OP_FAILED,) if found.kind in _IN_ANSWERS and (tells_shapes or self.method == QUERY) else ()


@dataclass
class Watch:
    """Reads what a driver was asked, with the number of each call by its method."""

    script: DriverScript
    _seen: int = 0
    _counts: Counter[str] = field(default_factory=Counter)

    def new(self, calls: Sequence[DriverCall]) -> list[Asked]:
        """What of all calls is new."""
        news, self._seen = calls[self._seen :], len(calls)
        return [self._asked(call) for call in news]

    def _asked(self, call: DriverCall) -> Asked:
        method = _method(call)
        self._counts[method] += 1
        number = self._counts[method]
        found = (
            one
            for one in self.script.misbehaviours
            if one.method == method
            and one.first <= number
            and (one.count == FOR_EVER or number < one.first + one.count)
            and one.kind != "dies"
        )
        return Asked(self.script, call, next(found, None))


def _method(call: DriverCall) -> str:
    if call.method == FROM_CACHE:
        return FROM_CACHE
    if call.method.startswith(PREPARE):
        return PREPARE
    return EXECUTE if EXECUTE in call.method else call.method
