"""The ways to compute, each as a function that returns how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

Compute = Callable[[RuntimeApp, int, int], int]
"""Computes an execution of a compilation, and returns the code of the call, or of the event where that succeeded."""


def _compute(app: RuntimeApp, execution: int, compilation: int) -> int:
    return cast(int, app.call("execution_compute", execution))


def _start_compute(app: RuntimeApp, execution: int, compilation: int) -> int:
    return _ended(app, app.call("execution_start_compute", execution, True))


def _burst_compute(app: RuntimeApp, execution: int, compilation: int) -> int:
    return cast(int, app.call("execution_burst_compute", execution, app.made("burst_create", compilation, True)))


def _start_with_dependencies(app: RuntimeApp, execution: int, compilation: int) -> int:
    return _ended(app, app.call("execution_start_compute_with_dependencies", execution, (), 0, 0, True))


def _ended(app: RuntimeApp, answer: Any) -> int:
    """Wait for an event. On a failure there is none (FW-EXE-012)."""
    if answer.result != ResultCode.NO_ERROR:
        with checks.about("FW-EXE-012"):
            checks.equal(answer.handle, NULL, "event of a computation that did not start")
        return cast(int, answer.result)
    return cast(int, app.call("event_wait", app.owns("execution_start_compute", answer.handle)))


COMPUTE: Mapping[str, Compute] = {
    "execution_compute": _compute,
    "execution_start_compute": _start_compute,
    "execution_burst_compute": _burst_compute,
    "execution_start_compute_with_dependencies": _start_with_dependencies,
}
"""By function."""
