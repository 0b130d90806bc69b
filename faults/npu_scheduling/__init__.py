"""Npu scheduling HALs that are wrong on purpose, and those that differ and conform."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import IMPATIENCE, PATIENT, edited_fault, edited_variant, fault
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.faults.npu_scheduling import idle, shapes
from npu_conformance.faults.npu_scheduling.shapes import Shape
from npu_conformance.faults.source_edits import EditedFault, SourceEdit
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_FOLDER = Path(__file__).parent
_ALL: tuple[InterfaceName, ...] = ("scheduling", "workload", "scheduling_control")

EDITED = tuple(
    row for name in ("faults", "counts", "other_devices") for row in source_edits.read(_FOLDER / f"{name}.json")
)
"""The faults of the reference's source."""

EDITED_VARIANTS = source_edits.read(_FOLDER / "variants.json")
"""The conforming variants by source edits."""

EXECUTIONS = source_edits.read(_FOLDER / "executions.json")
"""The faults of a device whose executions are work of the HAL."""

PROMISED_VARIANTS = source_edits.read(_FOLDER / "promised_variants.json")
"""The conforming variants by source edits that interrupt weaker work as they promise."""

REAL_TIME = source_edits.read(_FOLDER / "real_time.json")
"""The faults that show where time passes by itself."""

REAL_TIME_VARIANTS = source_edits.read(_FOLDER / "real_time_variants.json")
"""The conforming variants by source edits on which time passes by itself."""

OBSERVED = source_edits.read(_FOLDER / "observed.json")
"""The faults of a HAL that nothing but the device of the same subject brings work to."""


def _edited(row: EditedFault, promise: int | None = 10) -> FaultySubject:
    """The reference HAL with its source edited, which stays so in the process. promise: its npu_checkpoint_ms."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(row.edits)
        return shapes.reference(context)

    return FaultySubject(create, _ALL, manifest=lambda: {"npu_profile": "page", "npu_checkpoint_ms": promise})


def _with_device(shape: Shape, edits: tuple[SourceEdit, ...] = ()) -> FaultySubject:
    """A device in real time, which promises that its executions are work of its scheduling HAL."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(edits)
        return shape(context)

    manifest = {"npu_profile": "page", "npu_schedules_executions": True, "virtual_clock": False}
    return FaultySubject(create, ("device", "scheduling"), manifest=lambda: manifest)


def _observed(row: EditedFault) -> FaultySubject:
    """A device beside its scheduling HAL, with the source edited. It promises nothing of its executions."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(row.edits)
        return shapes.device_alone(context)

    return FaultySubject(create, ("device", "scheduling"), manifest=lambda: {"virtual_clock": False})


def _shaped(shape: Shape, interfaces: tuple[InterfaceName, ...] = _ALL, **manifest: Any) -> FaultySubject:
    return FaultySubject(lambda context, _: shape(context), interfaces, manifest=lambda: manifest)


def _in_real_time(row: EditedFault) -> FaultySubject:
    """The reference HAL with its source edited, on which time passes by itself."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(row.edits)
        return shapes.page_in_real_time(context)

    manifest = {"npu_profile": "page", "virtual_clock": False}
    return FaultySubject(create, ("scheduling", "workload"), manifest=lambda: manifest)


def _by_tool() -> dict[str, Any]:
    return {"virtual_clock": False, "inference_tool": shapes.tool_of_this_process()}


def _without_hal(context: Context) -> Subject:
    found = shapes.reference(context)
    return Subject(workload=found.workload, scheduling_control=found.scheduling_control)


_fault = functools.partial(fault, area="vts.npu_scheduling")
_IDLE = FaultySubject(
    lambda context, _: idle.with_work(context),
    ("scheduling", "workload"),
    deadlines=PATIENT,
    manifest=lambda: {"virtual_clock": False, "time_scale": IMPATIENCE},
)

