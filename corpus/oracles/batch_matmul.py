"""BATCH_MATMUL: the product of the last two axes of two tensors, batch by batch."""

from npu_conformance.corpus.oracles._sums import Finish, centred, total
from npu_conformance.corpus.oracles.base import (
    Inputs,
    OracleOperand,
    Outputs,
    Result,
    Shape,
    flatten,
    indexes,
    present,
    wrapped,
)
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType


def batch_matmul(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors with equal batches, and whether each is transposed; int32 wraps around."""
    first, second, turns_first, turns_second = map(present, inputs)
    rows, inner = _sizes(first, bool(turns_first.scalar))
    _, columns = _sizes(second, bool(turns_second.scalar))
    values, factors = centred(first), centred(second)
    finish = Finish(first, second, outputs[0], FusedActivation.NONE)

    def element(index: Shape) -> int | float:
        *batch, row, column = index
        products = []
        for step in range(inner):
            one = flatten((*batch, *_place(row, step, bool(turns_first.scalar))), first.dimensions)
            other = flatten((*batch, *_place(step, column, bool(turns_second.scalar))), second.dimensions)
            products.append(values[one] * factors[other])
        return wrapped(int(total(products))) if first.type is OperandType.TENSOR_INT32 else finish.store(products, 0)

    shape = (*first.dimensions[:-2], rows, columns)
    return [Result(shape, [element(index) for index in indexes(shape)])]


def _sizes(operand: OracleOperand, turned: bool) -> tuple[int, int]:
    rows, columns = operand.dimensions[-2:]
    return (columns, rows) if turned else (rows, columns)


def _place(row: int, column: int, turned: bool) -> tuple[int, int]:
    return (column, row) if turned else (row, column)
