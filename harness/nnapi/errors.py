"""A function of the NNAPI C API that did not succeed where the caller needs success."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class CallError(Exception):
    """function: its method in Runtime. result: the code that it returned."""

    def __init__(self, function: str, result: int) -> None:
        super().__init__(f"{function} returned {name_of(result)}, expected NO_ERROR")
        self.function, self.result = function, result


def name_of(result: int) -> str:
    """`BAD_DATA (4)`; the bare number where it is no result code."""
    known = result in ResultCode.__members__.values()
    return f"{ResultCode(result).name} ({result})" if known else str(result)


def require(function: str, result: int) -> None:
    """Raise CallError where a function did not return NO_ERROR."""
    if result != ResultCode.NO_ERROR:
        raise CallError(function, result)
