"""The NPU Managers wrong on purpose, as faults of the registry."""

from __future__ import annotations

import inspect
import re

from npu_conformance.faults import npu_manager
from npu_conformance.faults.fault import Bent, Fault
from npu_conformance.faults.npu_manager.boundary import Conforming
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version


def _bent_by(kind: type[Conforming]) -> Bent:
    def create(context: Context, _: Version) -> Subject:
        manager = kind(context)
        return Subject(manager=manager, manager_control=manager.control)

    return Bent(create, ("manager", "manager_control"))


def _id(kind: type[Conforming]) -> str:
    return "manager-" + re.sub(r"(?<!^)(?=[A-Z](?=[a-z])|(?<=[a-z])[A-Z])", "-", kind.__name__).lower()


FAULTS = tuple(
    Fault(
        _id(kind),
        inspect.getdoc(kind) or "",
        kind.breaks,
        (kind.caught_by,),
        _bent_by(kind),
        noticed_as=kind.noticed_as,
    )
    for kind in npu_manager.FAULTS.values()
)
"""One fault for each manager."""
