"""How clearly a device says that it is busy with something else of its client, or has no room beside it."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

VAGUE = (
    "GENERAL_FAILURE beside others: a client cannot tell a busy device from a broken one, which a RESOURCE_EXHAUSTED "
    "status would (NNHAL-QOS-012)"
)


def vagueness(status: int | None, version: Version) -> str:
    """The quality warning about a status of `enums.busy`; empty where no status of the version says more."""
    return VAGUE if status == ErrorStatus.GENERAL_FAILURE and version >= Version.V1_3 else ""
