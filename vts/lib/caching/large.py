"""A model with constants of more than 64 KiB: one is added to the input, another one to that sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.caching import TOKEN, Cache, outcome
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import model_of
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
from npu_conformance.vts.lib.addition import SIZE, A, Addition, Pair
from npu_conformance.vts.lib.caching.client import GENERAL, Client

LAYOUTS = ("copied", "pooled")
"""Where the constants lie: within the model, or each in a pool of its own, of one size."""

_TIMES = 8200
_BYTES = _TIMES * SIZE
_FIRST: tuple[Pair, Pair] = ((0.5, -1.5), (2.0, 0.25))
_SECOND: tuple[Pair, Pair] = ((-1.25, 3.0), (0.75, -2.0))
"""What each constant repeats, and what it ends with."""
_LIFETIMES = {"copied": OperandLifeTime.CONSTANT_COPY, "pooled": OperandLifeTime.CONSTANT_POOL}


@dataclass(frozen=True, slots=True)
class LargeSum:
    """The model in one type: out = input + first + second."""

    addition: Addition

    def model(self, layout: str, filled_pool: Callable[[bytes], Memory]) -> Model:
        """Operands: input, constants, activation, sum, output."""
        contents = [self._filled(*ends) for ends in (_FIRST, _SECOND)]
        is_copied = layout == "copied"
        copied = (DataLocation(0, 4 + _BYTES * at, _BYTES) for at in (0, 1))
        pooled = (DataLocation(at, 0, _BYTES) for at in (0, 1))
        places = copied if is_copied else pooled
        activation = Operand(
            OperandType.INT32,
            lifetime=OperandLifeTime.CONSTANT_COPY,
            location=DataLocation(length=4),
            number_of_consumers=2,
        )
        operands = (
            self._tensor(OperandLifeTime.SUBGRAPH_INPUT),
            *(self._tensor(_LIFETIMES[layout], place) for place in places),
            activation,
            self._tensor(OperandLifeTime.TEMPORARY_VARIABLE),
            self._tensor(OperandLifeTime.SUBGRAPH_OUTPUT, consumers=0),
        )
        operations = (Operation(OperationType.ADD, (0, 1, 3), (4,)), Operation(OperationType.ADD, (4, 2, 3), (5,)))
        values = bytes(4) + (b"".join(contents) if is_copied else b"")
        pools = () if is_copied else tuple(map(filled_pool, contents))
        return Model(main=Subgraph(operands, operations, (0,), (5,)), operand_values=values, pools=pools)

    def saved(self, caching: Client, layout: str) -> Cache:
        """A cache that was seen to give the model. NotSupported for no such model, NotApplicable for no cache."""
        context, cache = caching.context, caching.cache()
        model = self.model(layout, context.filled_pool)
        if not all(context.supported_operations(model)):
            raise NotSupported("a sum of large tensors is not supported")
        self.check(context, model_of(caching.save(model, cache.handles()), "prepareModel with cache files"))
        restored = caching.restored(cache.handles(), TOKEN)
        if outcome(restored) == GENERAL:
            raise NotApplicable("the device does not cache this model")
        self.check(context, model_of(restored, "prepareModelFromCache of large constants"))
        return cache

    def check(self, context: CaseContext, prepared_model: PreparedModel) -> None:
        """See that both ends of the output are right."""
        pool = context.pool(2 * _BYTES)
        pool.write(0, self.addition.packed(A) * _TIMES)
        source, target = (RequestArgument(location=DataLocation(0, _BYTES * at, _BYTES)) for at in (0, 1))
        request = Request((source,), (target,), (RequestMemoryPool(pool=pool.memory),))
        execution = execute(context, prepared_model, request, measure=False)
        checks.status(execution.status, {ErrorStatus.NONE}, "execution of a model with large constants")
        for name, at, place in (("first", 0, _BYTES), ("last", 1, 2 * _BYTES - SIZE)):
            expected = tuple(sum(values) for values in zip(A, _FIRST[at], _SECOND[at], strict=True))
            data = bytes(pool.read(place, SIZE))
            self.addition.check(data, (expected[0], expected[1]), f"the {name} bytes of a sum of large constants")

    def _filled(self, most: Pair, last: Pair) -> bytes:
        return self.addition.packed(most) * (_TIMES - 1) + self.addition.packed(last)

    def _tensor(self, lifetime: int, place: DataLocation | None = None, consumers: int = 1) -> Operand:
        elements = _TIMES * self.addition.elements
        quantization = (self.addition.scale, self.addition.zero_point)
        location = place or DataLocation()
        kind = self.addition.operand_type
        return Operand(kind, (elements,), *quantization, lifetime, location, number_of_consumers=consumers)
