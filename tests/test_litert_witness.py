"""LiteRT's reference kernels against the stored vectors: where they disagree, docs/findings.md says who is right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from npu_conformance.specs import vectors
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType

pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed: pip install npu-conformance[litert]")

from npu_conformance.adapters.litert_witness import witness
from npu_conformance.adapters.lowering.operations import LOWERINGS

SEVENTH = 7
"""Every seventh vector is taken: the command `vectors witness` takes all."""

FLOAT16_BOUND = 5 * 2.0**-10
BOUNDS = {
    OperandType.TENSOR_FLOAT32: (1e-5, 5 * 2.0**-23),
    OperandType.TENSOR_FLOAT16: (FLOAT16_BOUND, FLOAT16_BOUND),
    OperandType.TENSOR_QUANT8_ASYMM: (1.0, 0.0),
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: (1.0, 0.0),
}
"""Absolute and relative, of the public rule; other types are exact."""


def assert_close(kind: OperandType, found: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> None:
    absolute, relative = BOUNDS.get(kind, (0.0, 0.0))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), relative, absolute)


@pytest.mark.parametrize("operation", [name for name in vectors.operations() if OperationType[name] in LOWERINGS])
def test_litert_agrees_with_the_stored_vectors(operation: str) -> None:
    compared = 0
    for header in vectors.headers(operation)[::SEVENTH]:
        vector = vectors.load(operation, header.name)
        for example, outputs in zip(vector.examples, witness(vector) or (), strict=False):
            for name in set(vector.outputs) - set(vector.ignored):
                assert_close(vector.operands[name].type, outputs[name], example.outputs[name])
                compared += 1
    assert compared
