"""NPU Managers that are wrong on purpose, and those that differ and conform, as faults and variants of the registry."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import IMPATIENCE, PATIENT, edited_fault, edited_variant, fault
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.faults.npu_manager import access, idle, lifecycle, policy, request
from npu_conformance.faults.npu_manager.boundary import INTERFACES, FaultyManager, faulty_manager
from npu_conformance.faults.npu_scheduling import shapes
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.reference.manager import policies, service
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.npu.types import Policy
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_FOLDER = Path(__file__).parent
_WITH_HAL: tuple[InterfaceName, ...] = ("scheduling", "workload", "scheduling_control", *INTERFACES)
Profile = Literal["page", "aosp"]

_SUBJECTS = ("faults", "requests", "policies", "priorities", "scenarios", "counts")
EDITED = tuple(row for name in _SUBJECTS for row in source_edits.read(_FOLDER / f"{name}.json"))
"""The faults of the reference's source, in the public page's profile."""
TOGETHER = source_edits.read(_FOLDER / "together.json")
"""The faults that show where several processes call, which leave a table in disorder."""
REAL_TIME = source_edits.read(_FOLDER / "real_time.json")
"""The faults that show where time passes by itself."""
EDITED_AOSP = source_edits.read(_FOLDER / "faults_aosp.json")
"""The faults that show in AOSP's profile only."""
EDITED_AT_WORK = source_edits.read(_FOLDER / "faults_at_work.json")
"""The faults that show in inferences on the device's own HAL."""
EDITED_VARIANTS = source_edits.read(_FOLDER / "variants.json")
"""The conforming variants."""
REAL_TIME_VARIANTS = source_edits.read(_FOLDER / "real_time_variants.json")
"""Those in which time passes by itself."""


def edited_manager(row: EditedFault, profile: Profile = "page", *, real_time: bool = False) -> FaultySubject:
    """The reference manager with its source edited, which stays so in the process."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(row.edits)
        return _reference(context, profile, real_time=real_time)

    manifest = {"npu_profile": profile, "virtual_clock": not real_time}
    return FaultySubject(create, INTERFACES, manifest=lambda: manifest)


def _at_work(row: EditedFault) -> FaultySubject:
    """The same above the reference's scheduling HAL, on which apps run inferences."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(row.edits)
        return shapes.whole(context)

    return FaultySubject(create, _WITH_HAL, manifest=lambda: {"npu_profile": "page"})


def _reference(context: Context, profile: Profile, *, real_time: bool = False) -> Subject:
    manager, control = service.create(context, real_time=real_time, declared_only=profile == "page")
    return Subject(manager=manager, manager_control=control)


def _plain(profile: Profile, *, real_time: bool = False) -> FaultySubject:
    manifest = {"npu_profile": profile, "virtual_clock": not real_time}
    return FaultySubject(
        lambda context, _: _reference(context, profile, real_time=real_time), INTERFACES, manifest=lambda: manifest
    )


def _numbered(opportunistic: int) -> FaultySubject:
    """The reference manager with another number of NPU_MODEL_PRIORITY_OPPORTUNISTIC."""

    def create(context: Context, _: Version) -> Subject:
        return _reference(dataclasses.replace(context, options={"opportunistic": str(opportunistic)}), "page")

    constants = {"NPU_MODEL_PRIORITY_OPPORTUNISTIC": opportunistic}
    return FaultySubject(create, INTERFACES, manifest=lambda: {"npu_profile": "page", "constants": constants})


def _configured(policy: Policy) -> FaultySubject:
    """The reference manager on a device that is configured to start with another policy (NPU-POL-001)."""

    def create(context: Context, _: Version) -> Subject:
        manager, control = service.create(context, declared_only=True)
        manager.policy = policies.make(policy, None, manager.policy.decide)
        return Subject(manager=manager, manager_control=control)

    constants = {"NPU_DEFAULT_POLICY": int(policy)}
    return FaultySubject(create, INTERFACES, manifest=lambda: {"npu_profile": "page", "constants": constants})


_IDLE = FaultySubject(
    lambda context, _: idle.with_control(context),
    INTERFACES,
    deadlines=PATIENT,
    manifest=lambda: {"time_scale": IMPATIENCE},
)

AT_THE_BOUNDARY = (*lifecycle.FAULTS, *request.FAULTS, *access.FAULTS, *policy.FAULTS)
"""The faults of the reference behind a boundary at which one thing is changed."""

FAULTS = (
    *AT_THE_BOUNDARY,
    fault(
        "manager-idle",
        "The manager checks its arguments and does nothing else.",
        "NPU-LIF-005 NPU-LIF-010 NPU-POL-003 NPU-POL-010 NPU-PRI-006 NPU-PRI-002 NPU-OBS-001",
        "lifecycle.grant lifecycle.unload_completes_once policy.status_quo_gates_nothing budget.two_large_of_eight "
        "priority.table_on_connecting pressure.order_is_kept observation.dump_names_policy",
        _IDLE,
        area="cts.npu_manager",
    ),
    *(edited_fault(row, edited_manager(row)) for row in (*EDITED, *TOGETHER)),
    *(edited_fault(row, edited_manager(row, "aosp")) for row in EDITED_AOSP),
    *(edited_fault(row, edited_manager(row, real_time=True)) for row in REAL_TIME),
    *(edited_fault(row, _at_work(row)) for row in EDITED_AT_WORK),
)
"""Faults of the manager, without those of its buffers."""


VARIANTS = (
    Variant("manager-boundary-alone", "Nothing is changed.", faulty_manager(FaultyManager)),
    Variant(
        "manager-decides-twice", "Every decision is sent twice (NPU-LIF-005).", faulty_manager(lifecycle.DecidesTwice)
    ),
    Variant("manager-aosp-profile", "Apps that declare nothing are ranked as others.", _plain("aosp")),
    Variant("manager-opportunistic-500", "Opportunistic has a number between normal and background.", _numbered(500)),
    Variant("manager-opportunistic-negative", "Opportunistic has a number below normal.", _numbered(-1)),
    Variant("manager-starts-with-turns", "A configured default (NPU-POL-001).", _configured(Policy.TURN_TAKING)),
    Variant("manager-real-time", "Threads of its own answer, in real time.", _plain("page", real_time=True)),
    *(edited_variant(row, edited_manager(row)) for row in EDITED_VARIANTS),
    *(edited_variant(row, edited_manager(row, real_time=True)) for row in REAL_TIME_VARIANTS),
)
"""Managers that every case lets pass."""
