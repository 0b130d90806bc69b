"""A driver that does something of its own at moments of a load, and knows what its clients do at the time."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

NTH = 12
"""What goes wrong after a while does so at this inference, or preparation."""
_LOAD_UIDS = range(10_201, 10_300)
_IN_HASTE = Deadlines(prepare=1.0, execute=1.0)


class Load:
    """What the driver's clients do at the moment, and have done so far; of those under load only.

    inferences, preparations: so far. inferring, preparing: at the moment. models: that are loaded. released: so far.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.inferences = self.preparations = self.inferring = self.preparing = self.models = self.released = 0
        self.last_preparation = 0.0
        self.kept: list[Any] = []
        self.children: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._is_helper_gone = False

    def counts(self) -> bool:
        """True while a client under load calls."""
        return self.context.caller().uid in _LOAD_UIDS

    def ends_helper(self) -> bool:
        """Kill the driver's own process, once it has worked for a while; true where it was still there."""
        with self._lock:
            is_due = self.inferences >= NTH and not self._is_helper_gone
            self._is_helper_gone |= is_due
        if is_due:
            self.children[-1].kill()
            self.children[-1].wait()
        return is_due


When = Callable[[Load, Any], bool]
What = Callable[[Load, Any], object]
"""Gets the load, and the model as it was described, or the request, whichever there is."""


class StressedModel(FaultyPreparedModel):
    """Tells its driver of each execution, and of its end."""

    load: Load
    after: What
    on_release: What
    is_counted = False

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        load = self.load
        if not load.counts():
            return self.inner.execute_synchronously(request, *rest)
        load.inferences += 1
        load.inferring += 1
        try:
            time.sleep(0.002)  # so that others can begin meanwhile, and a busy harness can look in between
            result = self.inner.execute_synchronously(request, *rest)
            type(self).after(load, request)
            return result
        finally:
            load.inferring -= 1

    def __del__(self) -> None:
        if self.is_counted:
            self.load.models -= 1
            self.load.released += 1
            type(self).on_release(self.load, None)


class StressedDevice(FaultyDevice):
    """Tells its driver of each preparation, and counts the models that are loaded."""

    load: Load
    model: type[StressedModel]
    before: What

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if prepared_model is None or not self.load.counts():
            super().prepared(callback, status, prepared_model)
            return
        model = self.model(prepared_model)
        model.is_counted = True
        self.load.models += 1
        callback.notify(status, model)

    def call(self, name: str, *arguments: Any) -> Any:
        load = self.load
        if not name.startswith("prepare_model") or not load.counts():
            return super().call(name, *arguments)
        load.preparations += 1
        load.preparing += 1
        load.last_preparation = time.monotonic()
        try:
            time.sleep(0.0005)
            type(self).before(load, arguments[0])
            return super().call(name, *arguments)
        finally:
            load.preparing -= 1


def _nothing(load: Load, about: Any) -> None:
    """Conform."""


def stressed(
    at_inference: What = _nothing,
    at_preparation: What = _nothing,
    at_release: What = _nothing,
    at_start: What = _nothing,
    steady_latency: bool = False,
) -> FaultySubject:
    """The reference driver that does something of its own at these moments, to clients of the load."""

    def create(context: Context, version: Version) -> Subject:
        started = Load(context)
        at_start(started, None)

        class Model(StressedModel):
            load = started
            after, on_release = staticmethod(at_inference), staticmethod(at_release)

        class Device(StressedDevice):
            load = started
            prepared_model = model = Model
            before = staticmethod(at_preparation)

        return Subject(device=Device(ReferenceDevice(context, version)))

    return FaultySubject(create, deadlines=_IN_HASTE, manifest=lambda: {"steady_latency": steady_latency})
