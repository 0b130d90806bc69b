"""Numbers of the NNAPI C API: result codes, and constants that its header declares.

Source: NeuralNetworks.h and NeuralNetworksTypes.h; what the codes mean for HAL statuses: common/Utils.cpp.
"""

from __future__ import annotations

import enum

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


class ResultCode(enum.IntEnum):
    """What every function that can fail returns."""

    NO_ERROR = 0
    OUT_OF_MEMORY = 1
    INCOMPLETE = 2
    UNEXPECTED_NULL = 3
    BAD_DATA = 4
    OP_FAILED = 5
    BAD_STATE = 6
    UNMAPPABLE = 7
    OUTPUT_INSUFFICIENT_SIZE = 8
    UNAVAILABLE_DEVICE = 9
    MISSED_DEADLINE_TRANSIENT = 10
    MISSED_DEADLINE_PERSISTENT = 11
    RESOURCE_EXHAUSTED_TRANSIENT = 12
    RESOURCE_EXHAUSTED_PERSISTENT = 13
    DEAD_OBJECT = 14


class RuntimePriority(enum.IntEnum):
    """Priorities of a compilation. Since feature level 4."""

    LOW = 90
    MEDIUM = 100
    HIGH = 110


class RuntimeDeviceType(enum.IntEnum):
    """What ANeuralNetworksDevice_getType answers."""

    UNKNOWN = 0
    OTHER = 1
    CPU = 2
    GPU = 3
    ACCELERATOR = 4


class DurationCode(enum.IntEnum):
    """Which time ANeuralNetworksExecution_getDuration answers, in nanoseconds."""

    ON_HARDWARE = 0
    IN_DRIVER = 1
    FENCED_ON_HARDWARE = 2
    FENCED_IN_DRIVER = 3


MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES = 128
"""Bytes of a constant that setOperandValue copies at once; of larger ones it keeps the pointer until finish."""
BYTE_SIZE_OF_CACHE_TOKEN = 32
UNAVAILABLE_DURATION = 2**64 - 1
"""A time that is not available."""
DEFAULT_LOOP_TIMEOUT_NS = 2_000_000_000
MAXIMUM_LOOP_TIMEOUT_NS = 15_000_000_000
MOST_CACHE_FILES = 32
"""Of each kind, model and data; a driver that wants more is not registered."""
LARGEST_COUNT = 0xFFFFFFFE
"""Operands of a model, and operations of a model."""

FEATURE_LEVELS = {
    Version.V1_0: 27,
    Version.V1_1: 28,
    Version.V1_2: 29,
    Version.V1_3: 30,
    Version.FL5: 31,
    Version.FL6: 1_000_006,
    Version.FL7: 1_000_007,
    Version.FL8: 1_000_008,
}
"""Feature levels 1 to 8 as the API reports them, by the version of the HAL that came with each."""

_OF_STATUS: dict[int, ResultCode] = {
    ErrorStatus.NONE: ResultCode.NO_ERROR,
    ErrorStatus.DEVICE_UNAVAILABLE: ResultCode.UNAVAILABLE_DEVICE,
    ErrorStatus.OUTPUT_INSUFFICIENT_SIZE: ResultCode.OUTPUT_INSUFFICIENT_SIZE,
    ErrorStatus.INVALID_ARGUMENT: ResultCode.BAD_DATA,
    ErrorStatus.MISSED_DEADLINE_TRANSIENT: ResultCode.MISSED_DEADLINE_TRANSIENT,
    ErrorStatus.MISSED_DEADLINE_PERSISTENT: ResultCode.MISSED_DEADLINE_PERSISTENT,
    ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT: ResultCode.RESOURCE_EXHAUSTED_TRANSIENT,
    ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT: ResultCode.RESOURCE_EXHAUSTED_PERSISTENT,
}


_OF_RESULT: dict[int, ErrorStatus] = {
    ResultCode.UNEXPECTED_NULL: ErrorStatus.INVALID_ARGUMENT,
    **{code: ErrorStatus(status) for status, code in _OF_STATUS.items()},
}


def result_of_status(status: int) -> ResultCode:
    """The result code of a driver's ErrorStatus; OP_FAILED for GENERAL_FAILURE and for what is no status."""
    return _OF_STATUS.get(status, ResultCode.OP_FAILED)


def status_of_result(code: int) -> ErrorStatus:
    """The ErrorStatus by which a device stands for a result code; GENERAL_FAILURE for what has none of its own."""
    return _OF_RESULT.get(code, ErrorStatus.GENERAL_FAILURE)
