"""The schema files follow the types, and a bad document is explained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from npu_conformance.specs import documents, schemas
from npu_conformance.specs.manifest import Manifest


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


def _patterns(schema: Any) -> Iterator[str]:
    """Every pattern in a schema."""
    if isinstance(schema, dict):
        yield from [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _patterns(part)


def test_no_pattern_takes_a_line_feed_at_the_end() -> None:
    patterns = {found for text in schemas.generate().values() for found in _patterns(json.loads(text))}
    assert len(patterns) > 5
    assert not [found for found in patterns if not found.endswith(r"$(?!\n)")]


@pytest.mark.parametrize(
    ("field", "value"), [("time_scale", 1e308), ("deadlines", {"call": 1e308}), ("name", "driver\n")]
)
def test_a_manifest_that_would_never_hang_or_ends_in_a_line_feed_is_refused(field: str, value: object) -> None:
    given = {"name": "driver", "vendor": "tests", "version": "1", field: value}
    with pytest.raises(documents.DocumentError, match=rf"\$\.{field}"):
        documents.decode(json.dumps(given), Manifest, "manifest")
