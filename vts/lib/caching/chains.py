"""Models to cache: chains of additions, out = a + length * b, which tell models of different length apart."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.subject.pools import Pool, Pools
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.vts.lib.addition import SIZE, A, Addition, Pair

STEP = (0.25, -0.25)
"""The second summand: exact in all types, and within the range of the quantised ones up to a hundred times."""

_SECOND, _OUTPUT, _POOL = 16, 32, 64


@dataclass(frozen=True, slots=True)
class Chain:
    """The model in one type. constant: the second summand is a constant of the model, else an input."""

    addition: Addition
    length: int = 1
    constant: Pair | None = None

    def model(self) -> Model:
        """Operands: both summands, the activation, the sums in order."""
        second = OperandLifeTime.SUBGRAPH_INPUT if self.constant is None else OperandLifeTime.CONSTANT_COPY
        place = DataLocation() if self.constant is None else DataLocation(0, 4, SIZE)
        activation = Operand(
            OperandType.INT32,
            lifetime=OperandLifeTime.CONSTANT_COPY,
            location=DataLocation(length=4),
            number_of_consumers=self.length,
        )
        sums = [self._tensor(OperandLifeTime.TEMPORARY_VARIABLE, 1) for _ in range(self.length - 1)]
        operands = (
            self._tensor(OperandLifeTime.SUBGRAPH_INPUT, 1),
            self._tensor(second, self.length, place),
            activation,
            *sums,
            self._tensor(OperandLifeTime.SUBGRAPH_OUTPUT, 0),
        )
        firsts = (0, *range(3, 2 + self.length))
        operations = tuple(Operation(OperationType.ADD, (first, 1, 2), (3 + at,)) for at, first in enumerate(firsts))
        inputs = (0, 1) if self.constant is None else (0,)
        main = Subgraph(operands, operations, inputs, (2 + self.length,))
        values = bytes(4) + (b"" if self.constant is None else self.addition.packed(self.constant))
        return Model(main=main, operand_values=values)

    def expected(self) -> Pair:
        """The output for the inputs A and STEP."""
        second = self.constant or STEP
        return A[0] + self.length * second[0], A[1] + self.length * second[1]

    def check(
        self, context: CaseContext, prepared_model: PreparedModel, what: str, memory: Pools | None = None
    ) -> None:
        """Fail unless the prepared model computes this chain. memory: of the app that prepared it."""
        status, found = self.execute(context, prepared_model, memory)
        checks.status(status, {ErrorStatus.NONE}, f"execution of {what}")
        expected = self.expected()
        values = self.addition.unpacked(found)
        # Each addition of a chain may be off, though not all into one direction.
        additions = max(1.0, self.length / 4)
        pairs = [(value, expected[at % 2]) for at, value in enumerate(values)]
        right = all(abs(value - other) <= self.addition.allowed(other, additions) for value, other in pairs)
        if not right:
            checks.fail(f"output of {what}", checks.format_value(expected), checks.format_value(values))

    def execute(
        self, context: CaseContext, prepared_model: PreparedModel, memory: Pools | None = None
    ) -> tuple[int, bytes]:
        """Return the status and the output's bytes; Failed where anything beside the output was written."""
        with contextlib.closing((memory or context.subject.memory).create("ashmem", _POOL)) as pool:
            return self._execute(context, prepared_model, pool)

    def _execute(self, context: CaseContext, prepared_model: PreparedModel, pool: Pool) -> tuple[int, bytes]:
        before = bytearray([FILL]) * _POOL
        before[:SIZE], before[_SECOND : _SECOND + SIZE] = self.addition.packed(A), self.addition.packed(STEP)
        pool.write(0, before)
        inputs = tuple(RequestArgument(location=DataLocation(0, at, SIZE)) for at in (0, _SECOND))
        output = RequestArgument(location=DataLocation(0, _OUTPUT, SIZE))
        count = 2 if self.constant is None else 1
        request = Request(inputs[:count], (output,), (RequestMemoryPool(pool=pool.memory),))
        execution = execute(context, prepared_model, request, measure=False)
        after = pool.read(0, _POOL)
        kept = after[:_OUTPUT] + after[_OUTPUT + SIZE :]
        checks.that(kept == before[:_OUTPUT] + before[_OUTPUT + SIZE :], "the execution wrote beside its output")
        return execution.status, after[_OUTPUT : _OUTPUT + SIZE]

    def _tensor(self, lifetime: OperandLifeTime, consumers: int, place: DataLocation | None = None) -> Operand:
        return Operand(
            self.addition.operand_type,
            (self.addition.elements,),
            self.addition.scale,
            self.addition.zero_point,
            lifetime,
            place or DataLocation(),
            number_of_consumers=consumers,
        )
