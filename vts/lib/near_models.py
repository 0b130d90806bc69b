"""Models with many constants, of which each is seen in an output of its own; two of them differ in hardly anything.

What a driver knows of a model by a part of it (its first or last bytes, its first operands, one of its pools, a set of
pools in any order) makes one of two such models compute as the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec

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
from npu_conformance.vts.lib.addition import SIZE, A, Addition, Pair, plus
from npu_conformance.vts.lib.structure_models import COPY, INPUT, OUTPUT, POOL, constant, graph, tensor

COPIED, IN_ONE_POOL = "copied", "in_one_pool"
POOLED, BACKWARDS, GROWING = "pooled", "pooled_backwards", "pooled_growing"
LAYOUTS = (COPIED, IN_ONE_POOL, POOLED, BACKWARDS, GROWING)
"""Where constants lie: within the model, all in one pool, or each in a pool of its own: in the order in which they are
used, in the opposite one, or in pools of growing size of which they fill the end.
"""
_LONG, _MANY = 1030, 24
_USUAL: Pair = (2.0, -1.0)
_OTHER: Pair = (2.0, 1.0)
"""In floating point they differ in one bit of their last byte."""

Constant = tuple[Pair, ...]
"""What a constant holds, SIZE bytes each."""


@dataclass(frozen=True, slots=True)
class Sums:
    """out n = input + constant n.

    is_clipped: the last output is clipped at zero. is_reversed: the outputs come in the opposite order.
    """

    addition: Addition
    constants: tuple[Constant, ...]
    layout: str
    is_clipped: bool = False
    is_reversed: bool = False

    def model(self, filled_pool: Callable[[bytes], Memory]) -> Model:
        """Operands: input, constants, outputs, the activations of all and of the last."""
        quantization = {"scale": self.addition.scale, "zero_point": self.addition.zero_point}
        size, count = (len(self.constants[0]) * self.addition.elements,), len(self.constants)
        kind, data = self.addition.operand_type, self._data()
        lifetime = COPY if self.layout == COPIED else POOL
        operands = [
            tensor(kind, size, INPUT, **quantization),
            *(tensor(kind, size, lifetime, location=place, **quantization) for place in self._places()),
            *[tensor(kind, size, OUTPUT, **quantization)] * count,
            *(constant(OperandType.INT32, (), place, 4) for place in (0, 4)),
        ]
        additions = [
            Operation(OperationType.ADD, (0, 1 + at, 1 + 2 * count + (at == count - 1)), (1 + count + at,))
            for at in range(count)
        ]
        pools = () if self.layout == COPIED else tuple(map(filled_pool, self._contents(data)))
        values = bytes(4) + self.is_clipped.to_bytes(4, "little") + (b"".join(data) if self.layout == COPIED else b"")
        main = graph(operands, additions)
        if self.is_reversed:
            main = msgspec.structs.replace(main, output_indexes=main.output_indexes[::-1])
        return Model(main=main, operand_values=values, pools=pools)

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
        found, expected = bytes(pool.read(bytes_of_one, count * bytes_of_one)), self._expected()
        if found == b"".join(map(self.addition.packed, expected)):
            return
        for at, pair in enumerate(expected):
            text = f"element {at * self.addition.elements} of all outputs, {what}"
            self.addition.check(found[at * SIZE : (at + 1) * SIZE], pair, text)

    def _expected(self) -> list[Pair]:
        """All outputs, one behind the other."""
        sums = [[plus(A, second) for second in one] for one in self.constants]
        if self.is_clipped:
            sums[-1] = [(max(first, 0.0), max(second, 0.0)) for first, second in sums[-1]]
        return [pair for one in (sums[::-1] if self.is_reversed else sums) for pair in one]

    def _contents(self, data: list[bytes]) -> list[bytes]:
        """What the pools hold."""
        if self.layout == IN_ONE_POOL:
            return [b"".join(data)]
        if self.layout == GROWING:
            return [bytes(SIZE * at) + one for at, one in enumerate(data)]
        return data[::-1] if self.layout == BACKWARDS else data

    def _data(self) -> list[bytes]:
        return [b"".join(map(self.addition.packed, one)) for one in self.constants]

    def _places(self) -> Iterator[DataLocation]:
        size, count = len(self.constants[0]) * SIZE, len(self.constants)
        for at in range(count):
            yield {
                COPIED: DataLocation(0, 8 + at * size, size),
                IN_ONE_POOL: DataLocation(0, at * size, size),
                POOLED: DataLocation(at, 0, size),
                BACKWARDS: DataLocation(count - 1 - at, 0, size),
                GROWING: DataLocation(at, SIZE * at, size),
            }[self.layout]


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
    for layout in LAYOUTS:
        usual = Sums(addition, ordered, layout)
        yield f"order.{layout}", usual, replace(usual, constants=ordered[::-1])
        yield f"last_activation.{layout}", usual, replace(usual, is_clipped=True)
        yield f"order_of_outputs.{layout}", usual, replace(usual, is_reversed=True)
