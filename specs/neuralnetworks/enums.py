"""Enumerations and constants of the Neural Networks HAL, with the version each member appeared in.

Values are AIDL's (HIDL's agree). Wire fields stay plain integers: a driver may be sent, or answer, an unknown value.
"""

from __future__ import annotations

import enum

from npu_conformance.specs.versions import Version


class ErrorStatus(enum.IntEnum):
    """Result of a HAL call."""

    NONE = 0
    DEVICE_UNAVAILABLE = 1
    GENERAL_FAILURE = 2
    OUTPUT_INSUFFICIENT_SIZE = 3
    INVALID_ARGUMENT = 4
    MISSED_DEADLINE_TRANSIENT = 5
    MISSED_DEADLINE_PERSISTENT = 6
    RESOURCE_EXHAUSTED_TRANSIENT = 7
    RESOURCE_EXHAUSTED_PERSISTENT = 8

    @property
    def since(self) -> Version:
        """1.0 knows the first five, 1.3 added deadlines and resources (NNHAL-ERROR-002, -003)."""
        return Version.V1_0 if self <= ErrorStatus.INVALID_ARGUMENT else Version.V1_3


MISSED = frozenset({ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_PERSISTENT})
"""What a deadline that cannot be, or was not kept, is answered with."""
EXHAUSTED = frozenset({ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT})
"""What a want of resources is answered with."""


def busy(version: Version) -> frozenset[ErrorStatus]:
    """What a device may answer to a valid call beside something else that its client has alive or running.

    The interface text has DEVICE_UNAVAILABLE for a driver that is "offline or busy", and GENERAL_FAILURE for what
    cannot be launched (NNHAL-EXECUTE-005, NNHAL-PREPARE-006); since 1.3 a driver may say more (NNHAL-QOS-012).
    """
    known = {ErrorStatus.DEVICE_UNAVAILABLE, ErrorStatus.GENERAL_FAILURE, *EXHAUSTED}
    return frozenset(status for status in known if status.since <= version)


DECLINED = frozenset({ErrorStatus.GENERAL_FAILURE, *EXHAUSTED})
"""What a device answers to a valid call that it cannot serve."""


class DeviceStatus(enum.IntEnum):
    """Answer of getStatus; HIDL only."""

    AVAILABLE = 0
    BUSY = 1
    OFFLINE = 2
    UNKNOWN = 3


class DeviceType(enum.IntEnum):
    """Kind of device, since 1.2. Zero is unused."""

    OTHER = 1
    CPU = 2
    GPU = 3
    ACCELERATOR = 4


class ExecutionPreference(enum.IntEnum):
    """What to optimise a prepared model for, since 1.1."""

    LOW_POWER = 0
    FAST_SINGLE_ANSWER = 1
    SUSTAINED_SPEED = 2


