"""What prepared models and executions of the reference hold, whose they are, and whose time counts."""

from __future__ import annotations

import dataclasses
import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import patience
import pytest
from msgspec.structs import replace
from raising import raised
from reference_driver import DriverFixture, Recorder, status_of

from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.execution import Execution, Terms
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, Priority
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import Version


def test_a_released_model_is_gone() -> None:
    fixture = DriverFixture(Version.FL8)
    gc.disable()
    try:
        prepared = fixture.prepared(fixture.model())
        fixture.run(prepared, fixture.request())
        trace = weakref.ref(prepared)
        del prepared
        assert trace() is None
    finally:
        gc.enable()


def test_outputs_of_one_model_do_not_depend_on_another() -> None:
    fixture = DriverFixture(Version.FL8)
    first, second = fixture.prepared(fixture.model()), fixture.prepared(fixture.model())
    assert first is not second
    for prepared in (first, second, first):
        fixture.run(prepared, fixture.request())
        fixture.check_output()


def test_one_model_runs_in_several_threads() -> None:
    fixture = DriverFixture(Version.FL8)
    prepared, request = fixture.prepared(fixture.model()), fixture.request()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: fixture.run(prepared, request), range(40)))
    assert all(result.output_sufficient_size for result in results)
    fixture.check_output()


def test_client_memory_is_held_only_during_the_call() -> None:
    fixture = DriverFixture(Version.FL8)
    model = fixture.model(create_pool=fixture.memory.create)
    fixture.run(fixture.prepared(model), fixture.request())
    contents = list(fixture.memory.pools.values())
    assert contents
    # A bytearray with a living view cannot be resized.
    assert [raised(content.append, 0) for content in contents] == [None] * len(contents)


@pytest.mark.parametrize("version", [Version.V1_3, Version.FL5], ids=str)
def test_time_in_driver_includes_waiting_and_time_on_device_does_not(version: Version) -> None:
    fixture = DriverFixture(version)
    unit, held, go = fixture.device._unit, threading.Event(), threading.Event()

    def hold(_: object) -> bool:
        held.set()
        return go.wait(patience.SECONDS)

    prepared, request = fixture.prepared(fixture.model()), fixture.request()
    with ThreadPoolExecutor() as pool:
        holding = pool.submit(unit.execute, unit.job(0, Priority.LOW), hold)
        assert held.wait(patience.SECONDS)
        waiting = pool.submit(fixture.run, prepared, request, True)
        while not unit._waiting:
            time.sleep(0.001)
        fixture.clock.now += 1_000_000_000
        go.set()
        assert holding.result(10)
        times = waiting.result(10).timing
    second = 1_000_000_000 // (1 if version.is_aidl else 1000)
    assert times.time_in_driver > second > times.time_on_device > 0
    fixture.check_output()


def test_a_model_belongs_to_the_app_that_prepared_it() -> None:
    fixture = DriverFixture(Version.V1_3)
    caller = Caller(10001, 1)
    context = Context(fixture.memory, lambda: caller, {"hal": "1.3"}, fixture.clock)
    fixture.device = ReferenceDevice(context, Version.V1_3)
    first = fixture.prepared(fixture.model())
    caller = Caller(10002, 2)
    second = fixture.prepared(fixture.model())
    assert (first._prepared.owner, second._prepared.owner) == (10001, 10002)


def test_the_time_of_a_loop_does_not_run_while_others_have_the_unit() -> None:
    fixture = DriverFixture(Version.V1_3)
    execution = Execution(
        fixture.prepared(fixture.model())._prepared, fixture.request(), Terms(False, fixture.none, 1_000_000)
    )
    check = execution._begin_loop()
    fixture.clock.now += 5_000_000
    execution._job.waited_ns += 5_000_000
    check()
    fixture.clock.now += 1_000_000
    assert status_of(check) == ErrorStatus.MISSED_DEADLINE_TRANSIENT


def test_a_bug_in_the_background_is_told_and_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def run(self, *_: object) -> list[Any]:
            raise RuntimeError("a bug")

    seen: list[threading.ExceptHookArgs] = []
    raised = threading.Event()

    def hook(arguments: threading.ExceptHookArgs) -> None:
        seen.append(arguments)
        raised.set()

    monkeypatch.setattr(threading, "excepthook", hook)
    fixture, recorder = DriverFixture(Version.V1_3), Recorder()
    prepared = dataclasses.replace(fixture.prepared(fixture.model())._prepared, executor=Broken())
    ReferencePreparedModel(prepared).execute(fixture.request(), False, fixture.none, fixture.none, recorder)
    assert recorder.answer()[0] == ErrorStatus.GENERAL_FAILURE
    assert raised.wait(patience.SECONDS)
    assert isinstance(seen[0].exc_value, RuntimeError)


def test_an_input_of_a_type_of_somebody_elses_extension_is_read_by_nothing() -> None:
    fixture = DriverFixture(Version.FL8)
    model = fixture.model()
    unread = types.Operand(1 << 16, lifetime=OperandLifeTime.SUBGRAPH_INPUT)
    main = replace(
        model.main,
        operands=(*model.main.operands, unread),
        input_indexes=(*model.main.input_indexes, len(model.main.operands)),
    )
    prefixes = (types.ExtensionNameAndPrefix("com.example.other", 1),)
    request = fixture.request()
    more = replace(request, inputs=(*request.inputs, request.inputs[0]))
    fixture.run(fixture.prepared(replace(model, main=main, extension_name_to_prefix=prefixes)), more)
    fixture.check_output()
