"""The reference runtime as a faulty or conforming variant of it is made: with edited source, or behind a boundary."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.faults import source_edits
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version

INTERFACES: tuple[InterfaceName, ...] = ("runtime", "runtime_control")
_DRIVER = "reference-npu"


def edited_runtime(
    edits: tuple[SourceEdit, ...],
    level: Version = NEWEST,
    boundary: Callable[[Runtime, Context], Runtime] = lambda inner, _: inner,
    *,
    drivers: int = 1,
    driver: Callable[[ReferenceDevice], Device] = lambda device: device,
    checks_handles: bool = True,
    exact_result_codes: bool = True,
    concurrent_calls: int = 8,
) -> FaultySubject:
    """The reference runtime with its source edited, over the reference driver. level: the runtime's feature level.

    boundary: what the app calls instead. drivers: how many there are. driver: what is in front of each. The rest is
    said in the manifest.
    """

    def create(context: Context, _: Version) -> Subject:
        source_edits.apply(edits)
        service = RuntimeService(context, level)
        device = driver(ReferenceDevice(service.driver_context, NEWEST, own.register(2)))
        services = [LivingService(f"{_DRIVER}{number or ''}", NEWEST, device) for number in range(drivers)]
        runtime, control = service.start(services)
        return Subject(runtime=boundary(runtime, context), runtime_control=control)

    def manifest() -> dict[str, object]:
        return {
            "feature_level": level,
            "checks_handles": checks_handles,
            "exact_result_codes": exact_result_codes,
        }

    return FaultySubject(create, INTERFACES, instance=_DRIVER, concurrent_calls=concurrent_calls, manifest=manifest)
