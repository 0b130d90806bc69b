"""Makes implementations that are faulty at the boundary, and faults from rows of tables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.fault import Edited, Fault, FaultySubject, Mechanism, Variant
from npu_conformance.faults.source_edits import DetectedAs, EditedFault
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Claim, Deadlines
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version

IMPATIENT = Deadlines(prepare=0.3, execute=0.3)
"""Deadlines for faults that never answer: the reference itself answers before a call returns."""

IMPATIENCE = 0.02
"""The time_scale of npu services that never call back, for which cases would wait up to 30 s."""
PATIENT = Deadlines(prepare=500.0, execute=250.0, call=250.0, start=1500.0)
"""The deadlines beside that time_scale: calls are answered, and get the usual time."""


def faulty_device(
    kind: Callable[[ReferenceDevice], FaultyDevice],
    *,
    plays: Version | None = None,
    deadlines: Deadlines | None = None,
    claims: tuple[Claim, ...] = (),
) -> FaultySubject:
    """The reference driver behind this kind of boundary. plays: the version that it implements, whatever it reports.

    claims: of its manifest.
    """

    def create(context: Context, version: Version) -> Subject:
        return Subject(device=kind(ReferenceDevice(context, plays or version)))

    return FaultySubject(create, deadlines=deadlines or Deadlines(), manifest=lambda: {"claims": claims})


def faulty_models(
    kind: type[FaultyPreparedModel],
    *,
    shared: Callable[[], object] = lambda: None,
    deadlines: Deadlines | None = None,
) -> FaultySubject:
    """The reference driver whose prepared models are behind this kind of boundary, and have the plug-in's context.

    shared: makes what the models of one device share; a driver that starts again begins with another one.
    """

    def create(context: Context, version: Version) -> Subject:
        class Device(FaultyDevice):
            prepared_model = type(kind.__name__, (kind,), {"context": context, "shared": shared()})

        return Subject(device=Device(ReferenceDevice(context, version)))

    return FaultySubject(create, deadlines=deadlines or Deadlines())


@contextlib.contextmanager
def called_a_failure() -> Iterator[None]:
    """Reports every rejection as GENERAL_FAILURE."""
    try:
        yield
    except ServiceError as error:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from None


def answering(
    change: Callable[[types.ExecutionResult, bool], types.ExecutionResult],
) -> type[FaultyPreparedModel]:
    """Synchronous executions with another result. change: gets the result, and whether timing was asked for."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(
            self, request: types.Request, measure_timing: bool, *rest: Any
        ) -> types.ExecutionResult:
            return change(self.inner.execute_synchronously(request, measure_timing, *rest), measure_timing)

    return Model


def fault(
    name: str,
    description: str,
    breaks: str,
    caught_by: str,
    mechanism: Mechanism | type[FaultyDevice] | type[FaultyPreparedModel],
    hal: Version = NEWEST,
    detected_as: DetectedAs = "red",
    *,
    family: str = "",
    area: str = "",
) -> Fault:
    """A fault as a row of a table tells it: ids of requirements and of cases are words of one string.

    mechanism: for a kind of boundary the reference driver behind it. family: in front of the name. area: in front of
    the cases.
    """
    return Fault(
        f"{family}-{name}" if family else name,
        description,
        tuple(breaks.split()),
        tuple(f"{area}.{case}" if area else case for case in caught_by.split()),
        _behind(mechanism) if isinstance(mechanism, type) else mechanism,
        hal,
        detected_as,
    )


def _behind(kind: type[FaultyDevice] | type[FaultyPreparedModel]) -> FaultySubject:
    return faulty_device(kind) if issubclass(kind, FaultyDevice) else faulty_models(kind)


def edited_fault(row: EditedFault, mechanism: Mechanism) -> Fault:
    """A fault as a JSON file tells it, brought about by this mechanism."""
    return Fault(row.id, row.description, row.breaks, row.caught_by, mechanism, row.hal, row.detected_as, row.hangs)


def edited_variant(row: EditedFault, mechanism: Edited | FaultySubject) -> Variant:
    """A conforming variant as a JSON file tells it, brought about by this mechanism."""
    return Variant(row.id, row.description, mechanism, row.hal)
