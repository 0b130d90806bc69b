"""The NPU Managers wrong on purpose, as faults of the registry."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import cast

from npu_conformance.faults import npu_manager, source_edits
from npu_conformance.faults.fault import Bent, Fault, NoticedAs
from npu_conformance.faults.npu_manager.boundary import Conforming
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.reference.manager import service
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

EDITED = source_edits.read(Path(__file__).parent / "npu_manager" / "edits.json")
"""Faults of the reference's source, AOSP's known defects among them."""


def _edited(one: EditedFault) -> Bent:
    """The reference manager with its source edited, which stays so in the process."""

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(one.edits)
        manager, control = service.create(context)
        return Subject(manager=manager, manager_control=control)

    return Bent(create, ("manager", "manager_control"))


def _bent_by(kind: type[Conforming]) -> Bent:
    def create(context: Context, _: Version) -> Subject:
        manager = kind(context)
        return Subject(manager=manager, manager_control=manager.control)

    return Bent(create, ("manager", "manager_control"))


def _id(kind: type[Conforming]) -> str:
    return "manager-" + re.sub(r"(?<!^)(?=[A-Z](?=[a-z])|(?<=[a-z])[A-Z])", "-", kind.__name__).lower()


FAULTS = (
    *(
        Fault(
            one.id, one.description, one.breaks, one.caught_by, _edited(one),
            noticed_as=cast(NoticedAs, one.noticed_as),
        )
        for one in EDITED
    ),
    *(Fault(
        _id(kind),
        inspect.getdoc(kind) or "",
        kind.breaks,
        (kind.caught_by,),
        _bent_by(kind),
        noticed_as=kind.noticed_as,
    )
    for kind in npu_manager.FAULTS.values()),
)  # fmt: skip
"""One fault for each manager."""
