"""Callbacks that somebody waits for: their driver answers, or dies (FW-VER-004)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from npu_conformance.specs.errors import DeadObject, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

Listener = Callable[[], None]


class Outstanding:
    """Who waits for a driver at the moment."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def waiting(self, listener: Listener) -> Iterator[None]:
        """Tell the listener if the driver dies meanwhile."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)

    def died(self) -> None:
        """Tell everybody."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


class _Receiver:
    """Waits for the one call of a callback, or the death of who owes it."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._is_dead = False

    def died(self) -> None:
        """End the waiting."""
        self._is_dead = not self._told.is_set()
        self._told.set()

    def _wait(self) -> None:
        self._told.wait()
        if self._is_dead:
            raise DeadObject("the driver died before it had answered")


class PreparedModelReceiver(_Receiver, hal.PreparedModelCallback):
    """Waits for the outcome of a preparation."""

    def __init__(self) -> None:
        super().__init__()
        self._status: int = ErrorStatus.GENERAL_FAILURE
        self._prepared: hal.PreparedModel | None = None

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        """Take the first answer; a second one is ignored."""
        if not self._told.is_set():
            self._status, self._prepared = status, prepared_model
            self._told.set()

    def prepared(self) -> hal.PreparedModel:
        """Wait; raises ServiceError, GENERAL_FAILURE for success without a prepared model (FW-VER-007)."""
        self._wait()
        if self._status != ErrorStatus.NONE:
            raise ServiceError(self._status, "the preparation failed")
        if self._prepared is None:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the prepared model is null")
        return self._prepared


class ExecutionReceiver(_Receiver, hal.ExecutionCallback):
    """Waits for the outcome of an asynchronous execution."""

    def __init__(self) -> None:
        super().__init__()
        self._answer: tuple[int, tuple[types.OutputShape, ...], types.Timing | None] = (2, (), None)

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        """Take the first answer; a second one is ignored."""
        if not self._told.is_set():
            self._answer = (status, output_shapes, timing)
            self._told.set()

    def answer(self) -> tuple[int, tuple[types.OutputShape, ...], types.Timing | None]:
        """Wait; returns status, shapes and timing. Raises DeadObject."""
        self._wait()
        return self._answer
