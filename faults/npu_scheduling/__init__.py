"""Npu scheduling HALs that are wrong on purpose, and such that differ and conform."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import IMPATIENCE, PATIENT
from npu_conformance.faults.fault import Fault, FaultySubject, NoticedAs, Variant
from npu_conformance.faults.npu_scheduling import idle, shapes
from npu_conformance.faults.npu_scheduling.shapes import Shape
from npu_conformance.faults.source_edits import EditedFault, SourceEdit
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_FOLDER = Path(__file__).parent
_ALL: tuple[InterfaceName, ...] = ("scheduling", "workload", "scheduling_control")

EDITED = source_edits.read(_FOLDER / "faults.json")
"""Faults of the reference's source."""

EDITED_VARIANTS = source_edits.read(_FOLDER / "variants.json")
"""Conforming ones."""

EXECUTIONS = source_edits.read(_FOLDER / "executions.json")
"""Faults of a device whose executions are work of the HAL."""


def _edited(one: EditedFault, promise: int | None = 10) -> FaultySubject:
    """The reference HAL with its source edited, which stays so in the process. promise: its npu_checkpoint_ms."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(one.edits)
        return shapes.reference(context)

    return FaultySubject(create, _ALL, manifest=lambda: {"npu_profile": "page", "npu_checkpoint_ms": promise})


def _with_device(shape: Shape, edits: tuple[SourceEdit, ...] = ()) -> FaultySubject:
    """A device in real time, which promises that its executions are work of its scheduling HAL."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(edits)
        return shape(context)

    manifest = {"npu_profile": "page", "npu_schedules_executions": True, "virtual_clock": False}
    return FaultySubject(create, ("device", "scheduling"), manifest=lambda: manifest)


def _shaped(shape: Shape, interfaces: tuple[InterfaceName, ...] = _ALL, **manifest: Any) -> FaultySubject:
    return FaultySubject(lambda context, _: shape(context), interfaces, manifest=lambda: manifest)


def _by_tool() -> dict[str, Any]:
    return {"virtual_clock": False, "inference_tool": shapes.tool_of_this_process()}


def _without_hal(context: Context) -> Subject:
    found = shapes.reference(context)
    return Subject(workload=found.workload, scheduling_control=found.scheduling_control)


FAULTS = (
    *(
        Fault(one.id, one.description, one.breaks, one.caught_by, _edited(one),
              noticed_as=cast(NoticedAs, one.noticed_as))
        for one in EDITED
    ),
    Fault("scheduling-absent", "The manifest names the scheduling HAL, and there is none.", ("NPU-ACC-006",),
          ("vts.npu_scheduling.configs.implements_hal",), _shaped(_without_hal)),
    Fault("scheduling-idle", "The HAL checks its arguments and does nothing else.",
          ("NPU-HAL-001", "NPU-HAL-008", "NPU-HAL-011", "NPU-HAL-017", "NPU-HAL-019"),
          ("vts.npu_scheduling.work.undisturbed", "vts.npu_scheduling.callback.replaced",
           "vts.npu_scheduling.effects.set", "vts.npu_scheduling.effects.set_replaces",
           "vts.npu_scheduling.rights.no_direct_access"),
          FaultySubject(lambda context, _: idle.with_work(context), ("scheduling", "workload"), deadlines=PATIENT,
               manifest=lambda: {"virtual_clock": False, "time_scale": IMPATIENCE})),
    Fault("executions-aside", "The device takes turns among apps, and knows nothing of the scheduling HAL.",
          ("NPU-HAL-011", "NPU-HAL-019"),
          ("vts.npu_scheduling.executions.direct_access", "vts.npu_scheduling.executions.told"),
          _with_device(shapes.with_device_of_its_own)),
    *(
        Fault(one.id, one.description, one.breaks, one.caught_by, _with_device(shapes.with_device, one.edits))
        for one in EXECUTIONS
    ),
)  # fmt: skip

VARIANTS = (
    Variant("npu", "The reference's scheduling HAL and NPU Manager.",
            _shaped(shapes.whole, (*_ALL, "manager", "manager_control"), npu_profile="page", npu_checkpoint_ms=10)),
    Variant("npu-scheduling", "The reference's scheduling HAL without its device.",
            _shaped(shapes.reference, npu_profile="page", npu_checkpoint_ms=10)),
    Variant("npu-aosp", "AOSP's interface: no debounce time with the callback, no bounds in configs.",
            _shaped(shapes.aosp)),
    Variant("npu-narrow", "AOSP's interface, and the choices of AOSP's tool alone.", _shaped(shapes.narrow)),
    Variant("npu-no-workload", "Nothing brings work: the calls of the HAL alone are judged.",
            _shaped(shapes.without_workload, ("scheduling",), virtual_clock=False)),
    Variant("npu-real-time", "A device: time passes by itself.",
            _shaped(shapes.in_real_time, ("scheduling", "workload"), virtual_clock=False)),
    Variant("npu-device", "A device whose executions are work of the scheduling HAL.",
            _with_device(shapes.with_device)),
    Variant("npu-device-not-preemptive", "The same, where an execution that has begun is finished.",
            _with_device(shapes.with_device, (
                SourceEdit("reference.device.compute_unit", "ComputeUnit._steps_aside", "with self._apps.lock:",
                           "return False\nwith self._apps.lock:"),))),
    Variant("npu-tool", "A device whose work comes from run-test-inference.",
            FaultySubject(lambda context, _: shapes.through_a_tool(context), ("scheduling",), manifest=_by_tool)),
    Variant("npu-cuttlefish", "Cuttlefish's quirk: work of an app for itself has original uid -1.",
            _shaped(shapes.cuttlefish, npu_profile="cuttlefish")),
    *(Variant(one.id, one.description, _edited(one, None)) for one in EDITED_VARIANTS),
)  # fmt: skip
