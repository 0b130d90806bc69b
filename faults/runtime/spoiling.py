"""Faulty runtimes that touch the bytes of arguments and constants, or that do not stand calls at once."""

from __future__ import annotations

import threading
import time
from typing import Any

from npu_conformance.faults.runtime.hooks import FaultyRuntime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer

_A_WHILE = 0.02
"""How many seconds make sure that two concurrent calls overlap."""


class KeepsInputs(FaultyRuntime):
    """Inputs behind pointers are those that lay there when they were set."""

    def execution_set_input(self, execution: int, index: int, type: Any, buffer: Pointer | None, length: int) -> int:
        if buffer is not None:
            kept: dict[int, list[Any]] = self.__dict__.setdefault("kept", {})
            kept.setdefault(execution, []).append((buffer, bytes(self.bytes_at(buffer, length))))
        return self.inner.execution_set_input(execution, index, type, buffer, length)

    def execution_compute(self, execution: int) -> int:
        for pointer, content in self.__dict__.get("kept", {}).pop(execution, ()):
            self.bytes_at(pointer, len(content))[:] = content
        return self.inner.execution_compute(execution)


class SpoilsInputs(FaultyRuntime):
    """The first input is overwritten while it is computed."""

    def execution_set_input(self, execution: int, index: int, type: Any, buffer: Pointer | None, length: int) -> int:
        if index == 0 and buffer is not None:
            self.__dict__.setdefault("first", {})[execution] = buffer, length
        return self.inner.execution_set_input(execution, index, type, buffer, length)

    def execution_compute(self, execution: int) -> int:
        result = self.inner.execution_compute(execution)
        pointer, length = self.__dict__.get("first", {}).get(execution, (None, 0))
        if pointer is not None and not result:
            self.bytes_at(pointer, length)[:] = bytes(length)
        return result


class SpoilsOutputs(FaultyRuntime):
    """One bit that counts of each output behind a pointer is another. computing: by which method alone."""

    computing = "execution_compute"

    def execution_set_output(self, execution: int, index: int, type: Any, buffer: Pointer | None, length: int) -> int:
        self.__dict__.setdefault("outputs", {}).setdefault(execution, []).append((buffer, length))
        return self.inner.execution_set_output(execution, index, type, buffer, length)

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == self.computing and not answer:
            for pointer, length in self.__dict__.get("outputs", {}).get(arguments[0], ()):
                content = self.bytes_at(pointer, length)
                content[length - 1] ^= 0x42
        return answer


class SpoilsBursts(SpoilsOutputs):
    """The same over bursts alone."""

    computing = "execution_burst_compute"


class LateConstants(FaultyRuntime):
    """Small constants are read when the model is finished."""

    def model_set_operand_value(self, model: int, index: int, buffer: Pointer | None, length: int) -> int:
        if buffer is not None:
            self.__dict__.setdefault("late", {}).setdefault(model, []).append((index, buffer, length))
        return self.inner.model_set_operand_value(model, index, buffer, length)

    def model_finish(self, model: int) -> int:
        for index, pointer, length in self.__dict__.get("late", {}).pop(model, ()):
            self.inner.model_set_operand_value(model, index, pointer, length)
        return self.inner.model_finish(model)


class FailsBesideAnother(FaultyRuntime):
    """An execution that is computed while another one is fails."""

    def execution_compute(self, execution: int) -> int:
        lock: threading.Lock = self.__dict__.setdefault("lock", threading.Lock())
        if not lock.acquire(blocking=False):
            return ResultCode.RESOURCE_EXHAUSTED_TRANSIENT
        try:
            time.sleep(_A_WHILE)
            return self.inner.execution_compute(execution)
        finally:
            lock.release()
