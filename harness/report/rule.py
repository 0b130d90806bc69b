"""The rule behind a red verdict: the sentence of the requirement that broke, and where a reader can look it up.

Requirements are read only here, when something has failed.
"""

from __future__ import annotations

import msgspec

from npu_conformance.harness.judge.outcome_table import decisive
from npu_conformance.specs import requirements
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.requirements import Requirement

_CATALOGUE, _OPERATION = "operation catalogue", "operation"
_TABLES = "specs/neuralnetworks/operations"
_RULES = "specs/neuralnetworks/rules"
_FILES = (".hal", ".aidl", ".cpp", ".h", ".java", ".py", ".rs", ".md", ".proto", ".txt", ".bp")


class Rule(msgspec.Struct, frozen=True):
    """A requirement in words."""

    statement: str
    source: str


def broken_rule(result: CaseResult) -> Rule | None:
    """The rule that a verdict is about; None where it names no requirement that is known here."""
    names = concerned(result)
    if not names:
        return None
    try:
        requirement = requirements.requirement(names[0])
    except LookupError:  # of an extension whose catalogue is not in use, or of another version of the suite
        return None
    return Rule(requirement.statement, where(requirement))


def concerned(result: CaseResult) -> tuple[str, ...]:
    """The requirements of the first part that explains the outcome, each once; the one that broke stands first."""
    parts = [] if result.message else decisive(result)
    names = next((result.requirements_of(part) for part in parts), result.requirements)
    return tuple(dict.fromkeys(names))


def where(requirement: Requirement) -> str:
    """The documents that a requirement is from, and the topic in each, in words for people."""
    cited = ", ".join(_cited(source, requirement.id) for source in requirement.sources)
    return cited if requirement.area == _OPERATION else f"{cited} (on {requirement.area.replace('-', ' ')})"


def _cited(source: str, requirement: str) -> str:
    if source == _CATALOGUE:
        return _in_catalogue(requirement.removeprefix("NNHAL-OPERATION-").removesuffix("-RESULT"), _TABLES, ".json")
    if source.startswith("rule "):
        operation, _, clause = source.removeprefix("rule ").partition(".")
        return _in_catalogue(operation, _RULES, ".py", f", clause {clause}")
    if source.startswith("page: "):
        return f'the public page "{source.removeprefix("page: ")}"'
    return f"AOSP {source}" if source.endswith(_FILES) and " " not in source else source


def _in_catalogue(operation: str, folder: str, ending: str, clause: str = "") -> str:
    """An operation's part of the catalogue, and the text of AOSP that it was taken from."""
    from npu_conformance.specs.neuralnetworks import catalogue

    if catalogue.is_registered(operation):
        return f"catalogue of its extension, {operation}{clause}"
    path = f"{folder}/{operation.lower()}{ending}"
    return f"{_CATALOGUE}, {operation}{clause} ({path}); AOSP OperationType.aidl, {operation}"
