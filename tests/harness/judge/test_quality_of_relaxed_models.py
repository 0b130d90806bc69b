"""What the comparison of a relaxed model's results leaves to half floats (NNHAL-MODEL-059), and what it notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from float32_vectors import Listener, in_float32
from msgspec.structs import replace

from npu_conformance.corpus import oracles, variations
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.run.context import CaseContext

Array = npt.NDArray[Any]

COPIES = ["RESHAPE", "GATHER", "MAXIMUM", "ABS"]
OPERATIONS = [*COPIES, "RELU6", "FLOOR", "ADD", "SUB", "MUL", "LOG", "POW", "CONV_2D"]


def relaxed(operation: str) -> list[Vector]:
    """The relaxed twins of an operation's vectors."""
    twins = (variations.apply("relaxed", vector) for vector in in_float32(operation))
    return [twin for twin in twins if twin is not None]


def half(array: Array) -> Array:
    """Numbers of float32, rounded to half floats; others as they are."""
    return array.astype(np.float16).astype(np.float32) if array.dtype == np.float32 else array


def bfloat16(array: Array) -> Array:
    """The 16 upper bits of float32: three bits of precision less than a half float has."""
    if array.dtype != np.float32:
        return array
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def halved(vector: Vector, example: Example) -> dict[str, Array]:
    """The results of an execution in which every tensor of float32 holds half floats."""
    operands = {
        name: operand if operand.value is None else replace(operand, value=half(operand.value))
        for name, operand in vector.operands.items()
    }
    given = {name: half(array) for name, array in example.inputs.items()}
    found = oracles.evaluate(replace(vector.main, operands=operands), given, vector.referenced)
    return {name: half(array) for name, array in found.items()}


def coarse(_: Vector, example: Example) -> dict[str, Array]:
    """The results, with less precision than half floats have."""
    return {name: bfloat16(array) for name, array in example.outputs.items()}


def warnings(operation: str, computed: Callable[[Vector, Example], dict[str, Array]]) -> list[str]:
    """What is said of an operation's relaxed models that are computed so."""
    listener = Listener()
    with np.errstate(all="ignore"):
        for vector in relaxed(operation):
            for example in vector.examples:
                judge(cast(CaseContext, listener), vector, example, computed(vector, example))
    return listener.warnings


@pytest.mark.parametrize("operation", OPERATIONS)
def test_half_floats_inside_are_left_alone(operation: str) -> None:
    assert warnings(operation, halved) == []


@pytest.mark.parametrize("operation", COPIES)
def test_less_than_half_floats_is_noticed(operation: str) -> None:
    assert warnings(operation, coarse)
