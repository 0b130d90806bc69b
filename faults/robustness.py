"""Faults in the separation of clients of one driver, and leaks."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Edited, FaultySubject
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_ROOM = 16


class _RunsTheLastModel(FaultyDevice):
    """Keeps one model for all: what was prepared last is what executes."""

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        device = self

        class Model(FaultyPreparedModel):
            def execute_synchronously(self, *arguments: Any) -> Any:
                return device.last.execute_synchronously(*arguments)

        if prepared_model is not None:
            self.last: hal.PreparedModel = prepared_model
        callback.notify(status, None if prepared_model is None else Model(prepared_model))


class _InvalidWhenFull(FaultyDevice):
    """Has room for sixteen models, and calls one more an invalid argument."""

    def __init__(self, inner: hal.Device) -> None:
        super().__init__(inner)
        self._living: weakref.WeakSet[hal.PreparedModel] = weakref.WeakSet()

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if prepared_model is not None and len(self._living) >= _ROOM:
            callback.notify(ErrorStatus.INVALID_ARGUMENT, None)
            return
        if prepared_model is not None:
            self._living.add(prepared_model)
        super().prepared(callback, status, prepared_model)


class _ReleaseEndsAll(FaultyDevice):
    """When one prepared model is released, all of them stop working."""

    ended = 0

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        device = self

        class Model(FaultyPreparedModel):
            def __init__(self, inner: hal.PreparedModel) -> None:
                super().__init__(inner)
                self._ended = device.ended

            def execute_synchronously(self, *arguments: Any) -> Any:
                if device.ended > self._ended:
                    raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the device was shut down")
                return self.inner.execute_synchronously(*arguments)

            def __del__(self) -> None:
                device.ended += 1

        callback.notify(status, None if prepared_model is None else Model(prepared_model))


def _one_client(context: Context, version: Version) -> Subject:
    """Takes the first app that prepares for the only one."""

    class Device(FaultyDevice):
        owner: int | None = None

        def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
            uid = context.caller().uid
            if prepared_model is not None and self.owner not in (None, uid):
                callback.notify(ErrorStatus.GENERAL_FAILURE, None)
                return
            if prepared_model is not None:
                self.owner = uid
            super().prepared(callback, status, prepared_model)

    return Subject(device=Device(ReferenceDevice(context, version)))


class _KeepsDescriptors(FaultyDevice):
    """Opens a file for each prepared model, and never closes it."""

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        os.open(os.devnull, os.O_RDONLY)
        super().prepared(callback, status, prepared_model)


class _KeepsThreads(FaultyDevice):
    """Starts a thread for each prepared model, which waits for ever."""

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        super().prepared(callback, status, prepared_model)


_SHARED_OBJECTS = Edited(
    (
        SourceEdit(
            "harness.wire.objects",
            "ObjectTable.own",
            "exported = self._exported.get(number)",
            "import gc\ntables = [one for one in gc.get_objects() if isinstance(one, ObjectTable)]\n"
            "exported = next((one._exported[number] for one in [self, *tables] if number in one._exported), None)",
        ),
    )
)
_KEPT_MEMORY = Edited(
    (SourceEdit("harness.wire.session", "HostConnection.close", "while self._attached:", "while False:"),),
)

_LEAKS = "vts.robustness.leaks.clients"

FAULTS = (
    fault("models-share-one-place", "The model prepared last is executed for all.", "NNHAL-PREPARE-013",
          "vts.robustness.models.many vts.preparation.models.side_by_side", _RunsTheLastModel),
    fault("models-full-is-invalid", "A seventeenth prepared model is an invalid argument.", "NNHAL-PREPARE-013",
          "vts.robustness.models.many", _InvalidWhenFull),
    fault("models-released-together", "The release of one prepared model ends all others.", "NNHAL-PREPARE-013",
          "vts.robustness.models.released vts.robustness.clients.one_dies", _ReleaseEndsAll),
    fault("clients-one-only", "Only the app that came first can prepare models.", "NNHAL-QOS-011",
          "vts.robustness.clients.at_once", FaultySubject(_one_client), detected_as="quality-warning"),
    fault("clients-share-objects", "An app that guesses the number of another app's model may execute it.",
          "NNHAL-QOS-013 NNHAL-ROBUST-001", "vts.robustness.clients.foreign_objects", _SHARED_OBJECTS),
    fault("leak-descriptor-per-model", "A descriptor is left open for each prepared model.", "NNHAL-ROBUST-005",
          _LEAKS, _KeepsDescriptors, detected_as="quality-warning"),
    fault("leak-thread-per-model", "A thread is left behind for each prepared model.", "NNHAL-ROBUST-005",
          _LEAKS, _KeepsThreads, detected_as="quality-warning"),
    fault("leak-memory-of-the-dead", "Memory of a client that died stays mapped.", "NNHAL-ROBUST-005",
          _LEAKS, _KEPT_MEMORY, detected_as="quality-warning"),
)  # fmt: skip
"""Faults in how the clients and the models of one driver affect each other."""
