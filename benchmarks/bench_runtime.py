"""Measures the reference runtime in this process by a model of one ADD, and cases of cts.generated over the wire."""

from __future__ import annotations

import json
import os
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.figures import Figure, cost
from npu_conformance.harness.nnapi.errors import require
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.protocol import Attach
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.reference.runtime.api import ReferenceRuntime
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import Handle, OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import NEWEST

_ROUNDS, _TURNS = 20, 20
_RUN = [sys.executable, "-m", "npu_conformance", "run", "--plugin", "reference", "-q", "--report"]
_VECTOR = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,))
_ACTIVATION = OperandDescription(OperandType.INT32)
_PAGE = Memory("ashmem", 4096, 1)
_INPUTS, _OUTPUT, _NONE = (Pointer(_PAGE, 0), Pointer(_PAGE, 64)), Pointer(_PAGE, 128), Pointer(_PAGE, 192)


def figures() -> Iterator[Figure]:
    """Of the whole life of a model, of a computation alone, on the CPU and on a driver, and of cases."""
    app = Addition()
    yield Figure("runtime: model to free, CPU", _microseconds(lambda: app.live(0)) / 1000, "ms", aim=1.0)
    yield Figure("runtime: model to free, driver", _microseconds(lambda: app.live(1)) / 1000, "ms")
    yield Figure("runtime: compute, CPU", _microseconds(app.computation(0)), "us", aim=150)
    yield Figure("runtime: compute, driver", _microseconds(app.computation(1)), "us")
    yield _over_the_hal(app)
    yield _generated()


def _over_the_hal(app: Addition) -> Figure:
    """What the runtime adds to its driver's own execution of a model of 30 operations."""
    execute, inside = ReferencePreparedModel.execute_synchronously, list[float]()

    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return execute(*arguments, **named)
        finally:
            inside.append(time.process_time() - started)

    with patch.object(ReferencePreparedModel, "execute_synchronously", timed):
        whole = _microseconds(app.computation(1, operations=30))
    driver = statistics.median(inside) * 1e6
    return Figure(
        "runtime: 30 operations, over the HAL", 100 * (whole / driver - 1), "%", f"driver: {driver:.0f} us", 30
    )


def _generated() -> Figure:
    """Cases of cts.generated a second of processors, the host's included, less what a run of one of them takes."""
    with tempfile.TemporaryDirectory() as folder:
        one = cost([*_RUN, folder, "cts.generated.ADD.float32_none_same"], 3).processor
        many = cost([*_RUN, folder, "cts.generated", "--shard", "1/12"], 3).processor
        events = [json.loads(line) for line in Path(folder, "events.jsonl").read_text().splitlines()]
    count = sum(event["event"] == "case-finished" for event in events) - 1
    each = (many - one) / count
    compared = f"{1000 * each:.1f} ms each; start and one case: {one:.2f} s"
    return Figure("cases of cts.generated on one core", 1 / each, "/s", compared)


def _microseconds(run: Callable[[], None]) -> float:
    """The median of one run, in time of the processor: other processes do not count."""
    times = []
    for _ in range(_ROUNDS + 2):
        started = time.process_time()
        for _ in range(_TURNS):
            run()
        times.append((time.process_time() - started) / _TURNS)
    return statistics.median(times[2:]) * 1e6


class Addition:
    """An app that adds two vectors, on a runtime with the reference's driver (device 0) and the CPU (device 1)."""

    def __init__(self) -> None:
        memory = HostMemory()
        memory.attach(Attach(_PAGE.token, _PAGE.size, "message"), None)
        memory.map(_PAGE)[:16] = struct.pack("<2f", 1, 2) + bytes(8)
        service = RuntimeService(Context(memory, lambda: Caller(os.getuid(), os.getpid())))
        device = ReferenceDevice(service.driver_context)
        self._runtime: ReferenceRuntime = service.start([LivingService("reference-npu", NEWEST, device)])[0]
        count = self._runtime.get_device_count(True).value
        driver, cpu = (_made(self._runtime.get_device(index, True)) for index in range(count))
        self._devices = (cpu, driver)

    def live(self, device: int) -> None:
        """Build, compile, execute and free. device: 0 is the CPU, 1 the driver."""
        runtime, (model, compilation, execution) = self._runtime, self._made(device, reusable=False)
        require("execution_compute", runtime.execution_compute(execution))
        runtime.execution_free(execution)
        runtime.compilation_free(compilation)
        runtime.model_free(model)

    def computation(self, device: int, operations: int = 1) -> Callable[[], None]:
        """A computation that can be repeated. operations: each adds the second vector to what the one before found."""
        execution = self._made(device, reusable=True, operations=operations)[2]
        return lambda: require("execution_compute", self._runtime.execution_compute(execution))

    def _made(self, device: int, *, reusable: bool, operations: int = 1) -> tuple[int, int, int]:
        runtime, model = self._runtime, self._model(operations)
        compilation = _made(runtime.compilation_create_for_devices(model, (self._devices[device],), True))
        require("compilation_finish", runtime.compilation_finish(compilation))
        execution = _made(runtime.execution_create(compilation, True))
        if reusable:
            require("execution_set_reusable", runtime.execution_set_reusable(execution, True))
        for index, pointer in enumerate(_INPUTS):
            require("execution_set_input", runtime.execution_set_input(execution, index, None, pointer, 8))
        require("execution_set_output", runtime.execution_set_output(execution, 0, None, _OUTPUT, 8))
        return model, compilation, execution

    def _model(self, operations: int) -> int:
        runtime, model = self._runtime, _made(self._runtime.model_create(True))
        for operand in (_VECTOR, _VECTOR, _ACTIVATION, *[_VECTOR] * operations):
            require("model_add_operand", runtime.model_add_operand(model, operand))
        require("model_set_operand_value", runtime.model_set_operand_value(model, 2, _NONE, 4))
        for last, output in zip((0, *range(3, 2 + operations)), range(3, 3 + operations), strict=True):
            added = runtime.model_add_operation(model, OperationType.ADD, (last, 1, 2), (output,))
            require("model_add_operation", added)
        identified = runtime.model_identify_inputs_and_outputs(model, (0, 1), (2 + operations,))
        require("model_identify_inputs_and_outputs", identified)
        require("model_finish", runtime.model_finish(model))
        return model


def _made(answer: Handle) -> int:
    require("a function that makes an object", answer.result)
    return answer.handle
