"""What a case that sees no value is evidence for: what it saw, and never a result."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations.allowed import header_of
from npu_conformance.corpus.vectors import Vector
from npu_conformance.faults.kill_matrix import run_cases
from npu_conformance.harness.run.evidence import shown
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.vts.lib.vector_cases import case_of

RESULTS = ("NNHAL-OPERATION-WHILE-RESULT", "NNHAL-CONTROLFLOW-017", "NNHAL-ACCURACY-001", "NNHAL-ACCURACY-008")


def _run(vector: Vector) -> CaseResult:
    """The verdict of the reference."""
    case = case_of(header_of(vector), lambda: vector, "vts.external.aosp.loop", None)
    assert set(RESULTS[:2]) <= set(case.requirements)
    found: list[CaseResult] = []

    def look(result: CaseResult) -> bool:
        found.append(result)
        return True

    subject = open_subject("reference", isolation="inprocess")
    try:
        run_cases(subject, [case], look)
    finally:
        subject.close()
    return found[0]


@pytest.mark.parametrize("name", ["unknown_size"])
def test_a_loop_that_must_be_rejected_shows_nothing_of_results(name: str) -> None:
    open_loop = replace(vectors.load("WHILE", name), rejected=None)
    said = shown(_run(open_loop))
    assert said["NNHAL-CONTROLFLOW-010"] == "pass"
    assert not said.keys() & set(RESULTS)
