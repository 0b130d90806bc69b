"""Result codes as cases judge them: exactly, or only as success or failure where the manifest says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.errors import name_of
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer


def judge(context: CaseContext, what: str, result: int, *codes: int) -> None:
    """Fail unless a function returned one of these codes.

    Where the manifest promises no exact codes, any failure does for a failure (FW-API-008), with a quality warning.
    """
    if result in codes:
        return
    if result not in ResultCode.__members__.values():
        with checks.about("FW-API-005"):
            checks.fail(what, _names(codes), f"{result}, which is no result code")
    may_fail = any(code != ResultCode.NO_ERROR for code in codes)
    if result == ResultCode.NO_ERROR or not may_fail or context.manifest.exact_result_codes:
        checks.fail(what, _names(codes), name_of(result))
    context.warn_quality(f"{what}: {name_of(result)} in place of {_names(codes)}")


def telling_the_call(function: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Inside, a failure ends with the call and its arguments."""

    def reword(message: str) -> str:
        parameters = [name for name, _ in describe(Runtime)[function].parameters]
        given = {**dict(zip(parameters, arguments, strict=False)), **named}
        told = ", ".join(f"{name} {_spelled(value)}" for name, value in given.items())
        return f"{message}; called with {told or 'nothing'}"

    return checks.reworded(reword)


def told_as(when: str) -> AbstractContextManager[None]:
    """Inside, a failure begins with when it happened: it is not of the call that the case is about."""
    return checks.reworded(lambda message: f"{when}: {message}")


def _spelled(value: Any) -> str:
    if isinstance(value, Pointer):
        return f"of byte {value.offset} of {value.memory.size}"
    return "null" if value is None else checks.format_value(value)


def _names(codes: tuple[int, ...]) -> str:
    return " or ".join(name_of(code) for code in codes)
