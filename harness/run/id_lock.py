"""Lists the ids that exist now, with which the append-only specs/ids.lock is compared."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.corpus.zoo import added
from npu_conformance.harness.run.cases import Case
from npu_conformance.specs import requirements
from npu_conformance.specs.neuralnetworks import rules, validate


def current_ids(cases: Iterable[Case]) -> list[str]:
    """Return the ids of requirements, of structural rules, of the operations' clauses, and of cases.

    Those of models that the user has added are the user's own.
    """
    own = {entry.name for entry in added.entries()}
    found = [entry.id for entry in requirements.all_requirements()]
    found += [rule.id for rule in validate.structural_rules()]
    found += [clause.id for operation in rules.operations() for clause in rules.clauses(operation)]
    return found + [case.id for case in cases if own.isdisjoint(case.id.split("."))]
