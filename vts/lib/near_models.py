"""Models with many constants, of which each is seen in an output of its own; two of them differ in hardly anything.

What a driver knows of a model by a part of it (its first or last bytes, its first operands, one of its pools, a set of
pools in any order) makes one of two such models compute as the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.vts.lib.addition import SIZE, A, Addition, Pair
from npu_conformance.vts.lib.structure_models import COPY, INPUT, OUTPUT, POOL, constant, graph, tensor

COPIED, POOLED, IN_ONE_POOL = "copied", "pooled", "in_one_pool"
_LONG, _MANY = 1030, 24
_USUAL: Pair = (2.0, -1.0)
_OTHER: Pair = (2.0, 1.0)
"""In floating point they differ in one bit of their last byte."""

Constant = tuple[Pair, ...]
"""What a constant holds, SIZE bytes each."""


@dataclass(frozen=True, slots=True)
class Sums:
    """out n = input + constant n. layout: of the constants: within the model, each in a pool, or all in one pool."""

    addition: Addition
    constants: tuple[Constant, ...]
    layout: str

    def model(self, filled_pool: Callable[[bytes], Memory]) -> Model:
        """Operands: input, constants, activation, outputs."""
        quantization = {"scale": self.addition.scale, "zero_point": self.addition.zero_point}
        size, count = (len(self.constants[0]) * self.addition.elements,), len(self.constants)
        kind, data = self.addition.operand_type, self._data()
        lifetime = COPY if self.layout == COPIED else POOL
        operands = [
            tensor(kind, size, INPUT, **quantization),
            *(tensor(kind, size, lifetime, location=place, **quantization) for place in self._places()),
            constant(OperandType.INT32, (), 0, 4),
            *[tensor(kind, size, OUTPUT, **quantization)] * count,
        ]
        activation = 1 + count
        additions = [
            Operation(OperationType.ADD, (0, 1 + at, activation), (activation + 1 + at,)) for at in range(count)
        ]
        contents = [b"".join(data)] if self.layout == IN_ONE_POOL else data
        pools = () if self.layout == COPIED else tuple(map(filled_pool, contents))
        values = bytes(4) + (b"".join(data) if self.layout == COPIED else b"")
        return Model(main=graph(operands, additions), operand_values=values, pools=pools)

    def check(self, context: CaseContext, prepared_model: PreparedModel, what: str) -> None:
        """Execute, and see every constant in its output."""
        bytes_of_one, count = len(self.constants[0]) * SIZE, len(self.constants)
        pool = context.pool((1 + count) * bytes_of_one)
        pool.write(0, self.addition.packed(A) * len(self.constants[0]))
        places = (DataLocation(0, at * bytes_of_one, bytes_of_one) for at in range(1 + count))
        source, *targets = (RequestArgument(location=place) for place in places)
        request = Request((source,), tuple(targets), (RequestMemoryPool(pool=pool.memory),))
        execution = execute(context, prepared_model, request, measure=False)
        checks.status(execution.status, {ErrorStatus.NONE}, f"execution of {what}")
        found = bytes(pool.read(bytes_of_one, count * bytes_of_one))
        held = [pair for one in self.constants for pair in one]
        for at, pair in enumerate(held):
            if at in (0, len(held) - 1) or pair != _USUAL or at % 97 == 0:  # more would take seconds
                expected = (A[0] + pair[0], A[1] + pair[1])
                text = f"element {at * self.addition.elements} of all outputs, {what}"
                self.addition.check(found[at * SIZE : (at + 1) * SIZE], expected, text)

    def _data(self) -> list[bytes]:
        return [b"".join(map(self.addition.packed, one)) for one in self.constants]

    def _places(self) -> Iterator[DataLocation]:
        size = len(self.constants[0]) * SIZE
        for at in range(len(self.constants)):
            if self.layout == POOLED:
                yield DataLocation(at, 0, size)
            else:
                yield DataLocation(0, (4 if self.layout == COPIED else 0) + at * size, size)


def pairs(addition: Addition) -> Iterator[tuple[str, Sums, Sums]]:
    """Two models that differ in one place or in an order, by what that is."""
    long, many = (_USUAL,) * _LONG, ((_USUAL,),) * _MANY
    for name, at in (("first", 0), ("middle", _LONG // 2), ("last", _LONG - 1)):
        for layout in (COPIED, POOLED):
            usual = Sums(addition, (long,), layout)
            other = (*long[:at], _OTHER, *long[at + 1 :])
            yield f"{name}_of_many_bytes.{layout}", usual, replace(usual, constants=(other,))
    for name, at in (("first", 0), ("middle", _MANY // 2), ("last", _MANY - 1)):
        for layout in (COPIED, POOLED, IN_ONE_POOL):
            usual = Sums(addition, many, layout)
            other_constants = (*many[:at], (_OTHER,), *many[at + 1 :])
            yield f"{name}_of_many_constants.{layout}", usual, replace(usual, constants=other_constants)
    ordered: tuple[Constant, ...] = (((0.5, 1.0),), ((-1.5, 3.0),), ((2.5, -2.0),))
    for layout in (COPIED, POOLED, IN_ONE_POOL):
        usual = Sums(addition, ordered, layout)
        yield f"order.{layout}", usual, replace(usual, constants=ordered[::-1])
