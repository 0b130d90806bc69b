"""Wire types of the Neural Networks HAL in one canonical shape: the newest AIDL's, with HIDL's extra fields.

Sources: HIDL types.hal 1.0 to 1.3 and the AIDL parcelables v1 to v4 of android.hardware.neuralnetworks.
Times keep the form of the device's version: microseconds or UINT64_MAX in HIDL, nanoseconds or -1 in AIDL.
"""

from __future__ import annotations

from typing import Annotated

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType
from npu_conformance.specs.versions import Version
from npu_conformance.specs.wire_types import Float, HasFloat, Wire, since

_1_1 = since(Version.V1_1)
_1_2 = since(Version.V1_2)
_1_3 = since(Version.V1_3)
_FL5 = since(Version.FL5)

NO_DEADLINE = -1
NO_LOOP_TIMEOUT = -1
NO_DURATION = -1
"""AIDL's times that are not given; what a version calls them is Version.unavailable_time."""
NO_IDENTITY = -1
"""A burst's memory identifier token of a pool that is not to be kept."""
READ_ONLY = 1
"""Memory.prot of memory that is only read."""


class Memory(Wire, frozen=True):
    """A pool of bytes both sides can reach. `token` names it on the wire (docs/wire-protocol.md); 0 is a null handle.

    kind: ashmem, mmap_fd, hardware_buffer_blob or hardware_buffer in HIDL, in AIDL the member of its union: ashmem,
    mappableFile or hardwareBuffer. size and offset in bytes; prot as in mmap(2): 1 read, 3 read and write.
    """

    kind: str
    size: int
    token: int
    prot: int = 3
    offset: int = 0
    description: Annotated[HardwareBufferDescription | None, _1_2] = None


BLOB_FORMAT = 33
"""AHARDWAREBUFFER_FORMAT_BLOB: the format of a hardware buffer that is a row of bytes."""


class HardwareBufferDescription(Wire, frozen=True):
    """The part of AHardwareBuffer_Desc that a driver needs. A BLOB has format 33, one row, and its width in bytes."""

    width: int
    height: int
    layers: int
    format: int
    stride: int = 0


class DataLocation(Wire, frozen=True):
    """Where the bytes of an operand lie. offset, length, padding in bytes; padding is writable room behind the data."""

    pool_index: int = 0
    offset: int = 0
    length: int = 0
    padding: Annotated[int, _FL5] = 0


class SymmPerChannelQuantParams(HasFloat, frozen=True):
    """Quantisation of TENSOR_QUANT8_SYMM_PER_CHANNEL: one scale for each index of dimension channel_dim."""

    scales: tuple[Float, ...]
    channel_dim: int

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("scales",)


class OperandExtraParams(Wire, frozen=True):
    """A union: exactly one of the two is set."""

    channel_quant: SymmPerChannelQuantParams | None = None
    extension: bytes | None = None


class Operand(HasFloat, frozen=True):
    """One value of a graph. dimensions: 0 is an unknown size; empty is a scalar or (since 1.2) an unknown rank."""

    type: int = OperandType.FLOAT32
    dimensions: tuple[int, ...] = ()
    scale: Float = 0.0
    zero_point: int = 0
    lifetime: int = OperandLifeTime.TEMPORARY_VARIABLE
    location: DataLocation = DataLocation()
    extra_params: Annotated[OperandExtraParams | None, _1_2] = None
    number_of_consumers: int = 0
    """HIDL only: how often operations read the operand (MODEL.G5). AIDL ignores it."""

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("scale",)


class Operation(Wire, frozen=True):
    """An operation: its code and the indexes of its operands in the subgraph."""

    type: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Subgraph(Wire, frozen=True):
    """Operands, operations in an order of execution, and which operands are the graph's inputs and outputs."""

    operands: tuple[Operand, ...]
    operations: tuple[Operation, ...]
    input_indexes: tuple[int, ...]
    output_indexes: tuple[int, ...]


class ExtensionNameAndPrefix(Wire, frozen=True):
    """Which prefix the types of an extension carry in one model."""

    name: str
    prefix: int


class Model(Wire, frozen=True):
    """A model: the main graph, the graphs that IF and WHILE refer to, and the values of constants."""

    main: Subgraph
    referenced: Annotated[tuple[Subgraph, ...], _1_3] = ()
    operand_values: bytes = b""
    pools: tuple[Memory, ...] = ()
    relax_computation_float32_to_float16: Annotated[bool, _1_1] = False
    extension_name_to_prefix: Annotated[tuple[ExtensionNameAndPrefix, ...], _1_2] = ()


class RequestArgument(Wire, frozen=True):
    """Value of one model input or output. dimensions override what the model left unknown."""

    has_no_value: bool = False
    location: DataLocation = DataLocation()
    dimensions: tuple[int, ...] = ()


class RequestMemoryPool(Wire, frozen=True):
    """A union: shared memory, or (since 1.3) the token of a buffer the driver allocated."""

    pool: Memory | None = None
    token: Annotated[int, _1_3] = 0


