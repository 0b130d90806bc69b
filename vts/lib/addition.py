"""The smallest useful model, out = a + b, for cases whose subject is not the operation, in a type that the device has.

A device that computes in one type alone is a legal device: such cases run in the first type that it supports.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import told_if_unwritten
from npu_conformance.harness.judge.tolerance import ORDINARY, floor
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.vts.lib.preparing import prepared_or_unsupported

SIZE = 8
"""Bytes of each of the three tensors, whatever their type."""

POOL, _SECOND, OUTPUT = 64, 16, 32
"""Bytes of a pool that holds all three, and where the second summand and the sum lie in it."""

Pair = tuple[float, float]
"""Two values; a tensor repeats them until it is full."""

Values = tuple[float, ...]
"""Two values for each SIZE bytes of a larger tensor, which repeats all of them until it is full."""

A, B, SUM = (1.5, -2.0), (0.25, 4.0), (1.75, 2.0)
"""Values that all types of `ADDITIONS` represent."""


@dataclass(frozen=True, slots=True)
class Addition:
    """The model in one type.

    code: of an element in module struct. scale: of a quantised type, 0 for floats. since: when ADD takes the type.
    """

    operand_type: OperandType
    code: str
    scale: float = 0.0
    zero_point: int = 0
    since: Version = OLDEST

    def __str__(self) -> str:
        points = f" with zero point {self.zero_point}" if self.scale else ""
        return f"{OperandType(self.operand_type).name}{points}"

    @property
    def elements(self) -> int:
        """Number of elements of each tensor, which has one dimension."""
        return SIZE // struct.calcsize(self.code)

    def packed(self, values: Values) -> bytes:
        """Contents of a tensor with these values, of SIZE bytes for each two."""
        filled = self._filled(values)
        if not self.scale:
            return struct.pack(f"<{len(filled)}{self.code}", *filled)
        stored = (round(value / self.scale) + self.zero_point for value in filled)
        return struct.pack(f"<{len(filled)}{self.code}", *stored)

    def unpacked(self, data: bytes) -> Values:
        """All values of a tensor."""
        stored = struct.unpack(f"<{len(data) // struct.calcsize(self.code)}{self.code}", data)
        return tuple((one - self.zero_point) * self.scale for one in stored) if self.scale else stored

    def matches(self, found: Values, expected: Values, additions: int = 1) -> bool:
        """True where all values are as near to the expected ones as the public floor demands (NNHAL-ACCURACY-001).

        additions: how many, one on the other, gave them.
        """
        filled = self._filled(expected)
        return len(found) == len(filled) and all(
            abs(one - other) <= self.allowed(other, additions) for one, other in zip(found, filled, strict=True)
        )

    def allowed(self, expected: float, additions: float = 1.0) -> float:
        """How far so many additions together may be from the value that they should give."""
        judged = floor(self.operand_type, ORDINARY).judged
        return additions * (judged.atol * (self.scale or 1.0) + judged.rtol * abs(expected))

    def check(self, data: bytes, expected: Values, what: str, additions: int = 1) -> None:
        """Fail unless the contents of a tensor match."""
        found = self.unpacked(data)
        if not self.matches(found, expected, additions):
            with told_if_unwritten(lambda: data):
                checks.fail(what, checks.format_value(self._filled(expected)), checks.format_value(found))

    def model(self) -> Model:
        """Both summands are inputs of the model."""
        summand = self._tensor(OperandLifeTime.SUBGRAPH_INPUT, 1)
        return self._model(summand, (0, 1))

    def model_with_constant(self, *pools: Memory, location: DataLocation | None = None) -> Model:
        """The second summand is a constant in the first bytes of the first pool, or at another place."""
        constant = self._tensor(OperandLifeTime.CONSTANT_POOL, 1, location or DataLocation(length=SIZE))
        return self._model(constant, (0,), pools)

    def prepared(self, context: CaseContext, constant: Memory | None = None) -> PreparedModel:
        """Prepare the model, with a constant where its pool is given; NotSupported as of `prepared_or_unsupported`."""
        model = self.model() if constant is None else self.model_with_constant(constant)
        return prepared_or_unsupported(context, model)

    def put(self, pool: Pool, second: Pair = B, *, start: int = 0) -> None:
        """Write the summands where `request` has them, and nothing where it has the sum."""
        summands = self.packed(A) + bytes(_SECOND - SIZE) + self.packed(second)
        pool.write(start, summands.ljust(POOL, b"\0"))

    def adds(
        self,
        context: CaseContext,
        prepared_model: PreparedModel,
        pool: Pool,
        second: Pair = B,
        *,
        inputs: int = 2,
        start: int = 0,
        what: str = "execution",
    ) -> None:
        """Execute in POOL bytes of a pool, and see A + second. inputs: 1 where the model has the second one."""
        self.put(pool, second, start=start)
        execution = execute(context, prepared_model, request(pool.memory, inputs, start), measure=False)
        checks.status(execution.status, {ErrorStatus.NONE}, what)
        self.check(result(pool, start), plus(A, second), f"{what}, sum of {A} and {second}")

    def _filled(self, values: Values) -> Values:
        return values * (self.elements // 2)

    def _tensor(self, lifetime: OperandLifeTime, consumers: int = 0, location: DataLocation | None = None) -> Operand:
        return Operand(
            self.operand_type,
            (self.elements,),
            self.scale,
            self.zero_point,
            lifetime,
            location or DataLocation(),
            number_of_consumers=consumers,
        )

    def _model(self, second: Operand, inputs: tuple[int, ...], pools: tuple[Memory, ...] = ()) -> Model:
        first, total = self._tensor(OperandLifeTime.SUBGRAPH_INPUT, 1), self._tensor(OperandLifeTime.SUBGRAPH_OUTPUT)
        place = DataLocation(length=4)
        activation = Operand(
            OperandType.INT32, lifetime=OperandLifeTime.CONSTANT_COPY, location=place, number_of_consumers=1
        )
        operands = (first, second, activation, total)
        main = Subgraph(operands, (Operation(OperationType.ADD, (0, 1, 2), (3,)),), inputs, (3,))
        return Model(main=main, operand_values=bytes(4), pools=pools)


FLOAT32 = Addition(OperandType.TENSOR_FLOAT32, "f")
"""The type of cases that do not execute, such as rejections: it does not matter there whether the device has it."""

ADDITIONS = (
    FLOAT32,
    Addition(OperandType.TENSOR_FLOAT16, "e", since=Version.V1_2),
    Addition(OperandType.TENSOR_QUANT8_ASYMM, "B", 0.25, 128),
    Addition(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, "b", 0.25, 0, Version.V1_3),
)
"""Types in the order in which they are tried."""


def plus(one: Pair, other: Pair) -> Pair:
    """What two pairs add up to."""
    return one[0] + other[0], one[1] + other[1]


def request(pool: Memory, inputs: int = 2, start: int = 0) -> Request:
    """All tensors in POOL bytes of one pool, from `start` on."""
    places = (DataLocation(0, start + at, SIZE) for at in (0, _SECOND, OUTPUT))
    first, second, total = (RequestArgument(location=place) for place in places)
    return Request((first, second)[:inputs], (total,), (RequestMemoryPool(pool=pool),))


def result(pool: Pool, start: int = 0) -> bytes:
    """The bytes of the sum where `request` has it."""
    return bytes(pool.read(start + OUTPUT, SIZE))


model = FLOAT32.model
packed = FLOAT32.packed
unpacked = FLOAT32.unpacked


def supported(context: CaseContext) -> Addition:
    """The addition in the first type that the device says it supports; to be asked for once a case.

    NotSupported where there is none.
    """
    tried = _of_version(context)
    for addition in tried:
        if all(context.supported_operations(addition.model())):
            return addition
    raise _of_none(tried)


def all_supported(context: CaseContext) -> list[Addition]:
    """The addition in each type that the device says it supports. NotSupported where there is none."""
    tried = _of_version(context)
    found = [addition for addition in tried if all(context.supported_operations(addition.model()))]
    if not found:
        raise _of_none(tried)
    return found


def _of_version(context: CaseContext) -> list[Addition]:
    return [addition for addition in ADDITIONS if addition.since <= context.version]


def _of_none(tried: list[Addition]) -> NotSupported:
    names = ", ".join(addition.operand_type.name for addition in tried)
    return NotSupported(f"ADD is supported of none of {names}")
