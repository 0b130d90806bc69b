"""The plug-in of the faulty implementations: option `fault` names a fault or a conforming variant."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from npu_conformance.faults import registry, source_edits
from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.factories import faulty_device
from npu_conformance.faults.fault import Edited, Fault, FaultySubject, Variant
from npu_conformance.faults.guard import Life
from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import INTERFACES, Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_CLOCKS = {"manager_control", "scheduling_control"}
_REFERENCE = faulty_device(FaultyDevice)
OPTIONS = {
    "fault": "id of a fault or a conforming variant (`npu-conformance faults --list`)",
    "hal": "version of the Neural Networks HAL, 1.0 to fl8 (default: the fault's)",
}


@functools.cache
def known() -> Mapping[str, Fault | Variant]:
    """Every fault and conforming variant by id. Raises ValueError where two have one id."""
    every: list[Fault | Variant] = [*registry.fuzz_only().values(), *registry.conforming().values()]
    return registry.by_id([*every, *registry.faults().values()])


def _chosen(options: Mapping[str, str]) -> Fault | Variant:
    name = options.get("fault", "reference")
    if name not in known():
        raise ValueError(f"no fault {name!r}; `npu-conformance faults --list` shows them")
    return known()[name]


def _version(options: Mapping[str, str], chosen: Fault | Variant) -> Version:
    return versions.parse(options["hal"]) if "hal" in options else chosen.hal


def manifest(options: Mapping[str, str]) -> Manifest:
    """The manifest of the chosen implementation."""
    chosen = _chosen(options)
    faulty = chosen.mechanism if isinstance(chosen.mechanism, FaultySubject) else _REFERENCE
    return Manifest(
        name=chosen.id,
        vendor="npu-conformance-faults",
        version="1",
        interfaces=faulty.interfaces,
        hal_version=_version(options, chosen),
        instance=faulty.instance,
        deadlines=faulty.deadlines,
        concurrent_calls=faulty.concurrent_calls,
        options=OPTIONS,
        **{"virtual_clock": bool(_CLOCKS.intersection(faulty.interfaces)), **faulty.manifest()},
    )


def create(context: Context) -> Subject:
    """Make the chosen implementation. Source edits stay in the process, which should be a host of its own."""
    chosen = _chosen(context.options)
    version = _version(context.options, chosen)
    if isinstance(chosen.mechanism, FaultySubject):
        return chosen.mechanism.create(context, version)
    if not isinstance(chosen.mechanism, Edited):
        raise ValueError(f"{chosen.id} is no fault of a driver: `npu-conformance faults {chosen.id}` runs it")
    source_edits.apply(chosen.mechanism.edits)
    extensions = own.register() if chosen.mechanism.extended else ()
    return Subject(device=ReferenceDevice(context, version, extensions))


def _create_guarded(context: Context) -> Subject:
    life = Life()
    subject = create(life.watch(context))
    parts: dict[str, Any] = {name: life.guard(kind, getattr(subject, name)) for name, kind in INTERFACES.items()}
    return Subject(**parts)


plugin = Plugin(manifest, create)
"""The faulty implementation."""

guarded = Plugin(manifest, _create_guarded)
"""The same for isolation inprocess: an exception that a host process would die of looks like its death."""
