"""What the cases of bursts share: a model with arguments in memory of its own, and a look at what it computes."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.shape_count import check_shape_count
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition, Pair
from npu_conformance.vts.lib.preparing import prepared_or_unsupported

_INPUTS, _OUTPUT, _APART = (0, 16), 32, 32
PAIRS: tuple[Pair, Pair, Pair, Pair] = (addition.A, addition.B, (0.5, -1.0), (-0.25, 2.0))
"""Values whose sums are exact in every type of `ADDITIONS`."""


@dataclass(frozen=True)
class BurstFixture:
    """An addition and memory for it. outputs: how often the model adds."""

    context: CaseContext
    chosen: Addition
    prepared_model: PreparedModel
    pool: Pool
    outputs: int = 1

    def request(self, pool: Pool | None = None) -> Request:
        """All arguments in one pool; an input's dimensions are given."""
        memory = RequestMemoryPool(pool=(pool or self.pool).memory)
        shape = (self.chosen.elements,)
        inputs = tuple(RequestArgument(False, DataLocation(0, offset, addition.SIZE), shape) for offset in _INPUTS)
        places = (DataLocation(0, _OUTPUT + number * _APART, addition.SIZE) for number in range(self.outputs))
        return Request(inputs, tuple(RequestArgument(False, place, shape) for place in places), (memory,))

    def fill(self, first: Pair, second: Pair, pool: Pool | None = None) -> None:
        """Store the summands, and in the outputs what is no sum."""
        memory = pool or self.pool
        for offset, pair in zip(_INPUTS, (first, second), strict=True):
            memory.write(offset, self.chosen.packed(pair))
        memory.write(_OUTPUT, b"\xa5" * (memory.memory.size - _OUTPUT))

    def another_pool(self) -> Pool:
        """Memory of the same size."""
        return self.context.pool(_size(self.outputs))

    def succeeded(self, execution: Execution, expected: Pair, what: str, pool: Pool | None = None) -> None:
        """See an execution end well: status, shapes, sums."""
        checks.status(execution.status, {ErrorStatus.NONE}, what)
        for shape in execution.output_shapes:
            checks.equal((shape.dimensions, shape.is_sufficient), ((self.chosen.elements,), True), f"shape, {what}")
        what_is_counted = f"number of output shapes, {what}"
        check_shape_count(len(execution.output_shapes), self.outputs, specified=True, what=what_is_counted)
        for number in range(self.outputs):
            data = (pool or self.pool).read(_OUTPUT + number * _APART, addition.SIZE)
            self.chosen.check(data, expected, f"sum {number}, {what}")


def burst_fixture(context: CaseContext, *, outputs: int = 1) -> BurstFixture:
    """Prepare the addition. NotSupported where the device adds nothing."""
    chosen = addition.supported(context)
    model = chosen.model() if outputs == 1 else several(chosen.model(), outputs)
    prepared_model = prepared_or_unsupported(context, model)
    return BurstFixture(context, chosen, prepared_model, context.pool(_size(outputs)), outputs)


def _size(outputs: int) -> int:
    """Bytes of a pool: as many for one output as `addition.POOL`, which the edits of requests are made for."""
    return _OUTPUT + outputs * _APART


def several(model: Model, count: int) -> Model:
    """The same addition `count` times over, each with an output of its own."""
    graph = model.main
    *arguments, total = graph.operands
    used = tuple(replace(one, number_of_consumers=count) for one in arguments)
    indexes = tuple(range(len(used), len(used) + count))
    operations = tuple(Operation(graph.operations[0].type, graph.operations[0].inputs, (index,)) for index in indexes)
    main = replace(graph, operands=(*used, *(total,) * count), operations=operations, output_indexes=indexes)
    return replace(model, main=main)
