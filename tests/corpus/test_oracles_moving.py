"""Oracles of operations that move blocks, rows and slices, against worked examples and their inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from npu_conformance.corpus import oracles
from npu_conformance.corpus.oracles.base import OracleOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType

FLOATS, WHOLE = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_INT32


def run(name: str, *inputs: Any, outputs: int = 1) -> list[list[Any]]:
    """Results of an oracle, in their shapes. inputs: arrays; lists and numbers are integers."""
    operands = [operand(given) for given in inputs]
    results = oracles.oracle(name)(operands, [OracleOperand(FLOATS)] * outputs)
    found: list[list[Any]] = [numpy.reshape(result.raw, result.dimensions).tolist() for result in results]
    return found


def operand(given: Any) -> OracleOperand:
    if isinstance(given, numpy.ndarray):
        return OracleOperand(FLOATS, given.shape, array=given)
    array = numpy.array(given, numpy.int32)
    return OracleOperand(WHOLE, array.shape, array=array)


def counted(*dimensions: int) -> NDArray[Any]:
    """Floats 0, 1, 2 and so on."""
    return numpy.arange(numpy.prod(dimensions), dtype=numpy.float32).reshape(dimensions)


def test_the_channels_of_a_pixel_become_a_block_row_by_row() -> None:
    assert run("DEPTH_TO_SPACE", counted(1, 1, 1, 8), 2) == [[[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]]
    assert run("DEPTH_TO_SPACE", counted(1, 8, 1, 1), 2, True) == [[[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]]


def test_the_batches_become_a_block_row_by_row() -> None:
    assert run("BATCH_TO_SPACE_ND", counted(4, 1, 1, 1), [2, 2]) == [[[[[0], [1]], [[2], [3]]]]]
    assert run("BATCH_TO_SPACE_ND", counted(4, 1, 1, 1), [1, 2]) == [[[[[0], [2]]], [[[1], [3]]]]]


@pytest.mark.parametrize("nchw", [False, True])
def test_blocks_go_there_and_back(nchw: bool) -> None:
    image = counted(2, 4, 6, 4) if nchw else counted(2, 6, 4, 4)
    (deep,) = run("SPACE_TO_DEPTH", image, 2, nchw)
    (back,) = run("DEPTH_TO_SPACE", numpy.array(deep), 2, nchw)
    assert back == image.tolist()
    (many,) = run("SPACE_TO_BATCH_ND", image, [3, 2] if not nchw else [2, 2], [[0, 0], [0, 0]], nchw)
    (back,) = run("BATCH_TO_SPACE_ND", numpy.array(many), [3, 2] if not nchw else [2, 2], nchw)
    assert back == image.tolist()


def test_padding_of_batches_is_real_zero() -> None:
    source = OracleOperand(OperandType.TENSOR_QUANT8_ASYMM, (1, 1, 1, 1), 0.5, 9, array=numpy.full((1, 1, 1, 1), 7))
    arguments = [operand([1, 2]), operand([[0, 0], [1, 0]])]
    (result,) = oracles.oracle("SPACE_TO_BATCH_ND")([source, *arguments], [OracleOperand(source.type)])
    assert (result.dimensions, list(result.raw)) == ((2, 1, 1, 1), [9, 7])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(0, [2, 1, 0, 1, 2, 1, 0]), (1, [1, 0, 0, 1, 2, 2, 1])],
)
def test_mirrors_repeat_the_border_or_not(mode: int, expected: Sequence[float]) -> None:
    assert run("MIRROR_PAD", counted(3), [[2, 2]], mode) == [expected]


def test_slices_are_chosen_repeated_turned_round_and_stacked() -> None:
    assert run("GATHER", counted(2, 3), -1, [[2], [0]]) == [[[[2], [0]], [[5], [3]]]]
    assert run("EMBEDDING_LOOKUP", [1, 1, 0], counted(2, 2)) == [[[2, 3], [2, 3], [0, 1]]]
    assert run("TILE", counted(2, 1), [1, 3]) == [[[0, 0, 0], [1, 1, 1]]]
    assert run("REVERSE", counted(2, 2), [0]) == [[[2, 3], [0, 1]]]
    assert run("PACK", 1, counted(2), counted(2) + 10) == [[[0, 10], [1, 11]]]
    assert run("EXPAND_DIMS", counted(2), -1) == [[[0], [1]]]
    assert run("CHANNEL_SHUFFLE", counted(6), 2, 0) == [[0, 3, 1, 4, 2, 5]]


def test_a_key_that_is_not_there_gives_zeros() -> None:
    rows, hits = run("HASHTABLE_LOOKUP", [5, 4, 2], [2, 5], counted(2, 2) + 1, outputs=2)
    assert rows == [[3, 4], [0, 0], [1, 2]]
    assert hits == [1, 0, 1]
