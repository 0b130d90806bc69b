"""A function of the NNAPI C API that did not succeed where the caller needs success."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.wire.binding import MethodCall, call_each
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class CallError(Failed):
    """function: its method in Runtime. result: the code that it returned. A case that does not catch it has failed."""

    def __init__(self, function: str, result: int) -> None:
        expected, found = name_of(ResultCode.NO_ERROR), name_of(result)
        super().__init__(f"{function}: expected {expected}, found {found}", expected, found)
        self.function, self.result = function, result


def name_of(result: int) -> str:
    """`BAD_DATA (4)`; the bare number where it is no result code."""
    known = result in ResultCode.__members__.values()
    return f"{ResultCode(result).name} ({result})" if known else str(result)


def require(function: str, result: int) -> None:
    """Raise CallError where a function did not return NO_ERROR."""
    if result != ResultCode.NO_ERROR:
        raise CallError(function, result)


def require_each(runtime: Runtime, calls: Iterable[MethodCall]) -> None:
    """Call functions that return nothing but a code. Raises CallError of the first that does not return NO_ERROR."""
    for function, result in call_each(runtime, calls):
        require(function, result)
