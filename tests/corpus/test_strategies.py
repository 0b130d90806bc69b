"""Drawn models: of every operation in every type and version, valid, executed alike by reference and oracles."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import hypothesis
import msgspec
import pytest
from hypothesis import find, given, settings
from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.strategies import Form
from npu_conformance.corpus.strategies.calls import Arguments, Call, Item, Unfit
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.seeds import stable_hash
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.operation_view import view_of
from npu_conformance.specs.neuralnetworks.types import Memory, RequestMemoryPool
from npu_conformance.specs.neuralnetworks.validate import check_operation, validate_model, validate_request
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts.lib.vector_cases import case_of

DRAWS = 3
"""Models of each form in each version."""

MOST_REJECTED = 0.01
"""Share of decisions that may lead to no model."""

WITHOUT_RECIPE = {
    "BOX_WITH_NMS_LIMIT",
    "DETECTION_POSTPROCESSING",
    "GENERATE_PROPOSALS",
    "RANDOM_MULTINOMIAL",
}
"""How many boxes are left follows from values, so that a model declares no shape; samples have no expected value."""

VERSIONS = pytest.mark.parametrize("version", Version, ids=str)
OPERATIONS = pytest.mark.parametrize("operation", strategies.operations())


class Dice:
    """Decisions of a seed, without Hypothesis."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


@pytest.fixture(scope="module")
def reference() -> Iterator[SubjectHandle]:
    subject = open_subject("reference", {}, "inprocess")
    yield subject
    subject.close()


def drawn(version: Version, draws: int = DRAWS) -> tuple[list[Vector], int, set[str]]:
    """Vectors of every form in a version, how many draws led to none, and the forms that are there."""
    found, unfit, seen = [], 0, set()
    for form in strategies.forms(version):
        for number in range(draws):
            try:
                found.append(strategies.draw(form, version, Dice(stable_hash(f"{form} {version} {number}"))))
                seen.add(str(form))
            except Unfit:
                unfit += 1
    return found, unfit, seen


def check_valid(vector: Vector, version: Version) -> None:
    model = build_model(vector, version).model
    assert not validate_model(model, version, text_rules=True)
    assert not check_operation(view_of(model, 0, version))
    built = build_request(vector, vector.examples[0], version)
    sizes = (len(built.input_data) or 1, built.output_size)
    pools = [RequestMemoryPool(pool=Memory("ashmem", size, number + 1)) for number, size in enumerate(sizes)]
    assert not validate_request(built.request(*pools), model, version)


@VERSIONS
def test_every_form_of_every_version_is_drawn_and_valid(version: Version) -> None:
    found, unfit, seen = drawn(version)
    assert seen == {str(form) for form in strategies.forms(version)}
    assert unfit <= MOST_REJECTED * len(found)
    for vector in found:
        check_valid(vector, version)


def test_operations_with_rules_have_recipes() -> None:
    assert set(strategies.operations()) == set(rules.operations()) - WITHOUT_RECIPE
    assert not WITHOUT_RECIPE.intersection(strategies.operations())


def test_forms_are_those_of_the_catalogue() -> None:
    counts = {
        name: sum(len(one.combinations(NEWEST)) for one in catalogue.operation(name).signatures)
        for name in strategies.operations()
    }
    assert len(strategies.forms()) == sum(counts.values())
    assert len(strategies.forms(Version.V1_0, "CONV_2D")) == 4
    assert strategies.forms(Version.V1_0, "BATCH_MATMUL") == []


def passes(subject: SubjectHandle, vector: Vector) -> int:
    """In how many configurations a drawn vector gives what the oracles say. Raises where it does not in one."""
    example = Example(vector.examples[0].inputs, strategies.expected(vector))
    ignored = ("scratch_buffer",) if vector.operation == "LSTM" else ()
    names = vector.outputs[: len(ignored)]
    whole = replace(vector, examples=(example,), witnesses=("oracle",), ignored=tuple(names))
    case = case_of(allowed.header_of(whole), lambda: whole, f"vts.generated.{vector.operation}.drawn", None)
    context = CaseContext(case, subject)
    try:
        case.run(context)
        for record in context.configurations.values():
            assert record.details.outcome.value in ("pass", "not-applicable"), f"{record.name}: {record.details}"
    finally:
        context.close()
    return sum(record.details.outcome is Outcome.PASS for record in context.configurations.values())


@OPERATIONS
def test_reference_and_oracles_agree(reference: SubjectHandle, operation: str) -> None:
    for form in strategies.forms(NEWEST, operation):
        assert passes(reference, strategies.draw(form, NEWEST, Dice(stable_hash(str(form)))))


@settings(max_examples=60)
@given(strategies.vectors())
def test_hypothesis_draws_any_operation(vector: Vector) -> None:
    check_valid(vector, NEWEST)


def drawn_by_hypothesis(seed: int) -> list[bytes]:
    made: list[bytes] = []

    @hypothesis.seed(seed)
    @settings(max_examples=5, phases=[hypothesis.Phase.generate])
    @given(strategies.vectors("CONV_2D"))
    def collect(vector: Vector) -> None:
        built = build_request(vector, vector.examples[0], NEWEST)
        made.append(msgspec.json.encode(build_model(vector, NEWEST).model) + built.input_data)

    collect()
    return made


def test_a_seed_repeats_what_is_drawn() -> None:
    assert drawn_by_hypothesis(5) == drawn_by_hypothesis(5)
    assert drawn_by_hypothesis(5) != drawn_by_hypothesis(6)


def test_structure_shrinks() -> None:
    def is_wide(vector: Vector) -> bool:
        return vector.operands["input"].dimensions[-1] >= 3

    form = strategies.forms(NEWEST, "RELU")[0]
    smallest = find(strategies.vectors(form=form), is_wide)
    assert smallest.operands["input"].dimensions == (3,)


def test_versions_and_operations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(LookupError, match=r"HAL 1\.0 has no BATCH_MATMUL"):
        strategies.vectors("BATCH_MATMUL", Version.V1_0)


def test_what_breaks_a_clause_is_unfit(monkeypatch: pytest.MonkeyPatch) -> None:
    form: Form = strategies.forms(NEWEST, "TOPK_V2")[0]
    recipes = strategies.recipes()

    def too_many(call: Call) -> Arguments:
        from npu_conformance.corpus.generators.operands import int32

        return {"input": call.tensor("input", (2,)), "k": int32(3)}

    monkeypatch.setattr(strategies, "recipes", lambda: {**recipes, "TOPK_V2": too_many})
    with pytest.raises(Unfit, match=r"TOPK_V2\.C1"):
        strategies.draw(form, NEWEST, Dice(0))


def test_a_fuzzers_bytes_are_decisions_too() -> None:
    source = random.Random(3)
    for form in strategies.forms(NEWEST):
        check_valid(strategies.draw(form, NEWEST, Choices(source.randbytes(SIZE))), NEWEST)