class Request(Wire, frozen=True):
    """Arguments of one execution."""

    inputs: tuple[RequestArgument, ...]
    outputs: tuple[RequestArgument, ...]
    pools: tuple[RequestMemoryPool, ...]


class QueueDescriptor(Wire, frozen=True):
    """A fast message queue of a HIDL burst (`message_queue`). Since 1.2.

    capacity: in elements. memory: where it lies; null where no memory is shared and packets travel as messages.
    """

    capacity: int
    memory: Memory | None = None


class OutputShape(Wire, frozen=True):
    """What an execution found out about one output. Since 1.2."""

    dimensions: tuple[int, ...]
    is_sufficient: bool


class Timing(Wire, frozen=True):
    """Duration of an execution on the device and in the driver, in the unit of the version. Since 1.2."""

    time_on_device: int
    time_in_driver: int


class ExecutionResult(Wire, frozen=True):
    """Outcome of a synchronous execution. output_sufficient_size: false stands for OUTPUT_INSUFFICIENT_SIZE."""

    output_sufficient_size: bool
    output_shapes: tuple[OutputShape, ...]
    timing: Timing

    @property
    def status(self) -> ErrorStatus:
        """The status that an asynchronous execution or a packet tells of this outcome."""
        return ErrorStatus.NONE if self.output_sufficient_size else ErrorStatus.OUTPUT_INSUFFICIENT_SIZE


class PerformanceInfo(HasFloat, frozen=True):
    """Ratios to the CPU's time and power; smaller is better; the largest float where unknown."""

    exec_time: Float
    power_usage: Float

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("exec_time", "power_usage")


class OperandPerformance(Wire, frozen=True):
    """Performance for operations whose first operand has this type. Since 1.2."""

    type: int
    info: PerformanceInfo


class Capabilities(Wire, frozen=True):
    """What a device is good at. Each version fills the fields it has (NNHAL-QUERY-005 to -008, -027)."""

    float32_performance: PerformanceInfo | None = None
    quantized8_performance: PerformanceInfo | None = None
    relaxed_float32_to_float16_performance: Annotated[PerformanceInfo | None, _1_1] = None
    relaxed_float32_to_float16_performance_scalar: Annotated[PerformanceInfo | None, _1_2] = None
    relaxed_float32_to_float16_performance_tensor: Annotated[PerformanceInfo | None, _1_2] = None
    operand_performance: Annotated[tuple[OperandPerformance, ...], _1_2] = ()
    if_performance: Annotated[PerformanceInfo | None, _1_3] = None
    while_performance: Annotated[PerformanceInfo | None, _1_3] = None


class ExtensionOperandTypeInformation(Wire, frozen=True):
    """One operand type of a vendor extension; byte_size of a scalar or of one element."""

    type: int
    is_tensor: bool
    byte_size: int


class Extension(Wire, frozen=True):
    """A vendor extension a device supports completely. Since 1.2."""

    name: str
    operand_types: tuple[ExtensionOperandTypeInformation, ...] = ()


class NumberOfCacheFiles(Wire, frozen=True):
    """How many files compilation caching wants; both 0 where it is not supported. Since 1.2."""

    num_model_cache: int
    num_data_cache: int


class BufferDesc(Wire, frozen=True):
    """Wanted shape of a driver-managed buffer; 0 and empty mean unknown. Since 1.3."""

    dimensions: tuple[int, ...]


class BufferRole(HasFloat, frozen=True):
    """One use of a driver-managed buffer: an input or output of a prepared model, with its probability. Since 1.3."""

    model_index: int
    io_index: int
    probability: Float

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("probability",)


class TokenValuePair(Wire, frozen=True):
    """A vendor's hint: token with the extension's prefix in its high bits. Since feature level 8."""

    token: int
    value: bytes


class CacheHandle(Wire, frozen=True):
    """A cache file as a client hands it over: the descriptors that the handle holds, by token. Since 1.2.

    A token names an open file (docs/wire-protocol.md, section 6), with an access mode and a file offset of its own.
    AIDL's handle holds one descriptor; HIDL's can hold none or several, which is wrong (NNHAL-CACHE-012).
    """

    descriptors: tuple[int, ...]


class ExecutionConfig(Wire, frozen=True):
    """How to execute. Since feature level 8."""

    measure_timing: bool = False
    loop_timeout_duration_ns: int = -1
    execution_hints: tuple[TokenValuePair, ...] = ()
    extension_name_to_prefix: tuple[ExtensionNameAndPrefix, ...] = ()


class PrepareModelConfig(Wire, frozen=True):
    """How to prepare. Since feature level 8. deadline_ns on CLOCK_BOOTTIME, -1 for none."""

    preference: int
    priority: int
    deadline_ns: int
    model_cache: tuple[CacheHandle, ...]
    data_cache: tuple[CacheHandle, ...]
    cache_token: bytes
    compilation_hints: tuple[TokenValuePair, ...] = ()
    extension_name_to_prefix: tuple[ExtensionNameAndPrefix, ...] = ()