class Priority(enum.IntEnum):
    """Priority of a prepared model among those of the same app, since 1.3."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


class FusedActivation(enum.IntEnum):
    """FusedActivationFunc: what is applied to the result of an operation."""

    NONE = 0
    RELU = 1
    RELU1 = 2
    RELU6 = 3


class PaddingScheme(enum.IntEnum):
    """Implicit padding of windowed operations."""

    SAME = 1
    VALID = 2


class OperandLifeTime(enum.IntEnum):
    """Where the value of an operand comes from. HIDL says MODEL_INPUT, MODEL_OUTPUT and CONSTANT_REFERENCE."""

    TEMPORARY_VARIABLE = 0
    SUBGRAPH_INPUT = 1
    SUBGRAPH_OUTPUT = 2
    CONSTANT_COPY = 3
    CONSTANT_POOL = 4
    NO_VALUE = 5
    SUBGRAPH = 6

    @property
    def since(self) -> Version:
        """SUBGRAPH came with control flow in 1.3."""
        return Version.V1_3 if self is OperandLifeTime.SUBGRAPH else Version.V1_0


class FenceState(enum.IntEnum):
    """State of a sync fence, since 1.3."""

    UNSIGNALLED = 0
    SIGNALLED = 1
    ERROR = 2


class OperandType(enum.IntEnum):
    """Type of an operand. Properties of each are in `operand_types`."""

    FLOAT32 = 0
    INT32 = 1
    UINT32 = 2
    TENSOR_FLOAT32 = 3
    TENSOR_INT32 = 4
    TENSOR_QUANT8_ASYMM = 5
    BOOL = 6
    TENSOR_QUANT16_SYMM = 7
    TENSOR_FLOAT16 = 8
    TENSOR_BOOL8 = 9
    FLOAT16 = 10
    TENSOR_QUANT8_SYMM_PER_CHANNEL = 11
    TENSOR_QUANT16_ASYMM = 12
    TENSOR_QUANT8_SYMM = 13
    TENSOR_QUANT8_ASYMM_SIGNED = 14
    SUBGRAPH = 15
    OEM = 10000
    TENSOR_OEM_BYTE = 10001


class OperationType(enum.IntEnum):
    """Operation codes; the table of each, with `since`, is in operations/."""

    ADD = 0
    AVERAGE_POOL_2D = 1
    CONCATENATION = 2
    CONV_2D = 3
    DEPTHWISE_CONV_2D = 4
    DEPTH_TO_SPACE = 5
    DEQUANTIZE = 6
    EMBEDDING_LOOKUP = 7
    FLOOR = 8
    FULLY_CONNECTED = 9
    HASHTABLE_LOOKUP = 10
    L2_NORMALIZATION = 11
    L2_POOL_2D = 12
    LOCAL_RESPONSE_NORMALIZATION = 13
    LOGISTIC = 14
    LSH_PROJECTION = 15
    LSTM = 16
    MAX_POOL_2D = 17
    MUL = 18
    RELU = 19
    RELU1 = 20
    RELU6 = 21
    RESHAPE = 22
    RESIZE_BILINEAR = 23
    RNN = 24
    SOFTMAX = 25
    SPACE_TO_DEPTH = 26
    SVDF = 27
    TANH = 28
    BATCH_TO_SPACE_ND = 29
    DIV = 30
    MEAN = 31
    PAD = 32
    SPACE_TO_BATCH_ND = 33
    SQUEEZE = 34
    STRIDED_SLICE = 35
    SUB = 36
    TRANSPOSE = 37
    ABS = 38
    ARGMAX = 39
    ARGMIN = 40
    AXIS_ALIGNED_BBOX_TRANSFORM = 41
    BIDIRECTIONAL_SEQUENCE_LSTM = 42
    BIDIRECTIONAL_SEQUENCE_RNN = 43
    BOX_WITH_NMS_LIMIT = 44
    CAST = 45
    CHANNEL_SHUFFLE = 46
    DETECTION_POSTPROCESSING = 47
    EQUAL = 48
    EXP = 49
    EXPAND_DIMS = 50
    GATHER = 51
    GENERATE_PROPOSALS = 52
    GREATER = 53
    GREATER_EQUAL = 54
    GROUPED_CONV_2D = 55
    HEATMAP_MAX_KEYPOINT = 56
    INSTANCE_NORMALIZATION = 57
    LESS = 58
    LESS_EQUAL = 59
    LOG = 60
    LOGICAL_AND = 61
    LOGICAL_NOT = 62
    LOGICAL_OR = 63
    LOG_SOFTMAX = 64
    MAXIMUM = 65
    MINIMUM = 66
    NEG = 67
    NOT_EQUAL = 68
    PAD_V2 = 69
    POW = 70
    PRELU = 71
    QUANTIZE = 72
    QUANTIZED_16BIT_LSTM = 73
    RANDOM_MULTINOMIAL = 74
    REDUCE_ALL = 75
    REDUCE_ANY = 76
    REDUCE_MAX = 77
    REDUCE_MIN = 78
    REDUCE_PROD = 79
    REDUCE_SUM = 80
    ROI_ALIGN = 81
    ROI_POOLING = 82
    RSQRT = 83
    SELECT = 84
    SIN = 85
    SLICE = 86
    SPLIT = 87
    SQRT = 88
    TILE = 89
    TOPK_V2 = 90
    TRANSPOSE_CONV_2D = 91
    UNIDIRECTIONAL_SEQUENCE_LSTM = 92
    UNIDIRECTIONAL_SEQUENCE_RNN = 93
    RESIZE_NEAREST_NEIGHBOR = 94
    QUANTIZED_LSTM = 95
    IF = 96
    WHILE = 97
    ELU = 98
    HARD_SWISH = 99
    FILL = 100
    RANK = 101
    BATCH_MATMUL = 102
    PACK = 103
    MIRROR_PAD = 104
    REVERSE = 105
    OEM_OPERATION = 10000


EXTENSION_TYPE_LOW_BITS = 16
"""An operand or operation type above 0xFFFF is an extension's: its prefix sits above these bits."""

BASE_TYPE_MAX = 0xFFFF

BYTE_SIZE_OF_CACHE_TOKEN = 32
MAX_NUMBER_OF_CACHE_FILES = 32
DEFAULT_LOOP_TIMEOUT_DURATION_NS = 2_000_000_000
MAXIMUM_LOOP_TIMEOUT_DURATION_NS = 15_000_000_000
