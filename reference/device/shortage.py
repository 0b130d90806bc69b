"""The answer of a device that is short of a resource."""

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


def shortage(version: Version, status: ErrorStatus, message: str) -> ServiceError:
    """The error to raise. status: one of RESOURCE_EXHAUSTED_*, which becomes GENERAL_FAILURE before 1.3 (ERROR-002)."""
    return ServiceError(status if version >= status.since else ErrorStatus.GENERAL_FAILURE, message)
