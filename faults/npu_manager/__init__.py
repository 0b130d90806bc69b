"""NPU Managers wrong on purpose: the reference one behind a boundary that bends one thing.

Each names the requirements it breaks and the case that is expected to catch it. `plugin` takes the name as an option.
"""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.faults.npu_manager import access, lifecycle, policy, request
from npu_conformance.faults.npu_manager.boundary import Conforming
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject

FAULTS: dict[str, type[Conforming]] = {
    kind.__name__: kind
    for module in (lifecycle, request, access, policy)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Conforming) and kind.caught_by
}


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="npu-manager-fault",
        vendor="npu-conformance",
        version="1",
        interfaces=("manager", "manager_control"),
        virtual_clock=True,
        options={"fault": "name of the fault (default: none, the boundary alone)"},
    )


def _create(context: Context) -> Subject:
    kind = FAULTS[context.options["fault"]] if "fault" in context.options else Conforming
    manager = kind(context)
    return Subject(manager=manager, manager_control=manager.control)


plugin = Plugin(_manifest, _create)
"""The reference manager behind the boundary. Option `fault`: what is bent."""
