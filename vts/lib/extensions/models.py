"""Models with the reference's own extensions, by their numbers on the wire, and what they compute by plain arithmetic.

No extension is registered here: a driver gets codes and a mapping, and so do the cases that look at them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, POOL, TEMPORARY, constant, graph

FIBONACCI, ECHO = "com.npu_conformance.fibonacci", "com.npu_conformance.echo"
UNKNOWN = "com.npu_conformance.in_no_driver"
"""The name of an extension that nobody has."""

COUNT_TYPE, NUMBERS_TYPE, BYTES_TYPE = 0, 1, 1
"""Local numbers of the types: the second of one extension is the one of the other."""

FIBONACCI_OPERATION, DEQUANTIZE_OPERATION, ECHO_OPERATION = 0, 1, 0
"""Local numbers of the operations, equal in the two extensions too."""

SCALE, ZERO_POINT = 2.0, 7
PARAMETERS = struct.pack("<dq", SCALE, ZERO_POINT)
"""Extension data of a quantised sequence."""

_ALIGNMENT = 64

Mapping = tuple[ExtensionNameAndPrefix, ...]


def mapping(**prefix_of: int) -> Mapping:
    """The mapping with these prefixes. fibonacci, echo, unknown: in the order in which they are given."""
    names = {"fibonacci": FIBONACCI, "echo": ECHO, "unknown": UNKNOWN}
    return tuple(ExtensionNameAndPrefix(names[key], prefix) for key, prefix in prefix_of.items())


def code(prefix: int, local: int) -> int:
    """A type or operation of the extension with this prefix."""
    return prefix << 16 | local


def highest_prefix(version: Version) -> int:
    """AIDL keeps the sign bit free (NNHAL-EXTENSION-002, -003)."""
    return 0x7FFF if version.is_aidl else 0xFFFF


def data(content: bytes) -> OperandExtraParams:
    """Extension data of an operand."""
    return OperandExtraParams(extension=content)


def count_operand(prefix: int) -> Operand:
    """How many numbers, an input."""
    return Operand(code(prefix, COUNT_TYPE), lifetime=INPUT)


def numbers_operand(prefix: int, length: int, lifetime: int, parameters: bytes = PARAMETERS) -> Operand:
    """A quantised sequence."""
    return Operand(code(prefix, NUMBERS_TYPE), (length,), lifetime=lifetime, extra_params=data(parameters))


def fibonacci(prefix: int, length: int, parameters: bytes = PARAMETERS) -> Model:
    """FIBONACCI: a count to that many numbers."""
    operands = [count_operand(prefix), numbers_operand(prefix, length, OUTPUT, parameters)]
    main = graph(operands, [Operation(code(prefix, FIBONACCI_OPERATION), (0,), (1,))])
    return Model(main, extension_name_to_prefix=mapping(fibonacci=prefix))


def dequantize(prefix: int, length: int, parameters: bytes = PARAMETERS) -> Model:
    """FIBONACCI_DEQUANTIZE: numbers to float32. length: 0 where the request says it."""
    real = Operand(OperandType.TENSOR_FLOAT32, (length,), lifetime=OUTPUT)
    operands = [numbers_operand(prefix, length, INPUT, parameters), real]
    main = graph(operands, [Operation(code(prefix, DEQUANTIZE_OPERATION), (0,), (1,))])
    return Model(main, extension_name_to_prefix=mapping(fibonacci=prefix))


def dequantized_and_scaled(prefix: int, length: int, parameters: bytes, pools: Sequence[Memory]) -> Model:
    """FIBONACCI_DEQUANTIZE, times what is in the first pool, plus what is in the second one."""
    real = Operand(OperandType.TENSOR_FLOAT32, (length,))
    stored_in = [
        replace(real, lifetime=POOL, location=DataLocation(number, length=4 * length)) for number in range(len(pools))
    ]
    operands = [
        numbers_operand(prefix, length, INPUT, parameters), *stored_in, constant(OperandType.INT32, (), 0, 4),
        replace(real, lifetime=TEMPORARY), replace(real, lifetime=TEMPORARY), replace(real, lifetime=OUTPUT),
    ]  # fmt: skip
    operations = [
        Operation(code(prefix, DEQUANTIZE_OPERATION), (0,), (4,)),
        Operation(OperationType.MUL, (4, 1, 3), (5,)),
        Operation(OperationType.ADD, (5, 2, 3), (6,)),
    ]
    names = mapping(fibonacci=prefix)
    main = graph(operands, operations)
    return Model(main, operand_values=bytes(4), pools=tuple(pools), extension_name_to_prefix=names)


def echo(prefix: int, content: bytes) -> Model:
    """ECHO_PARAMETERS of an operand of the extension's own type: to the length and the CRC-32 of its data."""
    source = Operand(code(prefix, BYTES_TYPE), (2,), lifetime=INPUT, extra_params=data(content))
    result = Operand(OperandType.TENSOR_INT32, (2,), lifetime=OUTPUT)
    main = graph([source, result], [Operation(code(prefix, ECHO_OPERATION), (0,), (1,))])
    return Model(main, extension_name_to_prefix=mapping(echo=prefix))


