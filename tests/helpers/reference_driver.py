"""The reference driver as a fixture: memory of this process, a clock, and a callback that keeps what it receives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import patience

from npu_conformance.adapters.reference import plugin
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import BuiltRequest, build_model, build_request
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import Version

VECTOR = vectors.load("ADD", "float32_none_same")
TOKEN = bytes(32)


class LocalMemory:
    """Pools in this process."""

    def __init__(self) -> None:
        self.pools: dict[int, bytearray] = {}

    def create(self, content: bytes, kind: str = "ashmem", prot: int = 3) -> types.Memory:
        token = len(self.pools) + 1
        self.pools[token] = bytearray(content)
        return types.Memory(kind, len(content), token, prot)

    def map(self, memory: types.Memory) -> memoryview:
        view = memoryview(self.pools[memory.token])
        return view if memory.prot & 2 else view.toreadonly()


class Clock:
    """A clock that advances by a microsecond whenever it is read."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def now_ns(self) -> int:
        self.now += 1000
        return self.now


class Recorder(hal.PreparedModelCallback, hal.ExecutionCallback):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.answers: list[tuple[Any, ...]] = []
        self._told = threading.Event()

    def notify(self, *answer: Any) -> None:
        self.answers.append(answer)
        self._told.set()

    def answer(self) -> tuple[Any, ...]:
        """Wait for the answer of an execution that was launched."""
        assert self._told.wait(patience.SECONDS)
        (only,) = self.answers
        return only


class DriverFixture:
    """A device of one version with memory and a clock."""

    def __init__(self, version: Version, memory: LocalMemory | None = None, **options: str) -> None:
        self.version, self.memory, self.clock = version, memory or LocalMemory(), Clock()
        self.none = version.unavailable_time
        context = Context(self.memory, lambda: Caller(0, 0), {"hal": version.value, **options}, self.clock)
        device = plugin.create(context).device
        assert isinstance(device, ReferenceDevice)
        self.device = device

    def model(self, **options: Any) -> types.Model:
        return build_model(VECTOR, self.version, **options).model

    def prepare(self, model: types.Model, **changes: Any) -> tuple[int | None, tuple[Any, ...]]:
        """Return the status of the launch and the only answer of the callback."""
        arguments: dict[str, Any] = {"preference": 1, "priority": 1, "deadline_ns": self.none, "token": TOKEN}
        arguments |= {"model_cache": (), "data_cache": ()} | changes
        recorder = Recorder()
        status = status_of(lambda: self.device.prepare_model(model, callback=recorder, **arguments))
        (answer,) = recorder.answers
        return status, answer

    def prepared(self, model: types.Model) -> ReferencePreparedModel:
        status, (notified, prepared) = self.prepare(model)
        assert (status, notified) == (None, ErrorStatus.NONE)
        assert isinstance(prepared, ReferencePreparedModel)
        return prepared

    def request(self, built: BuiltRequest | None = None, **kinds: str) -> types.Request:
        built = built or build_request(VECTOR, VECTOR.examples[0], self.version)
        self.built = built
        inputs = self.memory.create(built.input_data, kinds.get("inputs", "ashmem"), prot=1)
        self.outputs = self.memory.create(bytes(built.output_size), kinds.get("outputs", "ashmem"))
        return built.request(types.RequestMemoryPool(inputs), types.RequestMemoryPool(self.outputs))

    def check_output(self, shape: tuple[int, ...] = (2, 3)) -> None:
        found = self.built.read("output", bytes(self.memory.pools[self.outputs.token]), shape)
        assert found.tolist() == VECTOR.examples[0].outputs["output"].tolist()

    def run(self, prepared: hal.PreparedModel, request: types.Request, measure: bool = False) -> types.ExecutionResult:
        return prepared.execute_synchronously(request, measure, self.none, self.none)


def status_of(call: Callable[[], object]) -> int | None:
    try:
        call()
    except ServiceError as error:
        return error.status
    return None
