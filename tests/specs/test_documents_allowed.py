"""What is allowed stands behind what is wrong: values of enumerations, names of fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.harness.run import events
from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.documents.vectors import VectorFile
from npu_conformance.specs.documents.waivers import WaiverFile
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import OperationType

MANIFEST = '{"name": "mine", "vendor": "me", "version": "1", %s}'
VECTOR = '{"operation": "ADD", "vectors": [{"name": "a", "since": "1", "inputs": [], "outputs": [], "operands": {%s}}]}'
WAIVER = '{"format": 1, "waivers": [{%s}]}'


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (Manifest, MANIFEST % '"restart": "nevr"', "$.restart: Invalid enum value 'nevr'; expected one of fork, spawn"),
        (
            Manifest,
            MANIFEST % '"interfaces": ["device", "managr"]',
            "$.interfaces[1]: Invalid enum value 'managr'; expected one of device, manager, manager_control, runtime, "
            "runtime_control, scheduling, scheduling_control, workload (did you mean manager?)",
        ),
        (
            Manifest,
            MANIFEST % '"hal_version": "1.4"',
            "$.hal_version: Invalid enum value '1.4'; expected one of 1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7, fl8",
        ),
        (
            Manifest,
            MANIFEST % '"claims": [{"operatons": ["ADD"]}]',
            "$.claims[0]: Object contains unknown field `operatons` (did you mean operations?)",
        ),
        (Manifest, MANIFEST % '"x": 1', "$: Object contains unknown field `x`"),
        (
            Manifest,
            MANIFEST.replace("mine", "My NPU") % '"restart": "fork"',
            "$.name: expected small letters and digits, and after the first of them also _ . and -",
        ),
        (
            VectorFile,
            VECTOR % '"a": {"type": "FLOAT32", "value": [1]}, "slope": {"type": "FLOAT32", "value": 0.25}',
            "$.vectors[0].operands.slope.value: Expected `object | array | null`, got `float`; a single value is a "
            "list, too: [1]",
        ),
        (
            VectorFile,
            VECTOR % '"a": {"type": "FLOAT32"}, "slope": {"type": 1}' + "and so on",
            "$.vectors[0].operands[...].type: Expected `str`, got `int`",
        ),
        (WaiverFile, '{"format": 2}', "$.format: written in format 2; this version reads format 1"),
        (
            WaiverFile,
            WAIVER % '"reqirement": "X"',
            "$.waivers[0]: Object contains unknown field `reqirement` (did you mean requirement?)",
        ),
        (
            WaiverFile,
            WAIVER % '"tolerance": {"atoll": 1}',
            "$.waivers[0].tolerance: Object contains unknown field `atoll` (did you mean atol or rtol?)",
        ),
        (
            WaiverFile,
            WAIVER % '"expires": "31.3.2027"',
            "$.waivers[0].expires: Invalid RFC3339 encoded date; expected YYYY-MM-DD",
        ),
        (dict[str, OperationType], '{"a": 4711}', "$.a: Invalid enum value 4711"),
        (
            tuple[int, Manifest],
            '[1, {"vendr": ""}]',
            "$[1]: Object contains unknown field `vendr` (did you mean vendor?)",
        ),
    ],
)
def test_what_is_allowed_is_told(kind: Any, text: str, told: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.decode(text, kind, "file")
    assert str(caught.value) == f"file: {told}"


@pytest.mark.parametrize("name", ["y" * 10**6, "a`b", "\\n", ""])
def test_a_name_of_any_kind_is_one_short_line(name: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.decode(MANIFEST % f'"{name}": 1', Manifest, "file")
    assert len(str(caught.value)) < 800
    assert str(caught.value).isprintable()


def test_a_file_of_another_kind_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text('"Not a document."')
    with pytest.raises(DocumentError, match=r"driver\.py: expected a JSON object"):
        documents.read(tmp_path / "driver.py", WaiverFile)
    with pytest.raises(DocumentError, match=r"driver\.py: expected gzipped JSON lines"):
        list(jsonl_vectors.Collection(tmp_path / "driver.py").headers())


def test_no_name_is_looked_for_where_the_bytes_behind_are_no_text() -> None:
    """The first mistake is told, whatever else is wrong."""
    data = (VECTOR % '"slope": {"type": 1}, "b').encode().replace(b'"b}', b'"b\xed": {}}')
    with pytest.raises(DocumentError, match=r"operands\[\.\.\.\]\.type: Expected `str`, got `int`"):
        documents.decode(data, VectorFile, "mine")


OLD = '{"format": 0, "suite_version": "0.0.9", "more": 1}'


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (Results, OLD, "$.format: written by version 0.0.9 of the suite in format 0; this version reads format 1"),
        (FailureFile, '{"format": 1, "waivers": []}', "is no failure file: it has none of case, "),
        (Results, '{"format": 1, "waivers": []}', "is no results document: it has none of "),
        (
            WaiverFile,
            '{"format": 1, "waiver": []}',
            "$: Object contains unknown field `waiver` (did you mean waivers?)",
        ),
    ],
)
def test_documents_of_another_kind_or_format_say_so(kind: Any, text: str, told: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.decode(text, kind, "it")
    assert str(caught.value).startswith(f"it: {told}")


def test_an_event_file_of_another_format_says_so(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(OLD.replace("{", '{"event": "run-started", ', 1) + "\n")
    with pytest.raises(
        DocumentError, match=r"format: written by version 0\.0\.9 of the suite in format 0; this version"
    ):
        events.read_log(path)
