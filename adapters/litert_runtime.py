"""The LiteRT runtime, imported only when it is used: its schema, its interpreter and its three sets of kernels."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import EngineError, module
from npu_conformance.specs.installing import pip_install

INSTALL_HINT = f"LiteRT is not installed: {pip_install('litert')}"

XNNPACK = "xnnpack"
KERNELS = {
    "reference": "BUILTIN_REF",
    "optimized": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
    XNNPACK: "AUTO",
}
"""The option `kernels`, and LiteRT's name of the operator resolver behind each value."""

Array = npt.NDArray[Any]


class LiteRtError(EngineError):
    """LiteRT rejected a model or failed to run it; the message is LiteRT's."""


@functools.cache
def schema() -> Any:
    """The flatbuffer tables of .tflite. Raises EngineMissingError where LiteRT is not installed."""
    return module("ai_edge_litert.schema_py_generated", INSTALL_HINT)


def flatbuffer_builder() -> Any:
    """A new flatbuffer builder."""
    return module("flatbuffers", INSTALL_HINT).Builder(1024)


@functools.cache
def runtime_version() -> str:
    """Version of the installed LiteRT package. Raises EngineMissingError."""
    schema()
    return metadata.version("ai-edge-litert")


class Interpreter:
    """One .tflite model in LiteRT, its tensors allocated. Safe to use from several threads, one run at a time.

    kernels: a key of KERNELS. Raises LiteRtError where LiteRT refuses the model.
    """

    def __init__(self, flatbuffer: bytes, kernels: str) -> None:
        litert = module("ai_edge_litert.interpreter", INSTALL_HINT)
        self._lock = threading.Lock()
        self._flatbuffer = flatbuffer
        try:
            self._interpreter = litert.Interpreter(
                model_content=flatbuffer,
                experimental_op_resolver_type=litert.OpResolverType[KERNELS[kernels]],
                num_threads=1,
            )
            self._interpreter.allocate_tensors()
        except (RuntimeError, ValueError, MemoryError) as error:
            raise LiteRtError(" ".join(str(error).split())) from error

    def shapes(self, count: int) -> list[tuple[int, ...]]:
        """Shapes of the first `count` tensors, as LiteRT has inferred them."""
        found: list[tuple[int, ...]] = [()] * count
        for detail in self._interpreter.get_tensor_details():
            if detail["index"] < count:
                found[detail["index"]] = tuple(int(dimension) for dimension in detail["shape"])
        return found

    def run(self, inputs: Sequence[tuple[int, Array]], outputs: Sequence[int]) -> list[Array]:
        """Set the input tensors, run, and return copies of the output tensors. Raises LiteRtError on failure."""
        with self._lock:
            try:
                for number, values in inputs:
                    self._interpreter.set_tensor(number, values)
                self._interpreter.invoke()
                return [np.array(self._interpreter.get_tensor(number)) for number in outputs]
            except (RuntimeError, ValueError, MemoryError) as error:
                raise LiteRtError(" ".join(str(error).split())) from error
