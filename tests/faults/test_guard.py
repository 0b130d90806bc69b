"""What a guarded npu service raises is its death, wherever it comes out; what the suite's own objects raise is not."""

from __future__ import annotations

import pytest

from npu_conformance.faults.npu_guard import Life
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.errors import DeadObject, IllegalArgument
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
