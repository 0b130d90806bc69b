"""The NPU Managers wrong on purpose, and such that differ and conform, as faults and variants of the registry."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from npu_conformance.faults import npu_manager, source_edits
from npu_conformance.faults.factories import IMPATIENCE, PATIENT
from npu_conformance.faults.fault import Fault, FaultySubject, NoticedAs, Variant
from npu_conformance.faults.npu_manager import idle
from npu_conformance.faults.npu_manager.boundary import Conforming
from npu_conformance.faults.npu_scheduling import shapes
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.reference.manager import service
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_FOLDER = Path(__file__).parent / "npu_manager"
_INTERFACES: tuple[InterfaceName, ...] = ("manager", "manager_control")
_WITH_HAL: tuple[InterfaceName, ...] = ("scheduling", "workload", "scheduling_control", *_INTERFACES)
Profile = Literal["page", "aosp"]

EDITED = source_edits.read(_FOLDER / "faults.json")
"""Faults of the reference's source, in the public page's profile."""
EDITED_AOSP = source_edits.read(_FOLDER / "faults_aosp.json")
"""Faults that show in AOSP's profile only."""
EDITED_AT_WORK = source_edits.read(_FOLDER / "faults_at_work.json")
"""Faults that show in inferences on the device's own HAL."""
EDITED_VARIANTS = source_edits.read(_FOLDER / "variants.json")
"""Conforming ones."""


def _bent_by(kind: type[Conforming]) -> FaultySubject:
    def create(context: Context, _: Version) -> Subject:
        manager = kind(context)
        return Subject(manager=manager, manager_control=manager.control)

    return FaultySubject(create, _INTERFACES)


def _edited(one: EditedFault, profile: Profile = "page") -> FaultySubject:
    """The reference manager with its source edited, which stays so in the process."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(one.edits)
        return _reference(context, profile)

    return FaultySubject(create, _INTERFACES, manifest=lambda: {"npu_profile": profile})


def _at_work(one: EditedFault) -> FaultySubject:
    """The same with the reference's scheduling HAL below, on which apps run inferences."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(one.edits)
        return shapes.whole(context)

    return FaultySubject(create, _WITH_HAL, manifest=lambda: {"npu_profile": "page"})


def _reference(context: Context, profile: Profile, *, real_time: bool = False) -> Subject:
    manager, control = service.create(context, real_time=real_time, declared_only=profile == "page")
    return Subject(manager=manager, manager_control=control)


def _plain(profile: Profile, *, real_time: bool = False) -> FaultySubject:
    manifest = {"npu_profile": profile, "virtual_clock": not real_time}
    return FaultySubject(
        lambda context, _: _reference(context, profile, real_time=real_time), _INTERFACES, manifest=lambda: manifest
    )


def _numbered(opportunistic: int) -> FaultySubject:
    """The reference manager with another number of NPU_MODEL_PRIORITY_OPPORTUNISTIC."""

    def create(context: Context, _: Version) -> Subject:
        return _reference(replace(context, options={"opportunistic": str(opportunistic)}), "page")

    constants = {"NPU_MODEL_PRIORITY_OPPORTUNISTIC": opportunistic}
    return FaultySubject(create, _INTERFACES, manifest=lambda: {"npu_profile": "page", "constants": constants})


def _id(kind: type[object]) -> str:
    return "manager-" + re.sub(r"(?<!^)(?=[A-Z](?=[a-z])|(?<=[a-z])[A-Z])", "-", kind.__name__).lower()


def _fault(one: EditedFault, bent: FaultySubject) -> Fault:
    return Fault(one.id, one.description, one.breaks, one.caught_by, bent, noticed_as=cast(NoticedAs, one.noticed_as))


FAULTS = (
    *(
        Fault(
            _id(kind),
            inspect.getdoc(kind) or "",
            kind.breaks,
            (kind.caught_by,),
            _bent_by(kind),
            noticed_as=kind.noticed_as,
        )
        for kind in npu_manager.FAULTS.values()
    ),
    Fault(
        "manager-idle",
        "The manager checks its arguments and does nothing else.",
        ("NPU-LIF-005", "NPU-LIF-010", "NPU-POL-003", "NPU-POL-010", "NPU-PRI-006", "NPU-PRI-002", "NPU-OBS-001"),
        (
            "cts.npu_manager.lifecycle.grant",
            "cts.npu_manager.lifecycle.unload_completes_once",
            "cts.npu_manager.policy.status_quo_gates_nothing",
            "cts.npu_manager.budget.two_large_of_eight",
            "cts.npu_manager.priority.table_on_connecting",
            "cts.npu_manager.pressure.order_is_kept",
            "cts.npu_manager.observation.dump_names_policy",
        ),
        FaultySubject(
            lambda context, _: idle.with_control(context),
            _INTERFACES,
            deadlines=PATIENT,
            manifest=lambda: {"time_scale": IMPATIENCE},
        ),
    ),
    *(_fault(one, _edited(one)) for one in EDITED),
    *(_fault(one, _edited(one, "aosp")) for one in EDITED_AOSP),
    *(_fault(one, _at_work(one)) for one in EDITED_AT_WORK),
)
"""One fault for each manager."""


VARIANTS = (
    Variant("manager-boundary-alone", "Nothing is bent.", _bent_by(Conforming)),
    Variant("manager-aosp-profile", "Apps that declare nothing are ranked as others.", _plain("aosp")),
    Variant("manager-opportunistic-500", "Opportunistic has a number between normal and background.", _numbered(500)),
    Variant("manager-opportunistic-negative", "Opportunistic has a number below normal.", _numbered(-1)),
    Variant("manager-real-time", "Threads of its own answer, in real time.", _plain("page", real_time=True)),
    *(Variant(one.id, one.description, _edited(one)) for one in EDITED_VARIANTS),
)
"""Managers that every case lets pass."""
