"""Requests to add two tensors, each over pools of its own, and what has to come out."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
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

_POOL, _PLACES = 256, (0, 64)
"""Bytes of each pool, and where its arguments begin: also as AIDL likes them."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A request, its pools, and the sum that it asks for."""

    chosen: Addition
    inputs: Pool
    outputs: Pool
    request: Request
    expected: Pair

    def put(self, second: Pair) -> Sum:
        """Write other values of the second summand into the same memory; returns what is to be expected then."""
        self.inputs.write(_PLACES[1], self.chosen.packed(second))
        self.clear()
        return Sum(self.chosen, self.inputs, self.outputs, self.request, addition.plus(addition.A, second))

    def clear(self) -> None:
        """Fill the output pool, so that nothing of an earlier execution is left."""
        self.outputs.write(0, bytes([FILL]) * _POOL)

    def result(self, output: int = 0) -> bytes:
        """The bytes of an output."""
        return bytes(self.outputs.read(_PLACES[output], addition.SIZE))

    def check(self, execution: Execution, what: str) -> None:
        """Fail unless the execution succeeded and the sum is in its place."""
        checks.status(execution.status, {ErrorStatus.NONE}, what)
        self.chosen.check(self.result(), self.expected, f"{what}, sum")

    def with_output(self, number: int = 0, **location: int) -> Request:
        """The request with another location of an output."""
        outputs = list(self.request.outputs)
        outputs[number] = replace(outputs[number], location=replace(outputs[number].location, **location))
        return replace(self.request, outputs=tuple(outputs))


def sum_of(context: CaseContext, chosen: Addition, second: Pair = addition.B, *, outputs: int = 1) -> Sum:
    """A request over new pools. outputs: how many the model has, as of `twice`."""
    input_pool, output_pool = context.pool(_POOL), context.pool(_POOL)
    inputs, results = (
        tuple(RequestArgument(location=DataLocation(pool, place, addition.SIZE)) for place in _PLACES[:count])
        for pool, count in ((0, 2), (1, outputs))
    )
    pools = tuple(RequestMemoryPool(pool=pool.memory) for pool in (input_pool, output_pool))
    made = Sum(chosen, input_pool, output_pool, Request(inputs, results, pools), addition.plus(addition.A, second))
    input_pool.write(_PLACES[0], chosen.packed(addition.A))
    return made.put(second)


def twice(model: Model) -> Model:
    """The addition with a second output: the summands are added again, the other way round."""
    main = model.main
    operands = [
        replace(operand, number_of_consumers=2 * operand.number_of_consumers) if index < 3 else operand
        for index, operand in enumerate((*main.operands, main.operands[3]))
    ]
    again = Operation(OperationType.ADD, (1, 0, 2), (4,))
    operations = (*main.operations, again)
    return replace(model, main=replace(main, operands=tuple(operands), operations=operations, output_indexes=(3, 4)))


def with_dimensions(model: Model, dimensions: tuple[int, ...], *, inputs: bool = False) -> Model:
    """The model with these dimensions of its outputs, and of its inputs where they are meant, too."""
    main = model.main
    meant = {*main.output_indexes, *(main.input_indexes if inputs else ())}
    operands = tuple(
        replace(operand, dimensions=dimensions) if index in meant else operand
        for index, operand in enumerate(main.operands)
    )
    return replace(model, main=replace(main, operands=operands))


def of_size(asked: Sum, elements: int) -> Request:
    """The request for the first elements only, of which it gives the number."""
    length = addition.SIZE // asked.chosen.elements * elements
    inputs, outputs = (
        tuple(
            replace(argument, dimensions=(elements,), location=replace(argument.location, length=length))
            for argument in arguments
        )
        for arguments in (asked.request.inputs, asked.request.outputs)
    )
    return replace(asked.request, inputs=inputs, outputs=outputs)


def has_size(asked: Sum, execution: Execution, elements: int) -> None:
    """See an execution of the request of `of_size` succeed, and write nothing behind its output."""
    checks.status(execution.status, {ErrorStatus.NONE}, f"execution with tensors of size {elements}")
    for shape in execution.output_shapes:
        with checks.about("NNHAL-SHAPE-002"):
            checks.equal(shape.dimensions, (elements,), "dimensions of the output")
    size = addition.SIZE // asked.chosen.elements * elements
    found, whole = asked.result(), asked.chosen.packed(asked.expected)
    asked.chosen.check(found[:size] + whole[size:], asked.expected, f"sum of size {elements}")
    checks.equal(found[size:], bytes([FILL]) * (addition.SIZE - size), "bytes behind the output")