FAULTS = (
    *(edited_fault(row, _edited(row)) for row in EDITED),
    *(edited_fault(row, _in_real_time(row)) for row in REAL_TIME),
    _fault("scheduling-absent", "The manifest names the scheduling HAL, and there is none.", "NPU-ACC-006",
           "configs.implements_hal", _shaped(_without_hal)),
    _fault("scheduling-idle", "The HAL checks its arguments and does nothing else.",
           "NPU-HAL-001 NPU-HAL-008 NPU-HAL-011 NPU-HAL-017 NPU-HAL-019",
           "work.undisturbed callback.replaced effects.set effects.set_replaces rights.no_direct_access", _IDLE),
    _fault("executions-aside", "The device takes turns among apps, and knows nothing of the scheduling HAL.",
           "NPU-HAL-011 NPU-HAL-019", "executions.direct_access executions.told",
           _with_device(shapes.with_device_of_its_own)),
    *(edited_fault(row, _with_device(shapes.with_device, row.edits)) for row in EXECUTIONS),
    *(edited_fault(row, _observed(row)) for row in OBSERVED),
)  # fmt: skip
"""Faults of scheduling HALs."""

VARIANTS = (
    Variant("npu", "The reference's scheduling HAL and NPU Manager.",
            _shaped(shapes.whole, (*_ALL, "manager", "manager_control"), npu_profile="page", npu_checkpoint_ms=10)),
    Variant("npu-scheduling", "The reference's scheduling HAL without its device.",
            _shaped(shapes.reference, npu_profile="page", npu_checkpoint_ms=10)),
    Variant("npu-careful-promise", "It looks up every 10 ms, and promises 100.",
            _shaped(shapes.reference, npu_profile="page", npu_checkpoint_ms=100)),
    Variant("npu-aosp", "AOSP's interface: no debounce time with the callback, no bounds in configs.",
            _shaped(shapes.aosp)),
    Variant("npu-narrow", "AOSP's interface, and the choices of AOSP's tool alone.", _shaped(shapes.narrow)),
    Variant("npu-no-work", "Nothing brings work: the calls of the HAL alone are judged.",
            _shaped(shapes.without_workload, ("scheduling",), virtual_clock=False)),
    Variant("npu-no-workload", "Nothing brings work but the executions of the device beside the HAL.",
            _shaped(shapes.device_alone, ("device", "scheduling"), virtual_clock=False)),
    Variant("npu-work-by-hand", "Nothing brings work but somebody who uses the NPU meanwhile.",
            _shaped(shapes.by_hand, ("scheduling",), virtual_clock=False)),
    Variant("npu-real-time", "A device: time passes by itself.",
            _shaped(shapes.in_real_time, ("scheduling", "workload"), virtual_clock=False)),
    Variant("npu-coarse-clock", "A device whose clock ticks every 10 ms.",
            _shaped(shapes.on_a_coarse_clock, ("scheduling", "workload"), virtual_clock=False)),
    *(edited_variant(row, _in_real_time(row)) for row in REAL_TIME_VARIANTS),
    Variant("npu-device", "A device whose executions are work of the scheduling HAL.",
            _with_device(shapes.with_device)),
    Variant("npu-device-not-preemptive", "The same, where an execution that has begun is finished.",
            _with_device(shapes.with_device, (
                SourceEdit("reference.device.compute_unit", "ComputeUnit._steps_aside", "with self._apps.lock:",
                           "return False\nwith self._apps.lock:"),))),
    Variant("npu-device-slow-deliveries", "The same, where each event is 80 ms on its way to the callback.",
            _with_device(shapes.with_device, (
                SourceEdit("reference.hal.scheduling_receiver", "Courier._run",
                           "run_safely(lambda: _deliver(message))",
                           "__import__('time').sleep(0.08)\nrun_safely(lambda: _deliver(message))"),))),
    Variant("npu-tool", "A device whose work comes from run-test-inference.",
            FaultySubject(lambda context, _: shapes.through_a_tool(context), ("scheduling",), manifest=_by_tool)),
    Variant("npu-cuttlefish", "Cuttlefish's quirk: work of an app for itself has original uid -1.",
            _shaped(shapes.cuttlefish, npu_profile="cuttlefish")),
    *(edited_variant(row, _edited(row, None)) for row in EDITED_VARIANTS),
    *(edited_variant(row, _edited(row)) for row in PROMISED_VARIANTS),
)  # fmt: skip
"""Scheduling HALs that every case lets pass."""
