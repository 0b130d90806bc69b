"""The schema files follow the types, and a bad document is explained."""

from __future__ import annotations

from npu_conformance.specs import schemas


def test_schema_files_are_in_step_with_the_types() -> None:
    assert schemas.stale() == [], "run: npu-conformance schemas --write"


def test_a_bad_document_is_explained_with_paths() -> None:
    lines = schemas.explain({"name": "x", "vendor": "", "version": 1, "extra": 2}, "manifest")
    assert any(line.startswith("$.vendor: ") for line in lines)
    assert any(line.startswith("$.version: ") for line in lines)
    assert any("extra" in line for line in lines)


def test_a_valid_document_has_nothing_to_explain() -> None:
    assert schemas.explain({"name": "x", "vendor": "y", "version": "1"}, "manifest") == []


def test_schemas_tell_when_a_field_appeared() -> None:
    assert '"x-since": "1.3"' in schemas.generate()["neuralnetworks.model.schema.json"]
