"""The fuzzer of numbers: wrong ones are found, with the operation, whichever of two implementations is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import forked
import msgspec
import numpy
import pytest
from fuzzing import Finding, finding, first_finding
from msgspec.structs import replace

from npu_conformance.corpus.random_graphs.shrinking import data_of
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.fuzz import differential
from npu_conformance.fuzz.lib import differential_models
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.differential_models import decoded, with_values
from npu_conformance.fuzz.lib.differential_target import DifferentialTarget
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.target import Attacked, failure
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.versions import NEWEST, Version, parse

DRIVERS = "differing_drivers:plugin"


@pytest.fixture
def reference() -> Iterator[SubjectHandle]:
    """The reference, of the newest version."""
    opened = open_subject("reference", {}, "inprocess")
    yield opened
    opened.close()


def _smallest(target: DifferentialTarget, found: Finding) -> Vector:
    vector = decoded(found.minimised(target, 60))
    assert vector is not None
    return vector


@pytest.mark.parametrize(
    ("subject", "kind", "where", "operations", "seed"),
    [
        ("relu1-from-zero", "wrong-result", "RELU1", 1, 14),
        ("broadcasts-first", "wrong-result", "", 1, 10),
        ("in-place", "wrong-result", "between operations", 2, 10),
        ("half-inside", "wrong-result", "between operations", 2, 1),
        ("loses-tail", "wrong-result", "", 2, 1),
        ("wraps", "wrong-result", "", 1, 1),
        ("axis-from-front", "", "", 1, 1),
        ("reads-once", "wrong-result", "", 1, 1),
        ("four-at-most", "wrong-status", "the execution: GENERAL_FAILURE", 5, 1),
    ],
    indirect=["subject"],
)
def test_planted_bugs_are_found_and_made_small(
    subject: SubjectHandle, kind: str, where: str, operations: int, seed: int
) -> None:
    """seed: one of sixteen with which a bug is found early."""
    target = DifferentialTarget(subject)
    found = finding(target, seed=seed, runs=2500)
    assert found.kind.startswith(kind)
    assert found.where.startswith(where)
    assert "AOSP" not in str(found)  # whose tests have no such model
    assert len(_smallest(target, found).operations) <= operations


@pytest.mark.parametrize("subject", ["wraps"], indirect=True)
def test_the_second_implementation_is_judged_too(subject: SubjectHandle, reference: SubjectHandle) -> None:
    """Which of two is wrong the oracles say."""
    found = finding(differential.FUZZER.target(Attacked(reference, "reference", {}, subject)), seed=1, runs=2500)
    assert found.where.endswith(" (differing)")
    assert failure(DifferentialTarget(reference).run, found.data) == ""


@pytest.mark.parametrize(("version", "runs"), [("1.0", 100), ("1.2", 150), ("1.3", 150), ("fl8", 300)])
def test_the_reference_has_no_finding(version: str, runs: int) -> None:
    opened = open_subject("reference", {}, "inprocess", version=parse(version))
    target = DifferentialTarget(opened, one_each=True)
    assert first_finding(target, seed=7, runs=runs, inputs=target.seeds) is None
    opened.close()


@pytest.mark.parametrize(
    "variant",
    ["sums-reversed", "sums-in-chunks", "float64-inside", "rounds-to-zero", "fixed-point", "float32-inside", "tiny"],
)
def test_what_conforms_has_no_finding(variant: str) -> None:
    def attack(subject: SubjectHandle) -> None:
        target = DifferentialTarget(subject, one_each=True)
        assert first_finding(target, seed=0, runs=0, inputs=target.seeds[::2]) is None

    forked.meets(variant, Version.V1_3, attack)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"\xff", b'{"operation":"ADD","vectors":[]}', b'{"operation":"NOTHING","vectors":[{"name":"x"}]}'],
)
def test_what_is_no_vector_is_passed_over(data: bytes, reference: SubjectHandle) -> None:
    target = DifferentialTarget(reference, one_each=True)
    assert target.run(data) == ()
    assert list(target.pieces(data)) == []
    assert decoded(target.mutate(data, Choices.seeded(1), 65535)) is not None


def test_that_an_invalid_model_is_refused_is_no_finding(reference: SubjectHandle) -> None:
    target = DifferentialTarget(reference, one_each=True)
    valid = next(data for data in target.seeds if b'"input1": {"type": "TENSOR_FLOAT16"' in data)
    mixed = valid.replace(b'"input1": {"type": "TENSOR_FLOAT16"', b'"input1": {"type": "TENSOR_FLOAT32"')
    assert target.run(mixed) == ("invalid",)


def test_values_without_limits_are_no_finding(reference: SubjectHandle) -> None:
    target = DifferentialTarget(reference, one_each=True)
    vector = next(found for data in target.seeds if (found := decoded(data)) and found.operation == "EXP")
    large = {name: numpy.full_like(array, 60000.0) for name, array in vector.examples[0].inputs.items()}
    assert with_values(replace(vector, examples=(Example(large, {}),))) is None


def test_mutations_are_vectors(reference: SubjectHandle) -> None:
    target = DifferentialTarget(reference, one_each=True)
    data = target.seeds[0]
    for seed in range(60):
        data = target.mutate(data, Choices.seeded(seed), 65535)
        assert decoded(data) is not None
    assert len(set(target.seeds)) == len(target.seeds)


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_finding_replays(isolation: str) -> None:
    opened = open_subject(DRIVERS, {"bug": "relu1-from-zero"}, isolation)  # type: ignore[arg-type]
    target = DifferentialTarget(opened)
    readable = target.readable(finding(target, seed=14, runs=2500).data)
    case = differential.case_from(msgspec.to_builtins(lines_of(readable)))
    context = CaseContext(case, opened)
    with pytest.raises(CaseEnded, match="RELU1: output"):
        case.run(context)
    assert context.payload is not None
    opened.close()


def test_models_of_many_parts_and_of_large_integers_are_drawn() -> None:
    drawn = [differential_models._drawn(Choices.seeded(seed), NEWEST, "CONCATENATION") for seed in range(60)]
    assert any(vector is not None and len(vector.operations[0].inputs) > 4 for vector in drawn)
    integers = [differential_models._drawn_of_integers(Choices.seeded(seed), NEWEST) for seed in range(30)]
    assert any(
        vector is not None and any((abs(array.astype("int64")) > 1 << 24).any() for array in data_of(vector).values())
        for vector in integers
    )


def test_fresh_models_are_mostly_of_what_the_device_takes() -> None:
    taken = {"MUL": {"TENSOR_FLOAT32"}, "RELU": {"TENSOR_FLOAT32"}}
    made = [differential_models.mutated(b"", Choices.seeded(seed), NEWEST, taken) for seed in range(40)]
    vectors = [vector for data in made if (vector := decoded(data)) is not None]
    of_it = [vector for vector in vectors if {one.type for one in vector.operations} <= taken.keys()]
    assert len(vectors) / 2 < len(of_it) < len(vectors)


def test_what_the_device_takes_is_learned(reference: SubjectHandle) -> None:
    target = DifferentialTarget(reference, one_each=True)
    vector = decoded(target.seeds[0])
    assert vector is not None
    target.run(target.seeds[0])
    assert target._supported.keys() == {one.type for one in vector.operations}
    assert all(kind.startswith("TENSOR_") for kinds in target._supported.values() for kind in kinds)
