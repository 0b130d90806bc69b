"""Models with IF and WHILE over matrices of float32."""

from __future__ import annotations

from npu_conformance.corpus.vector_types import Graph, VectorOperand
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net, NetBuilder
from npu_conformance.specs.neuralnetworks.enums import OperandType

CONDITION = VectorOperand(OperandType.TENSOR_BOOL8, (1,))
COUNT = VectorOperand(OperandType.TENSOR_INT32, (1,))


def branch(*operations: str) -> Graph:
    """A graph of two matrices: a chain of operations, each on the one before and the second matrix."""
    builder = NetBuilder()
    last, second = builder.input(), builder.input()
    for operation in operations:
        last = builder.binary(operation, last, second)
    return builder.graph(last)


def if_net(then: tuple[str, ...], otherwise: tuple[str, ...], *, before: tuple[str, ...] = ()) -> Net:
    """IF of a condition that is a model input. before: operations that make the first matrix of the branches."""
    builder = NetBuilder((branch(*then), branch(*otherwise)))
    condition, first, second = builder.input(CONDITION), builder.input(), builder.input()
    for operation in before:
        first = builder.binary(operation, first, second)
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    (result,) = builder.builder.apply("IF", (condition, *graphs, first, second), [MATRIX])
    return builder.net(result)


def two_ifs(*graphs: tuple[str, ...]) -> Net:
    """Two IFs, one on the result of the other: graphs 0 and 1 are the branches of the first, 2 and 3 of the second."""
    builder = NetBuilder([branch(*operations) for operations in graphs])
    condition, last, second = builder.input(CONDITION), builder.input(), builder.input()
    for first in (0, 2):
        branches = builder.builder.reference(first), builder.builder.reference(first + 1)
        (last,) = builder.builder.apply("IF", (condition, *branches, last, second), [MATRIX])
    return builder.net(last)


def while_net(body: tuple[str, ...] = ("ADD",)) -> Net:
    """WHILE of a counter below a bound: both are model inputs, and so are two matrices. Output: the first matrix."""
    builder = NetBuilder((_condition(), _body(*body)))
    count, first, bound, second = (builder.input(kind) for kind in (COUNT, MATRIX, COUNT, MATRIX))
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    results = builder.builder.apply("WHILE", (*graphs, count, first, bound, second), [COUNT, MATRIX])
    return builder.net(results[1])


def _condition() -> Graph:
    builder = NetBuilder()
    count, _, bound, _ = (builder.input(kind) for kind in (COUNT, MATRIX, COUNT, MATRIX))
    return builder.graph(builder.apply("LESS", count, bound, result=VectorOperand(OperandType.TENSOR_BOOL8)))


def _body(*operations: str) -> Graph:
    builder = NetBuilder()
    count, first, _, second = (builder.input(kind) for kind in (COUNT, MATRIX, COUNT, MATRIX))
    counted = builder.binary("ADD", count, builder.ints(1))
    for operation in operations:
        first = builder.binary(operation, first, second)
    return builder.graph(counted, first)
