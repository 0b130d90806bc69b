"""Slices of a tensor along one axis: what normalisations along an axis, ARGMAX and ARGMIN go through."""

from collections.abc import Callable, Iterator, Sequence

from npu_conformance.corpus.oracles.base import (
    Inputs,
    OracleOperand,
    Real,
    Result,
    Shape,
    flatten,
    indexes,
    present,
    stored,
)


def rows(shape: Shape, axis: int) -> Iterator[list[int]]:
    """The flat indexes of each slice along an axis (which may count from the end), in row-major order of slices."""
    axis %= len(shape)
    for first in indexes((*shape[:axis], 1, *shape[axis + 1 :])):
        yield [flatten((*first[:axis], i, *first[axis + 1 :]), shape) for i in range(shape[axis])]


def each_row(
    source: OracleOperand, axis: int, output: OracleOperand, function: Callable[[list[Real]], Sequence[Real]]
) -> list[Result]:
    """The one result of an operation that makes a new row of each row along an axis."""
    values: list[int | float] = [0] * len(source.raw)
    for row in rows(source.dimensions, axis):
        for flat, value in zip(row, function([source.reals[flat] for flat in row]), strict=True):
            values[flat] = stored(value, output)
    return [Result(source.dimensions, values)]


def indexes_of(choose: Callable[[list[Real]], Real], inputs: Inputs) -> list[Result]:
    """The one result of ARGMAX and ARGMIN: where in each row the chosen value is first."""
    source, axis = present(inputs[0]), int(present(inputs[1]).scalar)
    shape = source.dimensions
    axis %= len(shape)
    found = []
    for row in rows(shape, axis):
        values = [source.reals[flat] for flat in row]
        found.append(values.index(choose(values)))
    return [Result((*shape[:axis], *shape[axis + 1 :]) or (1,), found)]