def foreign(fibonacci_prefix: int, echo_prefix: int, length: int) -> Model:
    """FIBONACCI, then ECHO_PARAMETERS of its result: an operation with an operand of another extension."""
    operands = [
        count_operand(fibonacci_prefix),
        numbers_operand(fibonacci_prefix, length, TEMPORARY),
        Operand(OperandType.TENSOR_INT32, (2,), lifetime=OUTPUT),
    ]
    operations = [
        Operation(code(fibonacci_prefix, FIBONACCI_OPERATION), (0,), (1,)),
        Operation(code(echo_prefix, ECHO_OPERATION), (1,), (2,)),
    ]
    prefixes = mapping(fibonacci=fibonacci_prefix, echo=echo_prefix)
    return Model(graph(operands, operations), extension_name_to_prefix=prefixes)


def sequence(length: int) -> list[int]:
    """The first Fibonacci numbers."""
    numbers, following = [0], 1
    for _ in range(length - 1):
        numbers, following = [*numbers, following], following + numbers[-1]
    return numbers


def stored(length: int, scale: float = SCALE, zero_point: int = ZERO_POINT) -> list[int]:
    """The same, quantised; halves are rounded away from zero, and nothing is negative."""
    return [floor(Fraction(number) / Fraction(scale) + Fraction(1, 2)) + zero_point for number in sequence(length)]


def packed_count(count: int) -> bytes:
    """An input of FIBONACCI."""
    return struct.pack("<q", count)


def packed_numbers(numbers: Sequence[int]) -> bytes:
    """A quantised sequence as it is stored."""
    return struct.pack(f"<{len(numbers)}q", *numbers)


def packed_echo(content: bytes) -> bytes:
    """The result of ECHO_PARAMETERS."""
    return struct.pack("<iI", len(content), zlib.crc32(content))


def listed(context: CaseContext) -> set[str]:
    """The names of the extensions that the device lists."""
    return {extension.name for extension in context.device.get_supported_extensions()}


def need(context: CaseContext, *names: str) -> None:
    """NotApplicable unless the device lists all of them."""
    missing = sorted(set(names) - listed(context))
    if missing:
        raise NotApplicable(f"the device does not list {', '.join(missing)}")


def supports_any(context: CaseContext, model: Model, *, may_be_refused: bool = False) -> bool:
    """True where the device says that it supports an operation; of a valid model it answers (NNHAL-SUPPORT-002).

    may_be_refused: the model may count as invalid, and then has nothing that is supported.
    """
    allowed = {ErrorStatus.INVALID_ARGUMENT} if may_be_refused else set()
    try:
        return any(context.supported_operations(model))
    except ServiceError as error:
        with checks.about("NNHAL-SUPPORT-002"):
            checks.status(error.status, allowed, "getSupportedOperations of operations of an extension")
        return False


def prepared(context: CaseContext, model: Model) -> PreparedModel:
    """Prepare a model of extensions that the device lists: it has to support all of it (NNHAL-QUERY-019)."""
    answers = checks.works(lambda: context.supported_operations(model), "getSupportedOperations")
    with checks.about("NNHAL-QUERY-019"):
        checks.that(all(answers), f"getSupportedOperations: expected all supported, as listed, found {list(answers)}")
    return model_of(context.prepare(model))


def _places(sizes: Sequence[int]) -> list[int]:
    places, end = [], 0
    for size in sizes:
        places.append(end)
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return places


def _arguments(
    pool: int, places: Sequence[int], sizes: Sequence[int], dimensions: tuple[int, ...]
) -> tuple[RequestArgument, ...]:
    located = zip(places, sizes, strict=True)
    return tuple(RequestArgument(False, DataLocation(pool, place, size), dimensions) for place, size in located)


def executed(context: CaseContext, prepared_model: PreparedModel, memory: RequestMemory, executor: str = "") -> None:
    """Execute once, in the usual way where none is named; it has to end in NONE."""
    execution = execute(context, prepared_model, memory.request, measure=False, executor=executor)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution")


@checks.about("NNHAL-QUERY-019", "NNHAL-EXTENSION-013")
def computes(
    context: CaseContext, prepared_model: PreparedModel, inputs: Sequence[bytes], expected: Sequence[bytes], what: str
) -> None:
    """Execute in each way that the version has; the outputs have to be these bytes."""
    for executor in executors(context.version):
        memory = RequestMemory(context, inputs, [len(one) for one in expected])
        executed(context, prepared_model, memory, executor)
        for position, (found, wanted) in enumerate(zip(memory.outputs(), expected, strict=True)):
            checks.equal(found.hex(), wanted.hex(), f"{what}, {executor} execution, bytes of output {position}")


class RequestMemory:
    """Memory for one execution: inputs with these bytes in one pool, outputs of these sizes in another."""

    def __init__(
        self, context: CaseContext, inputs: Sequence[bytes], sizes: Sequence[int], *, dimensions: tuple[int, ...] = ()
    ) -> None:
        """dimensions: that the request says of each."""
        lengths = [len(one) for one in inputs]
        given, self._sizes = context.pool(_end(lengths)), sizes
        for place, content in zip(_places(lengths), inputs, strict=True):
            given.write(place, content)
        self._output = context.pool(_end(sizes))
        pools = (RequestMemoryPool(pool=given.memory), RequestMemoryPool(pool=self._output.memory))
        outputs = _arguments(1, _places(sizes), sizes, dimensions)
        self.request = Request(_arguments(0, _places(lengths), lengths, dimensions), outputs, pools)

    def outputs(self) -> list[bytes]:
        """The bytes of each output."""
        located = zip(_places(self._sizes), self._sizes, strict=True)
        return [bytes(self._output.read(place, size)) for place, size in located]


def _end(sizes: Sequence[int]) -> int:
    return sum(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes) or 1
