"""What the comparison of float32 results notices: float16 inside, drift of 1e-4, lost signs of zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from float32_vectors import Listener, in_float32
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.quality import ZERO_SIGN_FIXED
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType

Array = npt.NDArray[Any]

DRIFT = np.float32(1 + 1e-4)


def findings(vector: Vector, change: Callable[[Array], Array]) -> list[str]:
    """What judging says of the vector's expected outputs, those in float32 changed: warnings, or the failure."""
    found = []
    for example in vector.examples:
        outputs = {
            name: change(value) if vector.operands[name].type is OperandType.TENSOR_FLOAT32 else value
            for name, value in example.outputs.items()
        }
        listener = Listener()
        try:
            judge(cast(CaseContext, listener), vector, example, outputs)
        except Failed as failure:
            found.append(str(failure))
        found += listener.warnings
    return found


def has_float32(operation: str) -> bool:
    """True where an operation has such a vector, by its header: to load vectors takes seconds of each collection."""
    return any(
        any(operand.role == "output" and operand.type == "TENSOR_FLOAT32" for operand in header.operands.values())
        for header in vectors.headers(operation)
        if not header.rejected and not header.relaxed and len(header.operations) == 1
    )


OPERATIONS = [operation for operation in vectors.operations() if has_float32(operation)]


def through_half(values: Array) -> Array:
    """Float32 that came through float16."""
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)


def test_an_operand_that_is_used_twice_changes_no_judgement() -> None:
    vector = vectors.load("BATCH_MATMUL", "float32_rank2_wide_a_b")
    (operation,) = vector.operations
    twice = replace(operation, inputs=(*operation.inputs[:3], operation.inputs[2]))
    operands = {name: operand for name, operand in vector.operands.items() if name != operation.inputs[3]}
    shared = replace(vector, operations=(twice,), operands=operands)
    for change in (np.positive, through_half):
        assert findings(shared, change) == findings(vector, change)


def drifted(values: Array) -> Array:
    """A factor of 1 + 1e-4."""
    with np.errstate(over="ignore"):
        return np.asarray(values * DRIFT)


def without_zero_signs(values: Array) -> Array:
    """Zeros of the wrong sign; ABS has none that is negative, so that there it is one that was not taken away."""
    return np.where(values == 0, -values, values)


def test_there_are_operations() -> None:
    assert {"CONV_2D", "LSTM", "ROI_ALIGN", "RESHAPE"} < set(OPERATIONS)
    assert set(OPERATIONS) >= ZERO_SIGN_FIXED


@pytest.mark.parametrize("operation", OPERATIONS)
def test_float16_inside_is_noticed(operation: str) -> None:
    assert any(findings(vector, through_half) for vector in in_float32(operation))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_drift_is_noticed(operation: str) -> None:
    assert any(findings(vector, drifted) for vector in in_float32(operation))


@pytest.mark.parametrize("operation", sorted(ZERO_SIGN_FIXED))
def test_zeros_of_the_wrong_sign_are_noticed(operation: str) -> None:
    assert any(findings(vector, without_zero_signs) for vector in in_float32(operation))


@pytest.mark.parametrize("operation", sorted(ZERO_SIGN_FIXED - {"ABS"}))
def test_lost_signs_of_zeros_are_noticed(operation: str) -> None:
    # ABS has no zero whose sign could be lost.
    assert any(findings(vector, lambda values: values + np.float32(0)) for vector in in_float32(operation))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_expected_gives_no_warning(operation: str) -> None:
    said = {vector.name: findings(vector, lambda values: values) for vector in in_float32(operation)}
    assert {name: lines for name, lines in said.items() if lines} == {}
