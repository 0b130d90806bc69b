"""Everything that a state refuses: each function in a configuration of its own."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal import SCENES
from npu_conformance.harness.judge.api_handles import judge_handle
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime


def is_of_level(app: RuntimeApp, function: str) -> bool:
    """Whether the runtime's feature level has a function, and the runtime itself."""
    return describe(Runtime)[function].mark.since <= app.level and app.has(function)


def refuses(app: RuntimeApp, functions: Iterable[str], position: str, handle: int, code: int) -> None:
    """Have every function called on an object, with arguments that would be legal otherwise; each returns the code."""
    for function in functions:
        if is_of_level(app, function):
            with app.context.configuration(function):
                arguments = {**SCENES[function](app).arguments, position: handle}
                judge_handle(function, code, arguments, app.refused(function, code, **arguments))
