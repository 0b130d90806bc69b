"""LiteRT's reference kernels against the stored vectors: where they disagree, docs/findings.md says who is right."""

from __future__ import annotations

import pytest

from npu_conformance.adapters.litert_runtime import INSTALL_HINT
from npu_conformance.specs import vectors, witnesses
from npu_conformance.specs.neuralnetworks.enums import OperationType

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason=INSTALL_HINT)

from npu_conformance.adapters.litert_witness import witness
from npu_conformance.adapters.lowering.operations import LOWERINGS

SEVENTH = 7
"""Every seventh vector is taken: the command `vectors witness` takes all."""

LITERT_IS_WRONG = {
    ("QUANTIZE", "float32_to_quant8_infinities"),
    ("QUANTIZE", "float32_to_quant8_signed_infinities"),
    ("QUANTIZE", "float16_to_quant8_infinities"),
    ("QUANTIZE", "float16_to_quant8_signed_infinities"),
}
"""Infinities do not saturate."""

ENGINES = {"litert": witness}


@pytest.mark.parametrize("operation", [name for name in vectors.operations() if OperationType[name] in LOWERINGS])
def test_litert_agrees_with_the_stored_vectors(operation: str) -> None:
    names = [header.name for header in vectors.headers(operation) if not header.rejected][::SEVENTH]
    taken = [vectors.load(operation, name) for name in names if (operation, name) not in LITERT_IS_WRONG]
    assert any(witness(vector, vector.examples[0]) for vector in taken), "LiteRT could not be asked for a single one"
    assert [str(found) for vector in taken for found in witnesses.witness(vector, ENGINES)] == []


@pytest.mark.parametrize(("operation", "name"), sorted(LITERT_IS_WRONG))
def test_what_litert_gets_wrong_is_still_wrong(operation: str, name: str) -> None:
    assert witnesses.witness(vectors.load(operation, name), ENGINES)
