"""Makes implementations that are bent at the boundary."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.faults.boundary import BentDevice, BentPreparedModel
from npu_conformance.faults.fault import Bent
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

IMPATIENT = Deadlines(prepare=0.3, execute=0.3)
"""For faults that never answer: the reference itself answers before a call returns."""


def device_bent_by(
    kind: Callable[[ReferenceDevice], BentDevice], *, plays: Version | None = None, deadlines: Deadlines | None = None
) -> Bent:
    """The reference driver behind this kind of boundary. plays: the version it is inside, whatever it says outside."""

    def create(context: Context, version: Version) -> Subject:
        return Subject(device=kind(ReferenceDevice(context, plays or version)))

    return Bent(create, deadlines=deadlines or Deadlines())


def models_bent_by(kind: type[BentPreparedModel], *, deadlines: Deadlines | None = None) -> Bent:
    """The reference driver whose prepared models are behind this kind of boundary."""

    class Device(BentDevice):
        prepared_model = kind

    return device_bent_by(Device, deadlines=deadlines)


def models_with_memory(kind: type[BentPreparedModel]) -> Bent:
    """The reference driver whose prepared models are behind this kind of boundary and reach pools by `memory`."""

    def create(context: Context, version: Version) -> Subject:
        class Device(BentDevice):
            prepared_model = type(kind.__name__, (kind,), {"memory": context.memory})

        return Subject(device=Device(ReferenceDevice(context, version)))

    return Bent(create)
