"""The table of what the stored vectors cover: it is true, and it has no holes."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT

from npu_conformance.cli.main import main
from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import coverage

DOCUMENT = ROOT / "docs" / "operations.md"


@pytest.mark.parametrize("operation", vectors.operations())
def test_every_combination_of_types_is_reached(operation: str) -> None:
    found = coverage.cells(operation)
    assert found
    assert not [cell.types for cell in found if cell.stored + cell.varied == 0]


def test_cells_count_vectors_variations_and_witnesses() -> None:
    by_types = {cell.types: cell for cell in coverage.cells("MUL")}
    headers = [header for header in vectors.headers("MUL") if header.rejected is None]
    assert sum(cell.stored for cell in by_types.values()) == len(headers)
    assert by_types["quant8 signed"].varied == by_types["quant8"].stored
    assert by_types["int32"].witnesses["oracle"] == by_types["int32"].stored
    assert coverage.rejected("MUL") == len(vectors.headers("MUL")) - len(headers)


def test_the_document_is_in_step_with_what_the_command_writes(tmp_path: Path) -> None:
    assert main(["vectors", "table", "--write", str(tmp_path / "table.md")]) == 0
    assert DOCUMENT.read_text() == (tmp_path / "table.md").read_text(), "vectors table --write docs/operations.md"
