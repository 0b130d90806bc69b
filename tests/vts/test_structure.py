"""The models of vts.structure break the rule that they are about and no other, and are sound where they say so."""

from __future__ import annotations

import pytest

from npu_conformance.specs.neuralnetworks.types import Memory, Model
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.structure_models import SIZE, Row
from npu_conformance.vts.structure import graphs, operands, subgraphs

ROWS = (*graphs.rows(), *operands.rows(), *subgraphs.rows())
POOL = Memory("ashmem", SIZE, token=7)
ELSEWHERE = {"MODEL.M1"}
"""Rules of validation that vts.validation has cases for."""


def made(row: Row) -> Model:
    return row.model if isinstance(row.model, Model) else row.model(POOL)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}-{row.name}-{row.verb}")
def test_a_model_breaks_its_rule_alone(row: Row) -> None:
    for version in Version:
        if row.since <= version <= row.until:
            found = {violation.clause for violation in validate_model(made(row), version, text_rules=row.text)}
            assert found == (set() if row.sound else {f"MODEL.{row.rule}"}), version


def test_every_rule_that_a_device_enforces_at_once_has_a_broken_model() -> None:
    at_once = {rule.id for rule in structural_rules() if rule.latest == "validation" and rule.id.startswith("MODEL.")}
    assert {f"MODEL.{row.rule}" for row in ROWS if not row.sound and not row.text} == at_once - ELSEWHERE
