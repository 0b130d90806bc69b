"""A guarded implementation dies of what it raises, wherever that comes out, not of what the suite's objects raise."""

from __future__ import annotations

from typing import Any

import pytest

from npu_conformance.faults.guard import Life
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.errors import DeadObject, IllegalArgument
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.npu.manager import Manager, ManagerControl, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import ModelLoadRequest

REQUEST = ModelLoadRequest(1)


class Listener(ModelLoadStatusListener):
    def notify_model_loaded(self, request: ModelLoadRequest) -> None:
        raise ZeroDivisionError("in the listener")


class Faulty(Manager):
    """Refuses to cancel, and gives listeners that raise."""

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        assert callback is not None
        callback.on_can_load_model(request, 0, Listener())

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        raise IllegalArgument("on purpose")


class Client(ModelLoadRequestCallback):
    listener: ModelLoadStatusListener

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self.listener = listener


class Finder(ModelLoadRequestCallback):
    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        raise Failed("found by the suite")


class Control(ManagerControl):
    """Registers a callback that raises."""

    def connect_hal(self, scheduling: Scheduling | None) -> None:
        assert scheduling is not None
        scheduling.set_callback(WorkEvents())

    def kill_hal(self) -> None:
        """Nothing."""


class WorkEvents(SchedulingCallback):
    def on_work_requested(self, work: object) -> None:
        raise KeyError(work)


class Hal(Scheduling):
    callback: SchedulingCallback | None

    def set_callback(self, callback: SchedulingCallback | None, debounce_duration_ms: int = 50) -> None:
        self.callback = callback


def test_objects_given_to_callbacks_are_guarded_and_the_dead_stay_dead() -> None:
    manager, client = Life().guard(Manager, Faulty()), Client()
    assert manager is not None
    manager.request_can_load_model(REQUEST, client)
    with pytest.raises(DeadObject, match="ZeroDivisionError: in the listener"):
        client.listener.notify_model_loaded(REQUEST)
    with pytest.raises(DeadObject, match="in the listener"):
        manager.request_can_load_model(REQUEST, client)


def test_what_is_said_on_purpose_and_what_the_suite_finds_kill_nobody() -> None:
    manager = Life().guard(Manager, Faulty())
    assert manager is not None
    with pytest.raises(IllegalArgument):
        manager.cancel_model_load(REQUEST)
    with pytest.raises(Failed, match="found by the suite"):
        manager.request_can_load_model(REQUEST, Finder())
    manager.request_can_load_model(REQUEST, Client())


def test_callbacks_that_the_implementation_registers_are_guarded() -> None:
    control, hal = Life().guard(ManagerControl, Control()), Hal()
    assert control is not None
    control.connect_hal(hal)
    assert hal.callback is not None
    with pytest.raises(DeadObject, match="KeyError"):
        hal.callback.on_work_requested(None)  # type: ignore[arg-type]
    with pytest.raises(DeadObject, match="KeyError"):
        control.kill_hal()


def test_nothing_is_guarded_where_there_is_nothing() -> None:
    assert Life().guard(Manager, None) is None


class Model(hal.PreparedModel):
    """Gives a fence, and a callback that raises."""

    def execute_fenced(self, request: types.Request, wait_for: tuple[hal.Fence | None, ...], *rest: Any) -> Any:
        return hal.FencedExecutionResult(FencedCallback(), wait_for[0])


class FencedCallback(hal.FencedExecutionCallback):
    def get_execution_info(self) -> hal.FencedExecutionInfo:
        raise IndexError("in the callback")


class Driver(hal.Device):
    """Gives the callback a model, and reports which models are its own."""

    def prepare_model(self, *arguments: Any) -> None:
        arguments[-1].notify(0, Model())

    def allocate(self, desc: Any, prepared_models: Any, *roles: Any) -> hal.DeviceBuffer:
        return hal.DeviceBuffer(Content(), sum(type(model) is Model for model in prepared_models))


class Content(hal.Buffer):
    def copy_to(self, dst: types.Memory) -> None:
        raise OverflowError("in the buffer")


class Preparation(hal.PreparedModelCallback):
    model: hal.PreparedModel

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        assert prepared_model is not None
        self.model = prepared_model


def prepared() -> tuple[hal.Device, hal.PreparedModel]:
    device, callback = Life().guard(hal.Device, Driver()), Preparation()
    assert device is not None
    device.prepare_model(types.Model(main=types.Subgraph((), (), (), ())), 0, 0, -1, (), (), b"", callback)
    return device, callback.model


def test_prepared_models_are_guarded_and_come_back_as_the_drivers_own() -> None:
    device, model = prepared()
    assert not isinstance(model, Model)
    made = device.allocate(types.BufferDesc(()), (model, None), (), ())
    assert made.token == 1
    with pytest.raises(DeadObject, match="in the buffer"):
        made.buffer.copy_to(types.Memory("ashmem", 1, 1))


def test_fences_stay_what_they_are_and_callbacks_in_results_are_guarded() -> None:
    fence = hal.Fence()
    request = types.Request((), (), ())
    result = prepared()[1].execute_fenced(request, (fence,), False, -1, -1, -1)
    assert result.sync_fence is fence
    assert result.callback is not None
    with pytest.raises(DeadObject, match="in the callback"):
        result.callback.get_execution_info()
