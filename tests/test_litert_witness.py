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

LITERT_IS_WRONG = {
    ("QUANTIZE", "float32_to_quant8_saturation"),
    ("QUANTIZE", "float32_to_quant8_signed_saturation"),
    ("QUANTIZE", "float16_to_quant8_saturation"),
    ("QUANTIZE", "float16_to_quant8_signed_saturation"),
}
"""Infinities do not saturate."""

FLOAT16_BOUND = 5 * 2.0**-10
BOUNDS = {
    OperandType.TENSOR_FLOAT32: (1e-5, 5 * 2.0**-23),
    OperandType.TENSOR_FLOAT16: (FLOAT16_BOUND, FLOAT16_BOUND),
    OperandType.TENSOR_QUANT8_ASYMM: (1.0, 0.0),
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: (1.0, 0.0),
}
"""Absolute and relative, of the public rule; other types are exact."""


def is_close(kind: OperandType, found: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> bool:
    absolute, relative = BOUNDS.get(kind, (0.0, 0.0))
    values = found.astype(np.float64), expected.astype(np.float64)
    return found.shape == expected.shape and np.allclose(*values, relative, absolute, equal_nan=True)


def disagreements(operation: str, name: str) -> list[str] | None:
    """Outputs of a vector that LiteRT computes otherwise; null where it can not be asked."""
    vector = vectors.load(operation, name)
    found = witness(vector)
    if found is None:
        return None
    return [
        output
        for example, outputs in zip(vector.examples, found, strict=True)
        for output in set(vector.outputs) - set(vector.ignored)
        if not is_close(vector.operands[output].type, outputs[output], example.outputs[output])
    ]


@pytest.mark.parametrize("operation", [name for name in vectors.operations() if OperationType[name] in LOWERINGS])
def test_litert_agrees_with_the_stored_vectors(operation: str) -> None:
    names = [header.name for header in vectors.headers(operation) if not header.rejected][::SEVENTH]
    found = {name: disagreements(operation, name) for name in names if (operation, name) not in LITERT_IS_WRONG}
    assert [] in found.values(), "LiteRT could not be asked for a single one"
    assert not {name: outputs for name, outputs in found.items() if outputs}


@pytest.mark.parametrize(("operation", "name"), sorted(LITERT_IS_WRONG))
def test_what_litert_gets_wrong_is_still_wrong(operation: str, name: str) -> None:
    assert disagreements(operation, name)
