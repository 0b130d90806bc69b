"""What the NPU suites reach on the reference: every callback, status and reason of the interfaces (specs/npu)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from npu_conformance.cts import npu_buffers, npu_manager
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.manager import manager
from npu_conformance.specs.interfaces import Interface, describe, is_interface
from npu_conformance.specs.npu import buffers, scheduling, workload
from npu_conformance.specs.npu import manager as manager_interface
from npu_conformance.specs.npu.types import CompletionStatus, EndReason, LoadStatus, StartReason, UnloadReason
from npu_conformance.vts import npu_scheduling

INTERFACES = {
    interface
    for module in (scheduling, workload, manager_interface, buffers)
    for interface in vars(module).values()
    if is_interface(interface) and interface.__name__.endswith(("Callback", "Listener"))
}
RECEIVERS = ("npu_conformance.vts.", "npu_conformance.cts.", "npu_conformance.harness.judge.", manager.__name__)
"""Where what crosses between a suite and the subject arrives."""
Reached = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def reached() -> Reached:
    """The arguments of each call, by interface and method, of a run of the suites."""
    found: Reached = {}
    with pytest.MonkeyPatch.context() as patch:
        cases = [*npu_scheduling.cases(), *npu_manager.cases(), *npu_buffers.cases()]
        for interface in INTERFACES:
            _watch(interface, found, patch)
        subject = open_subject("reference", isolation="inprocess")
        try:
            for case in cases:
                context = CaseContext(case, subject, scope=Scope.SMOKE)
                try:
                    case.run(context)
                except NotApplicable:
                    continue
                finally:
                    context.close()
        finally:
            subject.close()
    return found


def _watch(interface: type, found: Reached, patch: pytest.MonkeyPatch) -> None:
    for kind in _receivers(interface):
        for name in describe(interface).keys() & vars(kind).keys():
            calls = found.setdefault(f"{interface.__name__}.{name}", [])
            patch.setattr(kind, name, _watched(vars(kind)[name], calls))


def _receivers(interface: type) -> Iterator[type]:
    kinds: list[type] = interface.__subclasses__()
    for kind in kinds:
        yield from _receivers(kind)
        if kind.__module__.startswith(RECEIVERS):
            yield kind


def _watched(method: Callable[..., None], calls: list[tuple[Any, ...]]) -> Callable[..., None]:
    @functools.wraps(method)
    def watched(receiver: Interface, *arguments: Any) -> None:
        calls.append(arguments)
        method(receiver, *arguments)

    return watched


def test_every_method_of_every_callback_and_listener(reached: Reached) -> None:
    every = {f"{interface.__name__}.{name}" for interface in INTERFACES for name in describe(interface)}
    assert every - {name for name, calls in reached.items() if calls} == set()


@pytest.mark.parametrize(
    ("method", "values"),
    [
        ("ModelLoadRequestCallback.on_can_load_model", set(LoadStatus)),
        ("ModelLoadRequestCallback.on_request_unload_model", {None, *UnloadReason}),
        ("ModelLoadRequestCallback.on_model_load_request_complete", set(CompletionStatus)),
        ("SchedulingCallback.on_work_started", set(StartReason)),
        ("SchedulingCallback.on_work_ended", set(EndReason)),
        ("WorkloadCallback.on_run_ended", {True, False}),
    ],
)
def test_every_status_and_reason(method: str, values: set[int | None], reached: Reached) -> None:
    received = {arguments[min(1, len(arguments) - 1)] for arguments in reached[method]}
    assert received == values
