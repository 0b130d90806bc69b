"""Hazards: each is looked at by a vector, each name that a vector has exists, and numbers and names say the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npu_conformance.cli.main import main
from npu_conformance.corpus import generators, hazards, vectors
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.documents import DocumentError
from npu_conformance.vts import generated


def test_every_hazard_is_looked_at_by_a_vector_and_every_name_is_one() -> None:
    used = {name for header in vectors.all_headers() for name in header.hazards}
    assert used == set(hazards.hazards())


def test_numbers_and_names_lead_to_each_other() -> None:
    names = list(hazards.hazards())
    numbers = hazards.numbers_of(names, "pad.py", "vector float32")
    assert len(set(numbers)) == len(names)
    assert list(hazards.names_of(numbers, "document")) == names


def test_the_sentence_and_the_source_of_each_hazard_stand_on_their_own() -> None:
    for hazard in hazards.hazards().values():
        assert hazard.sentence.endswith(".")
        assert any(end in hazard.source for end in (".hal", ".cpp", ".h,", ".h;", ".aidl"))


def test_a_number_that_no_hazard_has_is_one_line() -> None:
    with pytest.raises(DocumentError, match=r"^pad\.json: \$\.traps: there is no hazard 99$"):
        hazards.names_of([22, 99], "pad.json")


def test_a_name_that_no_hazard_has_is_not_written_and_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = replace(vectors.load("PAD", "float32_rank1"), hazards=("pad-raw-zer",))
    monkeypatch.setattr(generators, "vectors", lambda operation: [vector])
    assert main(["vectors", "generate", "PAD"]) == 2
    said = "pad.py: vector float32_rank1: there is no hazard 'pad-raw-zer' in corpus/hazards.json"
    assert capsys.readouterr().err == f"npu-conformance: {said} (did you mean pad-raw-zero?)\n"


def test_the_hazards_of_a_header_are_those_of_its_vector() -> None:
    header = next(
        header for header in vectors.headers("PAD") if header.hazards and "TENSOR_QUANT8_ASYMM" in header.types
    )
    assert hazards.hazards_of(header) == {"pad-raw-zero": hazards.hazards()["pad-raw-zero"]}
    assert vectors.load("PAD", header.name).hazards == ("pad-raw-zero",)


def test_a_hazard_of_quantised_types_is_none_of_floats() -> None:
    header = next(header for header in vectors.headers("PAD") if header.hazards and "TENSOR_FLOAT32" in header.types)
    assert "pad-raw-zero" in header.hazards
    assert "pad-raw-zero" not in hazards.hazards_of(header)


def test_a_long_list_says_what_the_hazards_of_a_case_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "vts.generated.PAD.quant8_rank1", "--long"]) == 0
    lines = capsys.readouterr().out.splitlines()
    sentence = hazards.hazards()["pad-raw-zero"].sentence
    assert lines[0].startswith("vts.generated.PAD.quant8_rank1 ")
    assert lines[1] == f"  pad-raw-zero: {sentence}"


def test_scope_smoke_has_no_vector_that_looks_at_a_hazard() -> None:
    looking = {f"vts.generated.PAD.{header.name}" for header in vectors.headers("PAD") if header.hazards}
    smoke = {case.id for case in generated.cases_under("PAD") if case.scope is Scope.SMOKE}
    assert smoke
    assert not smoke & looking
