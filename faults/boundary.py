"""The boundary between the harness and the reference driver, at which faults bend what crosses it.

The wrappers forward every method of an interface; a fault overrides the one that it bends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import MemoryMap

Wrapper = TypeVar("Wrapper", bound=type)


def forwarding(interface: type) -> Callable[[Wrapper], Wrapper]:
    """Fill a class: each method of the interface that it does not define goes to `self.inner`."""

    def fill(wrapper: Wrapper) -> Wrapper:
        for name in describe(interface):
            if name not in vars(wrapper):
                setattr(wrapper, name, _forward(name))
        return wrapper

    return fill


def _forward(name: str) -> Callable[..., Any]:
    def forward(self: Any, *arguments: Any) -> Any:
        return getattr(self.inner, name)(*arguments)

    forward.__name__ = name
    return forward


@forwarding(hal.PreparedModel)
class FaultyPreparedModel(hal.PreparedModel):
    """A prepared model behind the boundary. inner: the reference's."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        self.inner = inner


@forwarding(hal.Buffer)
class FaultyBuffer(hal.Buffer):
    """A buffer behind the boundary. inner: the reference's."""

    def __init__(self, inner: hal.Buffer) -> None:
        self.inner = inner


@forwarding(hal.Execution)
class FaultyExecution(hal.Execution):
    """A reusable execution behind the boundary. inner: the reference's; request: the one that is bound."""

    memory: MemoryMap

    def __init__(self, inner: hal.Execution, request: types.Request) -> None:
        self.inner, self.request = inner, request


@forwarding(hal.Device)
class FaultyDevice(hal.Device):
    """A device behind the boundary: prepared models pass `prepared` on their way to the client.

    inner: the reference's. prepared_model, buffer: the kinds of wrapper that models and buffers get.
    """

    prepared_model: type[FaultyPreparedModel] = FaultyPreparedModel
    buffer: type[FaultyBuffer] = FaultyBuffer

    def __init__(self, inner: hal.Device) -> None:
        self.inner = inner

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Forward, with a callback that passes through `prepared`."""
        watched = None if callback is None else PreparationCallback(self, callback)
        self.inner.prepare_model(
            model, preference, priority, deadline_ns, model_cache, data_cache, token, watched
        )  # fmt: skip

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Forward, with a callback that passes through `prepared`."""
        watched = None if callback is None else PreparationCallback(self, callback)
        self.inner.prepare_model_from_cache(deadline_ns, model_cache, data_cache, token, watched)

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        """Forward, with a callback that passes through `prepared`."""
        watched = None if callback is None else PreparationCallback(self, callback)
        self.inner.prepare_model_with_config(model, config, watched)

    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> hal.DeviceBuffer:
        """Forward, with the reference's own prepared models."""
        own = tuple(model.inner if isinstance(model, FaultyPreparedModel) else model for model in prepared_models)
        made = self.inner.allocate(desc, own, input_roles, output_roles)
        # A fault inside may have given none.
        return made if made.buffer is None else hal.DeviceBuffer(self.buffer(made.buffer), made.token)

    def prepared(
        self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        """Tell the client how a preparation ended."""
        wrapped = None if prepared_model is None else self.prepared_model(prepared_model)
        callback.notify(status, wrapped)


class PreparationCallback(hal.PreparedModelCallback):
    """A client's callback as the reference sees it."""

    def __init__(self, device: FaultyDevice, client: hal.PreparedModelCallback) -> None:
        self._device, self._client = device, client

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        """Pass on."""
        self._device.prepared(self._client, status, prepared_model)
