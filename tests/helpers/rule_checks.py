"""What is checked of the rules of every operation: each edit of a sound call breaks the clause that it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace
from operation_calls import Broken, Call, Given, view

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version


@dataclass(frozen=True)
class Edits:
    """Makes edits of sound calls, which are there by operation."""

    sound: Mapping[str, Call]

    def broken(self, clause: str, changes: Call, sound: Call | None = None, version: Version = Version.FL8) -> Broken:
        """An edit of a sound call, of the operation's own by default, that breaks a clause."""
        return Broken(clause, changes, self.sound[clause.partition(".")[0]] if sound is None else sound, version)

    def rows(self, *numbers: str, **changes: Given) -> list[Broken]:
        """The same edit for clauses of several operations."""
        return [self.broken(number, changes) for number in numbers]


def broken_by(operation: str, version: Version, call: Call) -> list[str]:
    """The clauses that a call breaks; each says so under the name of the operation."""
    violations = check_operation(view(operation, version, call))
    assert all(violation.message.startswith(f"{operation}: ") for violation in violations)
    return [violation.clause for violation in violations]


def broken_without_and_with(case: Broken) -> tuple[list[str], list[str]]:
    """The clauses that the sound call breaks, and those that the changed one does."""
    return broken_by(case.operation, case.version, case.sound), broken_by(case.operation, case.version, case.call)


def broken_while_unknown(case: Broken) -> list[str]:
    """The clauses that the changed call breaks without values and shapes."""
    call = {key: Given(replace(given.operand, dimensions=())) for key, given in case.call.items()}
    return broken_by(case.operation, case.version, call)


def seen_while_unknown(case: Broken) -> list[str]:
    """What is to be seen then: the clause that the case is about, unless it is one about values or shapes."""
    (clause,) = [clause for clause in rules.clauses(case.operation) if clause.id == case.clause]
    return [case.clause] if clause.phase == "model" else []
