"""The boundary between the harness and the reference driver, at which faulty drivers change what crosses it.

The wrappers forward every method of an interface; a fault overrides the one that it changes.
"""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Context


@forwarding(hal.PreparedModel)
class FaultyPreparedModel(Wrapper, hal.PreparedModel):
    """A prepared model behind the boundary: asynchronous executions pass `executed` on their way to the client.

    inner: the reference's. context, shared: the plug-in's, and what all models of the device share, where
    `factories.faulty_models` has made the device.
    """

    inner: hal.PreparedModel
    context: Context
    shared: Any

    def given(self, interface: type, value: Any) -> Any:
        """The reference gets callbacks that pass through `executed`."""
        return ExecutionCallback(value, self) if interface is hal.ExecutionCallback else value

    def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
        """Tell the client how an asynchronous execution ended. answer: status, shapes of outputs, timing."""
        callback.notify(*answer)


class ExecutionCallback(hal.ExecutionCallback):
    """A client's callback of an execution as the reference sees it."""

    def __init__(self, client: hal.ExecutionCallback, model: FaultyPreparedModel) -> None:
        self._client = client
        self._model = model

    def notify(self, *answer: Any) -> None:
        """Let the model tell the client."""
        self._model.executed(self._client, *answer)


@forwarding(hal.Buffer)
class FaultyBuffer(Wrapper, hal.Buffer):
    """A buffer behind the boundary. inner: the reference's."""

    inner: hal.Buffer


@forwarding(hal.Execution)
class FaultyExecution(Wrapper, hal.Execution):
    """A reusable execution behind the boundary. inner: the reference's; request: the one that is bound."""

    inner: hal.Execution
    context: Context

    def __init__(self, inner: hal.Execution, request: types.Request) -> None:
        super().__init__(inner)
        self.request = request


@forwarding(hal.Device)
class FaultyDevice(Wrapper, hal.Device):
    """A device behind the boundary: prepared models pass `prepared` on their way to the client.

    inner: the reference's. prepared_model, buffer: the kinds of wrapper that models and buffers get.
    """

    inner: hal.Device
    prepared_model: type[FaultyPreparedModel] = FaultyPreparedModel
    buffer: type[FaultyBuffer] = FaultyBuffer

    def given(self, interface: type, value: Any) -> Any:
        """The reference gets its own prepared models, and callbacks that pass through `prepared`."""
        if interface is hal.PreparedModelCallback:
            return PreparationCallback(value, self)
        return value.inner if isinstance(value, FaultyPreparedModel) else value

    def taken(self, interface: type, value: Any) -> Any:
        """The client gets wrapped buffers."""
        return self.buffer(value) if interface is hal.Buffer else value

    def prepared(
        self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        """Tell the client how a preparation ended."""
        callback.notify(status, None if prepared_model is None else self.prepared_model(prepared_model))


class PreparationCallback(hal.PreparedModelCallback):
    """A client's callback of a preparation as the reference sees it."""

    def __init__(self, client: hal.PreparedModelCallback, device: FaultyDevice) -> None:
        self._client = client
        self._device = device

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        """Let the device tell the client."""
        self._device.prepared(self._client, status, prepared_model)
