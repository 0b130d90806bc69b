"""The client library of the NPU Manager: builder, checks at the call, executors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from npu_device import LARGE, App, Device

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.client import ModelLoadRequestBuilder, NpuManager
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import Importance, ModelLoadRequest, ModelPriority, ModelSize


class Client(ModelLoadRequestCallback):
    def __init__(self) -> None:
        self.heard: list[tuple[str, ModelLoadRequest]] = []
        self.listener: ModelLoadStatusListener | None = None

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self.listener = listener
        self.heard.append((f"decision {status}", request))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self.heard.append((f"unload {reason}", request))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.heard.append((f"complete {status}", request))


def test_a_built_request_has_the_defaults_and_then_what_was_set() -> None:
    assert ModelLoadRequestBuilder(-7).build() == ModelLoadRequest(-7, ModelSize.LESS_THAN_1GB, ModelPriority.NORMAL)
    built = ModelLoadRequestBuilder(1).set_size(LARGE).set_priority(100).build()
    assert (built.id, built.size, built.priority) == (1, LARGE, 100)


def test_a_built_request_stays_as_it_is() -> None:
    builder = ModelLoadRequestBuilder(1).set_size(LARGE)
    built = builder.build()
    builder.set_size(0).set_priority(5)
    assert built == ModelLoadRequest(1, LARGE)
    assert builder.build() == ModelLoadRequest(1, 0, 5)
    with pytest.raises(AttributeError):
        built.size = 0  # type: ignore[misc]


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_null_argument_is_refused_at_the_call(missing: int) -> None:
    arguments: list[object] = [ModelLoadRequest(1), Client(), lambda action: action()]
    arguments[missing] = None
    manager = NpuManager((device := Device()).manager)
    with pytest.raises(IllegalArgument, match="null"):
        manager.request_can_load_model(*arguments)  # type: ignore[arg-type]
    with pytest.raises(IllegalArgument, match="null"):
        manager.cancel_model_load(None)
    assert device.manager.table.live() == []


def test_the_service_refuses_a_null_callback_too() -> None:
    device = Device()
    with pytest.raises(IllegalArgument, match="callback"):
        device.manager.request_can_load_model(ModelLoadRequest(1), None)


def test_every_callback_runs_on_its_executor_with_the_clients_own_request() -> None:
    device = Device()
    app, client = device.app(10_001, Importance.CACHED), Client()
    waiting: list[Callable[[], None]] = []
    request, other = ModelLoadRequest(1, LARGE), ModelLoadRequest(2, LARGE)
    manager = NpuManager(device.manager)
    with device.calling(app):
        manager.request_can_load_model(request, client, waiting.append)
        device.advance(0)
        assert (client.heard, len(waiting)) == ([], 1)
        waiting.pop()()
        assert client.listener is not None
        client.listener.notify_model_loaded(request)
    strong = device.app(10_002)
    strong.ask(1)
    with device.calling(app):
        client.listener.notify_model_unloaded(request)
        device.advance(0)
        manager.request_can_load_model(other, client, lambda action: action())
        manager.cancel_model_load(other)
        device.advance(0)
    assert [said for said, _ in client.heard] == ["decision 0", "decision 2", "complete 3"]
    for action in waiting:
        action()
    assert [said for said, _ in client.heard[3:]] == ["unload 0", "complete 4"]
    assert [told is request for _, told in client.heard] == [True, False, False, True, True]


def test_a_policy_is_set_through_the_library() -> None:
    device = Device()
    NpuManager(device.manager).set_policy(1)
    assert device.manager.policy.name == "turntaking"
    assert isinstance(device.admin, App)
