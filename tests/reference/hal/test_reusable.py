"""The reference's reusable execution: checked when bound, inputs read at each run, one run at a time."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import patience
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.reference.device.compute_unit import ComputeUnit
from npu_conformance.reference.device.executor import Executor
from npu_conformance.reference.hal.buffers import Buffers
from npu_conformance.reference.hal.execution import Prepared
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import NEWEST

VECTOR = vectors.load("ADD", "float32_none_same")
CONFIG = types.ExecutionConfig()


class Pools:
    """Pools in this process, by their tokens."""

    def __init__(self) -> None:
        self.bytes: dict[int, bytearray] = {}

    def map(self, memory: types.Memory) -> memoryview:
        return memoryview(self.bytes[memory.token])


class Slow:
    """An executor that says when it has begun, and ends when it may."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self.begun, self.may_end = threading.Event(), threading.Event()

    def run(self, *arguments: Any) -> Any:
        self.begun.set()
        assert self.may_end.wait(patience.SECONDS)
        return self._executor.run(*arguments)


@pytest.fixture
def pools() -> Pools:
    return Pools()


@pytest.fixture
def prepared(pools: Pools) -> Prepared:
    model, context = build_model(VECTOR, NEWEST).model, Context(pools, lambda: Caller(0, 0))
    executor, unit = Executor(model, NEWEST, ()), ComputeUnit(context.clock)
    return Prepared(model, NEWEST, context, executor, Buffers(context), unit, 0, Priority.MEDIUM)


@pytest.fixture
def request_of_sum(pools: Pools) -> types.Request:
    built = build_request(VECTOR, VECTOR.examples[0], NEWEST)
    pools.bytes = {1: bytearray(built.input_data), 2: bytearray(built.output_size)}
    memories = (types.Memory("ashmem", len(content), token) for token, content in pools.bytes.items())
    return built.request(*(types.RequestMemoryPool(memory) for memory in memories))


def test_an_invalid_request_is_refused_when_it_is_bound(prepared: Prepared, request_of_sum: types.Request) -> None:
    invalid = types.Request((), request_of_sum.outputs, request_of_sum.pools)
    with pytest.raises(ServiceError) as caught:
        ReferencePreparedModel(prepared).create_reusable_execution(invalid, CONFIG)
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


def test_inputs_are_read_at_each_run(prepared: Prepared, request_of_sum: types.Request, pools: Pools) -> None:
    execution = ReferencePreparedModel(prepared).create_reusable_execution(request_of_sum, CONFIG)
    count = VECTOR.examples[0].outputs["output"].size
    for scale in (1.0, 2.0, 1.0):
        inputs = numpy.frombuffer(pools.bytes[1], numpy.float32)
        inputs[:] = scale
        assert execution.execute_synchronously(-1).output_sufficient_size
        assert numpy.frombuffer(pools.bytes[2], numpy.float32, count).tolist() == [2 * scale] * count


def test_a_second_run_meanwhile_is_refused(prepared: Prepared, request_of_sum: types.Request) -> None:
    slow = Slow(prepared.executor)
    model = ReferencePreparedModel(dataclasses.replace(prepared, executor=slow))
    execution = model.create_reusable_execution(request_of_sum, CONFIG)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(execution.execute_synchronously, -1)
        assert slow.begun.wait(patience.SECONDS)
        with pytest.raises(ServiceError) as caught:
            execution.execute_synchronously(-1)
        slow.may_end.set()
        assert first.result().output_sufficient_size
    assert caught.value.status == ErrorStatus.GENERAL_FAILURE
    assert execution.execute_synchronously(-1).output_sufficient_size
