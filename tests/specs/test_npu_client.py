"""The client library of the NPU Manager: builder, checks at the call, executors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from npu_manager import ReferenceFixture

from npu_conformance.cts.lib.manager_fixture import LARGE
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.client import ModelLoadRequestBuilder, NpuManager
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import Importance, ModelLoadRequest, ModelPriority, ModelSize


@pytest.fixture
def fixture() -> Iterator[ReferenceFixture]:
    with contextlib.closing(ReferenceFixture()) as found:
        yield found


class Client(ModelLoadRequestCallback):
    def __init__(self) -> None:
        self.received: list[tuple[str, ModelLoadRequest]] = []
        self.listener: ModelLoadStatusListener | None = None

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self.listener = listener
        self.received.append((f"decision {status}", request))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self.received.append((f"unload {reason}", request))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.received.append((f"complete {status}", request))


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
def test_a_null_argument_is_refused_at_the_call(fixture: ReferenceFixture, missing: int) -> None:
    arguments: list[object] = [ModelLoadRequest(1), Client(), lambda action: action()]
    arguments[missing] = None
    manager = NpuManager(fixture.settings.manager)
    with pytest.raises(IllegalArgument, match="null"):
        manager.request_can_load_model(*arguments)  # type: ignore[arg-type]
    with pytest.raises(IllegalArgument, match="null"):
        manager.cancel_model_load(None)
    assert fixture.manager.table.live() == []


def test_the_service_refuses_a_null_callback_too(fixture: ReferenceFixture) -> None:
    with pytest.raises(IllegalArgument, match="callback"):
        fixture.settings.manager.request_can_load_model(ModelLoadRequest(1), None)


def test_every_callback_runs_on_its_executor_with_the_clients_own_request(fixture: ReferenceFixture) -> None:
    app, client = fixture.app(Importance.CACHED), Client()
    waiting: list[Callable[[], None]] = []
    request, other = ModelLoadRequest(1, LARGE), ModelLoadRequest(2, LARGE)
    manager = NpuManager(app.client.manager)
    manager.request_can_load_model(request, client, waiting.append)
    fixture.settle()
    assert (client.received, len(waiting)) == ([], 1)
    waiting.pop()()
    assert client.listener is not None
    client.listener.notify_model_loaded(request)
    fixture.app().asks()
    client.listener.notify_model_unloaded(request)
    fixture.settle()
    manager.request_can_load_model(other, client, lambda action: action())
    manager.cancel_model_load(other)
    fixture.settle()
    assert [what for what, _ in client.received] == ["decision 0", "decision 2", "complete 3"]
    for action in waiting:
        action()
    assert [what for what, _ in client.received[3:]] == ["unload 0", "complete 4"]
    assert [each is request for _, each in client.received] == [True, False, False, True, True]


def test_a_policy_is_set_through_the_library(fixture: ReferenceFixture) -> None:
    NpuManager(fixture.settings.manager).set_policy(1)
    assert fixture.manager.policy.name == "turntaking"
