"""The requirement catalogues: well formed, complete, and every link leads somewhere."""

from __future__ import annotations

from collections import Counter

import pytest

from npu_conformance.specs import documents, requirements
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue as operation_catalogue
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.requirements import CATALOGUES, Catalogue, CatalogueName, Requirement
from npu_conformance.specs.versions import Version

COUNTS: dict[CatalogueName, int] = {"neuralnetworks": 372, "framework": 204, "mlts": 41, "npu": 158}


@pytest.fixture(scope="module")
def written() -> list[Requirement]:
    return [entry for name in CATALOGUES for entry in requirements.catalogue(name).values()]


@pytest.mark.parametrize("name", CATALOGUES)
def test_each_catalogue_has_its_stated_number_of_requirements_of_its_families(name: CatalogueName) -> None:
    entries = requirements.catalogue(name)
    assert len(entries) == COUNTS[name]
    assert {entry.split("-")[0] for entry in entries} <= set(CATALOGUES[name])


@pytest.mark.parametrize("name", CATALOGUES)
def test_no_id_is_given_twice(name: CatalogueName) -> None:
    document = documents.read(requirements._FOLDER / f"{name}.json", Catalogue)
    repeated = [identifier for identifier, count in Counter(r.id for r in document.requirements).items() if count > 1]
    assert document.catalogue == name
    assert repeated == []


def test_every_link_leads_to_another_requirement_and_back(written: list[Requirement]) -> None:
    for entry in written:
        for link in entry.links:
            assert link.id != entry.id
            back = [other.kind for other in requirements.requirement(link.id).links if other.id == entry.id]
            assert link.kind in back, f"{entry.id} -> {link.id}"


def test_statements_are_sentences_and_numbers_have_no_gaps(written: list[Requirement]) -> None:
    numbers: dict[str, list[int]] = {}
    for entry in written:
        assert entry.statement.endswith("."), entry.id
        assert entry.since <= entry.until, entry.id
        family, _, number = entry.id.rpartition("-")
        numbers.setdefault(family, []).append(int(number))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values()), numbers


def test_statements_are_unique(written: list[Requirement]) -> None:
    repeated = [statement for statement, count in Counter(entry.statement for entry in written).items() if count > 1]
    assert repeated == []


def test_a_freedom_has_a_written_reason_for_having_no_test(written: list[Requirement]) -> None:
    assert [entry.id for entry in written if entry.level == "MAY" and not entry.untested] == []


@pytest.mark.parametrize(
    ("identifier", "level", "since"),
    [
        ("NNHAL-QOS-011", "SHOULD", "1.0"),
        ("NNHAL-QOS-012", "MAY", "1.3"),
        ("NNHAL-QUERY-010", "MUST", "1.0"),
        ("NNHAL-SHAPE-005", "MUST", "1.2"),
        ("NNHAL-SHAPE-006", "SHOULD", "1.2"),
        ("NNHAL-EXTENSION-007", "MUST", "1.2"),
        ("NPU-ACC-007", "MAY", "1.0"),
        ("NPU-POL-026", "MUST", "1.0"),
        ("NPU-POL-030", "MAY", "1.0"),
        ("NNHAL-BURST-020", "SHOULD", "1.2"),
    ],
)
def test_levels_and_versions_are_the_corrected_ones(identifier: str, level: str, since: str) -> None:
    found = requirements.requirement(identifier)
    assert (found.level, found.since) == (level, Version(since))


def test_a_clause_that_no_document_demands_is_a_freedom() -> None:
    """104 on tensors without elements, and 28 more that only Android's own implementation looks at, if any does."""
    clauses = [entry for entry in requirements.all_requirements() if entry.sources[0].startswith("rule ")]
    free = [entry for entry in clauses if entry.level == "MAY"]
    assert len(free) == 132
    assert sum("without elements" in entry.statement or "may be 0" in entry.statement for entry in free) == 104
    assert all(entry.statement.endswith("no document demands it.") for entry in free)
    levels = {"SQUEEZE-C4": "MAY", "CONV_2D-C7": "MUST", "SVDF-C8": "SHOULD"}
    for clause, level in levels.items():
        assert requirements.requirement(f"NNHAL-OPERATION-{clause}").level == level


def test_the_exceptions_of_the_signed_coupling_are_named() -> None:
    statement = requirements.requirement("NNHAL-EXECUTE-017").statement
    for operation in ("CAST", "HASHTABLE_LOOKUP", "LSH_PROJECTION", "PAD_V2", "QUANTIZED_16BIT_LSTM"):
        assert operation in statement


def test_a_requirement_applies_to_its_versions_only() -> None:
    fields = requirements.requirement("NNHAL-QUERY-027")
    assert [version for version in Version if fields.applies(version)] == [Version.V1_0, Version.V1_1]


def test_a_verdict_is_about_requirements_of_its_version() -> None:
    named = ("NNHAL-QUERY-024", "NNHAL-QUERY-022", "NNHAL-QUERY-024", "NPU-HAL-001", "NNHAL-OPERATION-ADD-RESULT")
    assert requirements.applying(named, Version.V1_0) == (named[0], *named[3:])
    assert requirements.applying(named, Version.FL8) == named[1:2] + named[3:]


def test_every_operation_has_a_result_requirement_from_its_first_version() -> None:
    for operation in operation_catalogue.names():
        found = requirements.requirement(requirements.result_requirement(operation))
        assert found.since is operation_catalogue.operation(operation).since


def test_every_clause_of_every_rule_is_a_requirement() -> None:
    for operation in rules.operations():
        for clause in rules.clauses(operation):
            found = requirements.requirement(requirements.clause_requirement(clause.id))
            assert clause.text in found.statement


def test_all_requirements_holds_written_and_generated_ones_once() -> None:
    identifiers = [entry.id for entry in requirements.all_requirements()]
    assert len(identifiers) == len(set(identifiers))
    assert len(identifiers) >= sum(COUNTS.values()) + len(operation_catalogue.names())
    assert all(requirements.requirement(identifier).id == identifier for identifier in identifiers)


def test_patterns_expand_to_ids_and_ids_to_themselves() -> None:
    assert requirements.expand("NNHAL-CONTROLFLOW-01[67]") == ("NNHAL-CONTROLFLOW-016", "NNHAL-CONTROLFLOW-017")
    assert requirements.expand("NPU-LIF-001") == ("NPU-LIF-001",)


@pytest.mark.parametrize("unknown", ["NNHAL-QOS-999", "XX-1", "NNHAL-OPERATION-CONV_2D-C999", "NNHAL-OPERATION-NO-C1"])
def test_an_unknown_id_is_a_lookup_error(unknown: str) -> None:
    with pytest.raises(LookupError, match=r"NNHAL|XX|NO"):
        requirements.expand(unknown)


def test_a_pattern_without_a_match_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="NNHAL-NOTHING"):
        requirements.expand("NNHAL-NOTHING-*")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"level": "OUGHT"}', "Invalid enum value 'OUGHT'"),
        ('{"id": "nnhal-1"}', "matching regex"),
        ('{"sources": []}', "length >= 1"),
        ('{"colour": "red"}', "unknown field `colour`"),
        ('{"since": "1.4"}', "Invalid enum value '1.4'"),
    ],
)
def test_a_malformed_requirement_is_refused_by_rule(text: str, rule: str) -> None:
    with pytest.raises(DocumentError, match=rule):
        documents.decode(text, Requirement, "document")
