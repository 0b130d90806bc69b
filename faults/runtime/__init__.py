"""Faults of the NNAPI runtime: source edits of the reference's, by what of it they are about.

They were written from the requirements, without a look at the cases that have to catch them.
"""

from __future__ import annotations

from pathlib import Path

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import edited_fault
from npu_conformance.faults.fault import Fault, FaultySubject
from npu_conformance.faults.source_edits import EditedFault, SourceEdit
from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version

INTERFACES: tuple[InterfaceName, ...] = ("runtime", "runtime_control")
_FOLDER = Path(__file__).parent
_DRIVER = "reference-npu"


def edited_runtime(edits: tuple[SourceEdit, ...], level: Version = NEWEST) -> FaultySubject:
    """The reference runtime with its source edited, over the reference driver. level: the runtime's feature level."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(edits)
        service = RuntimeService(context, level)
        device = ReferenceDevice(service.driver_context, NEWEST, own.registered())
        runtime, control = service.start([LivingService(_DRIVER, NEWEST, device)])
        return Subject(runtime=runtime, runtime_control=control)

    def manifest() -> dict[str, object]:
        return {"feature_level": level, "checks_handles": True}

    return FaultySubject(create, INTERFACES, instance=_DRIVER, manifest=manifest)


def _fault(row: EditedFault) -> Fault:
    return edited_fault(row, edited_runtime(row.edits, row.hal))


FAULTS = [_fault(row) for path in sorted(_FOLDER.glob("*.json")) for row in source_edits.read(path)]
"""Every fault of the files beside this one. hal: of an entry the runtime's feature level."""
