"""Handles that are no objects any more, or objects of another kind, in every position; null where objects are freed.

Only a runtime whose manifest promises to check handles is asked: to the others such a pointer may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal import SCENES
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, Object, run_row
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.interfaces import Method, describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

Make = Callable[[RuntimeApp], int]


def _burst(app: RuntimeApp) -> int:
    return app.made("burst_create", app.finished_compilation(), True)


def _event(app: RuntimeApp) -> int:
    return app.started(app.ready_execution())


def _memory(app: RuntimeApp) -> int:
    memory, _ = app.shared_memory()
    return memory


_OBJECTS: Mapping[str, Make] = {
    "model": RuntimeApp.finished_model,
    "compilation": RuntimeApp.finished_compilation,
    "execution": RuntimeApp.ready_execution,
    "burst": _burst,
    "event": _event,
    "memory": _memory,
    "desc": RuntimeApp.finished_descriptor,
}
"""How to make an object of each kind; devices are neither made nor freed."""
_POSITIONS: Mapping[str, str] = {**dict.fromkeys(("src", "dst"), "memory"), "value": "model", "device": "device"}
"""The kind that belongs in a position which is not named by its kind."""


def _freed(make: Make, app: RuntimeApp) -> int:
    """The handle of an object that was freed."""
    handle = make(app)
    app.free(handle)
    return handle


def _foreign(kind: str) -> Make:
    """An object of another kind."""
    return _OBJECTS["compilation" if kind == "model" else "model"]


def _handles(function: Method) -> Iterator[tuple[str, str]]:
    """The positions of a function in which a handle is passed, each with the kind that belongs there."""
    for name, hint in function.parameters:
        kind = _POSITIONS.get(name, name)
        if hint is int and (kind in _OBJECTS or kind == "device"):
            yield name, kind


def _run(function: str, position: str, make: Make, context: CaseContext) -> None:
    if not context.manifest.checks_handles:
        raise NotApplicable("checks_handles is promised neither by the manifest nor by --plugin-option of a library")
    run_row(function, (BAD_DATA,), ({position: Object(make)},), SCENES[function], context)


def _wrong_handles() -> Iterator[Case]:
    for name in SCENES:
        function = describe(Runtime)[name]
        for position, kind in _handles(function):
            wrong: dict[str, Make] = {"foreign": _foreign(kind)}
            if kind != "device":
                wrong["freed"] = partial(_freed, _OBJECTS[kind])
            for what, make in wrong.items():
                yield Case(
                    f"cts.misuse.{name}.{what}_{position}",
                    partial(_run, name, position, make),
                    ("FUZ-011", "FUZ-001"),
                    f"{name}, {what} {position}: BAD_DATA, and no effect.",
                    "runtime",
                    function.mark.since,
                    group=Group.RUNTIME_EXECUTIONS if kind in ("execution", "burst", "event") else Group.RUNTIME_MODELS,
                )


def _free_null(function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    for _ in range(2):
        app.call(function, NULL)
    app.computes(app.ready_execution())


def _null_frees() -> Iterator[Case]:
    for name, function in describe(Runtime).items():
        if name.endswith("_free"):
            yield Case(
                f"cts.misuse.{name}.null",
                partial(_free_null, name),
                ("FW-API-002",),
                f"{name} of null is ignored, and the runtime goes on to work.",
                "runtime",
                function.mark.since,
                group=Group.RUNTIME_MODELS,
            )


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _wrong_handles()
    yield from _null_frees()
