"""Drivers that fail for graphs in which a MUL reads the result of an ADD. Option `end`: how they fail.

With `partly` they have no MUL, and say so. With `interrupted` somebody presses Ctrl-C meanwhile, with `shrinking` when
they have failed before.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from typing import Any

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.choosy_devices import ChoosyDevice
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version


def has_seam(model: types.Model) -> bool:
    """True where a MUL reads the result of an ADD."""
    sums = {index for one in model.main.operations if one.type == OperationType.ADD for index in one.outputs}
    products = [one for one in model.main.operations if one.type == OperationType.MUL]
    return any(sums.intersection(one.inputs) for one in products)


class GraphModel(FaultyPreparedModel):
    """Fails, where its model has the seam."""

    has_failed = False

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        result = self.inner.execute_synchronously(request, *rest)
        if has_seam(self.inner.model):  # type: ignore[attr-defined]
            self._end(request)
        return result

    def _end(self, request: types.Request) -> None:
        match self.context.options["end"]:
            case "crash":
                signal.raise_signal(signal.SIGSEGV)
            case "hang":
                threading.Event().wait()
            case "refuse":
                raise ServiceError(ErrorStatus.GENERAL_FAILURE)
            case "interrupted":
                raise KeyboardInterrupt
            case "shrinking" if self.has_failed:
                raise KeyboardInterrupt
            case "miscompute" | "shrinking":
                type(self).has_failed = True
                memory = request.pools[1].pool
                assert memory is not None
                bytes_ = self.context.memory.map(memory)
                bytes_[:] = bytes(len(bytes_))


class GraphDevice(ChoosyDevice):
    """Has no MUL where it is to be partly."""

    def __init__(self, inner: ReferenceDevice, context: Context) -> None:
        super().__init__(inner)
        self.prepared_model = type("Model", (GraphModel,), {"context": context})
        self._is_partly = context.options["end"] == "partly"

    def supports(self, main: types.Subgraph, operation: types.Operation) -> bool:
        return not (self._is_partly and operation.type == OperationType.MUL)


def _manifest(options: Mapping[str, str]) -> Manifest:
    deadlines = Deadlines(execute=1.0) if options.get("end") == "hang" else Deadlines(execute=600.0)
    return Manifest(
        name="seam", vendor="tests", version="1", hal_version=Version.V1_3, deadlines=deadlines, options={"end": "how"}
    )


def _create(context: Context) -> Subject:
    return Subject(device=GraphDevice(ReferenceDevice(context, Version.V1_3), context))


plugin = Plugin(_manifest, _create)
