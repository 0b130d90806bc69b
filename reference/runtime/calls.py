"""How the functions of the API end: what an object raises becomes a result code; nothing of Python escapes."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class NullPointer(RuntimeFailure):
    """A null pointer was found before anything was written."""

    def __init__(self) -> None:
        super().__init__(ResultCode.UNEXPECTED_NULL, "a pointer is null")


def not_null(*pointers: object) -> None:
    """Raise NullPointer for a null handle, a null pointer, or an out-parameter without a place to write to."""
    for pointer in pointers:
        if pointer is None or pointer is False or (type(pointer) is int and pointer == NULL):
            raise NullPointer


def code(function: Callable[Parameters, None]) -> Callable[Parameters, int]:
    """A function of the API that returns a result code and writes nothing."""

    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> int:
        try:
            function(*args, **kwargs)
        except Exception as error:
            return _result(function, error)
        return ResultCode.NO_ERROR

    return call


def answer(
    of_result: Callable[[ResultCode], Answer], on_failure: Callable[[ResultCode], Answer] | None = None
) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """A function of the API that writes something.

    of_result: the answer that has written nothing. on_failure: what is written on failures, other than the null
    pointers that `not_null` finds; nothing where it is None.
    """

    def decorated(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                made = of_result if on_failure is None or isinstance(error, NullPointer) else on_failure
                return made(_result(function, error))

        return call

    return decorated


def _result(function: Callable[..., object], error: Exception) -> ResultCode:
    reason = str(error)
    if isinstance(error, RuntimeFailure):
        vlog.log("manager", lambda: f"{function.__name__}: {error.result.name}: {reason}")
        return error.result
    if isinstance(error, MemoryError):
        return ResultCode.OUT_OF_MEMORY
    traceback.print_exception(error)
    return ResultCode.OP_FAILED
