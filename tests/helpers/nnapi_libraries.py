"""Shared libraries with the NNAPI C API for tests, and an app that uses one."""

from __future__ import annotations

import importlib.util
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from graphs import INPUT, OUTPUT, constant, graph, tensor
from patience import SECONDS
from places import ROOT

from npu_conformance.harness.nnapi.caller_memory import PooledMemory
from npu_conformance.harness.nnapi.models import BuiltModel, build
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)

OK = ResultCode.NO_ERROR
TINY = ROOT / "examples" / "nnapi_tiny" / "nnapi_tiny.c"
NEEDED = [
    pytest.mark.skipif(importlib.util.find_spec("cffi") is None, reason="cffi is not installed"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]
"""Marks of tests that compile and call a library."""


def compiled(source: Path, library: Path, *options: str) -> str:
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        *options,
        "-o",
        str(library),
        str(source),
    ]
    subprocess.run(command, check=True, timeout=SECONDS)
    return str(library)


@contextmanager
def opened(spec: str, isolation: Isolation = "inprocess", transport: str = "path") -> Iterator[SubjectHandle]:
    subject = open_subject(spec, isolation=isolation, transports=(transport,))
    try:
        yield subject
    finally:
        subject.close()


@contextmanager
def runtime_of(spec: str) -> Iterator[Runtime]:
    with opened(spec) as subject:
        assert subject.interfaces.runtime is not None
        yield subject.interfaces.runtime


def sum_model() -> Model:
    """Two floats, to which 1 and -2 are added."""
    values = struct.pack("<2fi", 1, -2, 0)
    operands = [
        tensor(lifetime=INPUT),
        constant(OperandType.TENSOR_FLOAT32, (2,), 0, 8),
        constant(OperandType.INT32, (), 8, 4),
        tensor(lifetime=OUTPUT),
    ]
    return Model(graph(operands, [Operation(OperationType.ADD, (0, 1, 2), (3,))]), operand_values=values)


class App:
    """What an app does with a library: one model, compiled for the first device, and two pools of arguments."""

    def __init__(self, subject: SubjectHandle, kind: str = "mmap_fd") -> None:
        assert subject.interfaces.runtime is not None
        self.runtime = subject.interfaces.runtime
        self.memory = PooledMemory(lambda size: subject.memory.create("mmap_fd", size))
        self.device = self.runtime.get_device(0, True).handle
        self.model = sum_model()
        self.pool = subject.memory.create(kind, 16)

    def compiled(self) -> tuple[BuiltModel, int]:
        built = build(self.runtime, self.memory, self.model)
        made = self.runtime.compilation_create_for_devices(built.handle, (self.device,), True)
        assert (made.result, self.runtime.compilation_finish(made.handle)) == (OK, OK)
        return built, made.handle

    def request(self, *values: float) -> Request:
        self.pool.write(0, struct.pack("<2f", *values))
        pools = (RequestMemoryPool(pool=self.pool.memory),)
        arguments = [RequestArgument(location=DataLocation(0, offset, 8)) for offset in (0, 8)]
        return Request((arguments[0],), (arguments[1],), pools)

    def result(self) -> tuple[float, ...]:
        return struct.unpack("<2f", self.pool.read(8, 8))
