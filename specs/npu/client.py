"""The NPU Manager's client library as an app sees it: the request's builder, checks at the call, and executors.

It lives in the app's process, above the service's interface (manager.py): the service knows no executors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelPriority, ModelSize, PolicyParameters

Executor = Callable[[Callable[[], None]], None]
"""Runs what it is given, now or later, in a thread of its choice."""


class ModelLoadRequestBuilder:
    """ModelLoadRequest.Builder. A built request stays as it is, whatever becomes of its builder (NPU-REQ-008)."""

    def __init__(self, identifier: int) -> None:
        self._id = identifier
        self._size: int = ModelSize.LESS_THAN_1GB
        self._priority: int = ModelPriority.NORMAL

    def set_size(self, size: int) -> ModelLoadRequestBuilder:
        """Set the size class; unchecked until the request is submitted."""
        self._size = size
        return self

    def set_priority(self, priority: int) -> ModelLoadRequestBuilder:
        """Set the priority; unchecked until the request is submitted."""
        self._priority = priority
        return self

    def build(self) -> ModelLoadRequest:
        """The request as it is now."""
        return ModelLoadRequest(self._id, self._size, self._priority)


class NpuManager:
    """android.npumanager.NpuManager. A null argument is refused at the call (NPU-REQ-013)."""

    def __init__(self, service: Manager) -> None:
        self._service = service

    def request_can_load_model(
        self,
        request: ModelLoadRequest | None,
        callback: ModelLoadRequestCallback | None,
        executor: Executor | None,
    ) -> None:
        """Ask to load a model. Every callback runs on the executor, with this very request (NPU-LIF-002, -003)."""
        if request is None or callback is None or executor is None:
            raise IllegalArgument("request, callback and executor must not be null")
        self._service.request_can_load_model(request, _OnExecutor(request, callback, executor))

    def cancel_model_load(self, request: ModelLoadRequest | None) -> None:
        """Withdraw a request."""
        if request is None:
            raise IllegalArgument("request must not be null")
        self._service.cancel_model_load(request)

    def set_policy(self, policy: int, parameters: PolicyParameters | None = None) -> None:
        """Replace the loading policy."""
        self._service.set_policy(policy, parameters)


class _OnExecutor(ModelLoadRequestCallback):
    """What the service calls for one request."""

    def __init__(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback, executor: Executor) -> None:
        self._request = request
        self._callback = callback
        self._executor = executor

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self._executor(partial(self._callback.on_can_load_model, self._request, status, listener))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self._executor(partial(self._callback.on_request_unload_model, self._request, reason))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self._executor(partial(self._callback.on_model_load_request_complete, self._request, status))
