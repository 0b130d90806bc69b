"""LiteRT's reference kernels against the stored vectors, and what is on record of them: see docs/findings.md."""

from __future__ import annotations

import pytest

from npu_conformance.adapters.litert_runtime import INSTALL_HINT
from npu_conformance.specs import agreement, vectors, witnesses
from npu_conformance.specs.neuralnetworks.enums import OperationType

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason=INSTALL_HINT)

from npu_conformance.adapters.engine_witness import litert as witness
from npu_conformance.adapters.lowering.operations import LOWERINGS

SEVENTH = 7
"""Every seventh vector is taken: the command `vectors witness --engine litert` takes all."""

EXPLAINED = [
    (operation, name)
    for operation in vectors.operations()
    if "litert" in agreement.records(operation)
    for name in sorted(agreement.records(operation)["litert"].explained)
]


@pytest.mark.parametrize("operation", [name for name in vectors.operations() if OperationType[name] in LOWERINGS])
def test_the_record_says_with_which_vectors_litert_agrees(operation: str) -> None:
    taken = [vectors.load(operation, header.name) for header in vectors.headers(operation) if not header.rejected]
    found = {vector.name: witnesses.testify(vector, "litert", witness) for vector in taken[::SEVENTH]}
    recorded = {name: "litert" in agreement.engines(operation, name) for name in found}
    assert recorded == {name: testimony.agrees for name, testimony in found.items()}, (
        "run `npu-conformance vectors witness --engine litert --record`, then `npu-conformance vectors generate`"
    )
    assert any(recorded.values()), "LiteRT could not be asked for a single one"


@pytest.mark.parametrize(("operation", "name"), EXPLAINED)
def test_what_litert_gets_wrong_is_still_wrong(operation: str, name: str) -> None:
    assert witnesses.testify(vectors.load(operation, name), "litert", witness).disagreements
