"""The ways in which an app has an execution computed, each as one call that returns the result code of the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, Handle
from npu_conformance.specs.versions import OLDEST, Version

Compute = Callable[[RuntimeApp, int, int], int]
"""Computes an execution of a compilation, and returns the code when it is over."""


@dataclass(frozen=True, slots=True)
class Way:
    """compute: of an execution, its second argument, of a compilation, its third.

    since: feature level. requirements: what it is evidence for. finds_shapes: it takes outputs of unknown shape.
    """

    compute: Compute
    since: Version
    requirements: tuple[str, ...]
    finds_shapes: bool = True


def ways(level: Version, *, finding_shapes: bool = False) -> tuple[str, ...]:
    """The names of the ways that a feature level has. finding_shapes: those that take outputs of unknown shape."""
    return tuple(name for name, way in WAYS.items() if way.since <= level and (way.finds_shapes or not finding_shapes))


def compute(app: RuntimeApp, way: str, execution: int, compilation: int) -> int:
    """Compute in one of `ways`; returns the result code of the end."""
    return WAYS[way].compute(app, execution, compilation)


def started(app: RuntimeApp, function: str, answer: Handle) -> int:
    """The event of an execution that was started, freed when the case ends; NULL where it was not.

    Fails where an event comes with an error, or none with success (FW-EXE-012).
    """
    succeeded = answer.result == ResultCode.NO_ERROR
    with checks.about("FW-EXE-012"):
        checks.that(
            (answer.handle > NULL) == succeeded,
            f"{function}: expected {'an event' if succeeded else 'no event'}, found {answer.handle}",
        )
    return app.owns(function, answer.handle) if succeeded else NULL


def _synchronous(app: RuntimeApp, execution: int, compilation: int) -> int:
    return cast(int, app.call("execution_compute", execution))


def _asynchronous(app: RuntimeApp, execution: int, compilation: int) -> int:
    answer = app.call("execution_start_compute", execution, True)
    event = started(app, "execution_start_compute", answer)
    return finished(app, event) if event else cast(int, answer.result)


def _burst(app: RuntimeApp, execution: int, compilation: int) -> int:
    burst = app.made("burst_create", compilation, True)
    return cast(int, app.call_and_free(burst, "execution_burst_compute", execution, burst))


def _fenced(app: RuntimeApp, execution: int, compilation: int) -> int:
    answer = start_with_dependencies(app, execution)
    event = started(app, "execution_start_compute_with_dependencies", answer)
    return finished(app, event) if event else answer.result


def start_with_dependencies(
    app: RuntimeApp, execution: int, dependencies: tuple[int, ...] = (), duration: int = 0
) -> Handle:
    """Call ANeuralNetworksExecution_startComputeWithDependencies. duration: nanoseconds."""
    function = "execution_start_compute_with_dependencies"
    return cast(Handle, app.call(function, execution, dependencies, len(dependencies), duration, True))


def finished(app: RuntimeApp, event: int) -> int:
    """Wait for an event and free it; returns its result code."""
    return cast(int, app.call_and_free(event, "event_wait", event))


WAYS: Mapping[str, Way] = {
    "compute": Way(_synchronous, Version.V1_2, ("FW-GEN-001",)),
    "asynchronous": Way(_asynchronous, OLDEST, ("FW-GEN-001", "FW-EXE-012", "FW-EXE-013")),
    "burst": Way(_burst, Version.V1_2, ("FW-GEN-001", "FW-EXE-016")),
    "fenced": Way(_fenced, Version.V1_3, ("FW-GEN-001", "FW-EXE-012"), finds_shapes=False),
}
"""Every way by the name that it has in configurations, the plainest first."""
