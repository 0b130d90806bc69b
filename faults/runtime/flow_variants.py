"""Conforming variants of the NNAPI runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_conformance.faults.fault import Variant
from npu_conformance.faults.runtime.hooks import FaultyRuntime, always, behind, overriding
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.neuralnetworks.runtime.result_codes import NO_DURATION, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Handle, Number


def _without(*methods: str) -> type[FaultyRuntime]:
    """A runtime that does not export these functions."""

    def missing(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        raise Unsupported("the runtime does not export the function")

    def functions(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return tuple(name for name in meant() if name not in methods)

    return overriding({**dict.fromkeys(methods, missing), "functions": functions})


def _no_times(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    return answer if answer.result else Number(ResultCode.NO_ERROR, NO_DURATION)


VARIANTS = [
    Variant(
        "runtime-no-burst",
        "A runtime that does not export bursts.",
        behind(_without("burst_create", "burst_free", "execution_burst_compute")),
    ),
    Variant(
        "runtime-one-device",
        "A runtime without drivers: its CPU is the only device.",
        behind(FaultyRuntime, drivers=0),
    ),
    Variant(
        "runtime-no-times",
        "A runtime that never knows how long anything took.",
        behind(overriding({"execution_get_duration": _no_times})),
    ),
    Variant(
        "runtime-no-device-memory",
        "A runtime that gives no memory from descriptors.",
        behind(overriding({"memory_create_from_desc": always(Handle(ResultCode.OP_FAILED, 0))})),
    ),
]
"""Runtimes that conform in their own way."""
