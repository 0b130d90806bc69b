"""The stored vectors: in step with their plans, legal where they say so, agreeing with oracles, one for each clause."""

from __future__ import annotations

import subprocess
import sys

import pytest

from npu_conformance.specs import plans, vector_writing, vectors, witnesses
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.plans import unreached
from npu_conformance.specs.vectors import Example, Vector
from npu_conformance.specs.versions import NEWEST, Version

OPERATIONS = vectors.operations()


def stored(operation: str, *, rejected: bool) -> list[Vector]:
    headers = (header for header in vectors.headers(operation) if (header.rejected is not None) == rejected)
    return [vectors.load(operation, header.name) for header in headers]


def violations(model: Model, vector: Vector, example: Example, version: Version) -> set[str]:
    """What structure breaks; only where it is sound, what the operations break."""
    found = {violation.clause for violation in validate_model(model, version)}
    if found:
        return found
    values = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    values.update(example.inputs)
    for operation, wire in zip(vector.operations, model.main.operations, strict=True):
        known = {position: values[name] for position, name in enumerate(operation.inputs) if name in values}
        shapes = {position: array.shape for position, array in known.items()}
        inputs = [model.main.operands[index] for index in wire.inputs]
        outputs = [model.main.operands[index] for index in wire.outputs]
        view = OperationView(wire, version, inputs, outputs, shapes=shapes, values=known)
        found.update(violation.clause for violation in rules.check(view))
    return found


def test_every_plan_has_its_file_and_no_file_is_without_a_plan() -> None:
    assert plans.names() == OPERATIONS


@pytest.mark.parametrize("operation", plans.names())
def test_files_are_in_step_with_the_plans(operation: str) -> None:
    wanted = vector_writing.text(operation, plans.vectors(operation))
    assert vectors.path_of(operation).read_text() == wanted, "run `npu-conformance vectors generate`"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_expected_values_are_what_the_oracles_find(operation: str) -> None:
    assert [str(found) for vector in stored(operation, rejected=False) for found in witnesses.witness(vector)] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_vectors_are_legal_from_the_version_they_state(operation: str) -> None:
    for vector in stored(operation, rejected=False):
        for version in (vector.since, NEWEST):
            model = build_model(vector, version).model
            assert violations(model, vector, vector.examples[0], version) == set(), (vector.name, version)
        assert minimal_version(build_model(vector, vector.since).model) == vector.since, vector.name


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rejected_vectors_break_their_clause_and_no_other(operation: str) -> None:
    for vector in stored(operation, rejected=True):
        assert vector.rejected is not None
        for version in (vector.since, vector.rejected.until):
            model = build_model(vector, version).model
            found = violations(model, vector, vector.examples[0], version)
            assert found == {vector.rejected.clause}, (vector.name, version)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_clause_has_a_rejection_or_a_written_reason(operation: str) -> None:
    broken = {header.rejected.clause for header in vectors.headers(operation) if header.rejected}
    for clause in rules.clauses(operation):
        assert (clause.id in broken) != bool(unreached.reason(clause)), clause.id


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_expected_output_is_the_same_everywhere(operation: str) -> None:
    """Such a vector could not tell a right element from a wrong one in its place."""
    for vector in stored(operation, rejected=False):
        for example in vector.examples:
            for name, array in example.outputs.items():
                assert array.size <= 2 or name in vector.ignored or array.min() != array.max(), vector.name


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in vectors.FOLDER.iterdir()) < 4_000_000


def test_listing_needs_no_numpy() -> None:
    code = (
        "import sys\n"
        "from npu_conformance.specs import variations, vectors\n"
        "assert any(variations.applicable(header) for header in vectors.all_headers())\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_oracle_disagreement_is_one_clear_line() -> None:
    vector = vectors.load("ADD", "float32_all_bits")

    def off(vector: Vector, example: Example) -> dict[str, vectors.Array]:
        return {name: array + 1 for name, array in example.outputs.items()}

    (found,) = witnesses.witness(vector, {"litert": off})
    assert str(found).startswith("ADD.float32_all_bits: output: litert: expected ")
    assert "at [0, 0]" in str(found)


def test_engines_within_the_public_tolerance_agree() -> None:
    vector = vectors.load("ADD", "quant8_scales_far_apart")

    def beside(vector: Vector, example: Example) -> dict[str, vectors.Array]:
        return {name: array - (array > 0) for name, array in example.outputs.items()}

    assert witnesses.witness(vector, {"litert": beside}) == []
    assert witnesses.witness(vector, {"oracle": beside}) != []
