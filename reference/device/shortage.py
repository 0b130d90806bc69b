"""What a device without enough of something answers."""

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


def shortage(version: Version, status: ErrorStatus, message: str) -> ServiceError:
    """The error to raise. status: of RESOURCE_EXHAUSTED_*; before 1.3 there is GENERAL_FAILURE alone (ERROR-002)."""
    return ServiceError(status if version >= status.since else ErrorStatus.GENERAL_FAILURE, message)
