"""The relations of vts: all hold for the reference, each has an id of its own, and wrong results break them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy
import pytest

from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.seeds import case_seed
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version
from npu_conformance.vts import relations
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import FLOAT32, SIGNED, UNSIGNED

CASES = list(relations.cases())


@pytest.fixture(scope="module")
def reference() -> Iterator[SubjectHandle]:
    subject = open_subject("reference", {}, "inprocess")
    yield subject
    subject.close()


@pytest.fixture
def fixture(reference: SubjectHandle) -> RelationFixture:
    return RelationFixture(CaseContext(CASES[0], reference), FLOAT32)


def outcomes(subject: SubjectHandle, seed: int) -> Counter[Outcome]:
    found: Counter[Outcome] = Counter()
    for case in (case for case in CASES if case.since <= subject.version):
        context = CaseContext(case, subject, seed=case_seed(seed, case.id))
        try:
            case.run(context)
            found[Outcome.PASS] += 1
        except Exception as error:
            found[classify_exception(error).outcome] += 1
        context.close()
    return found


def test_every_relation_holds_for_the_reference_and_is_applicable(reference: SubjectHandle) -> None:
    assert outcomes(reference, 7) == {Outcome.PASS: len(CASES)}


def test_in_1_0_nothing_is_red() -> None:
    subject = open_subject("reference", {}, "inprocess", version=Version.V1_0)
    found = outcomes(subject, 0)
    subject.close()
    assert found[Outcome.PASS] >= 60
    assert set(found) <= {Outcome.PASS, Outcome.NOT_APPLICABLE}


def test_ids_and_requirements_are_known() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    known = {one.id for one in requirements.all_requirements()}
    for case in CASES:
        assert ids.parse(case.id).area == "relations"
        assert set(case.requirements) <= known
    assert relations.case_from({"id": CASES[-1].id}).id == CASES[-1].id


def test_data_follow_from_the_seed(reference: SubjectHandle) -> None:
    def elements(seed: int) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float32]]:
        return RelationFixture(CaseContext(CASES[0], reference, seed=seed), FLOAT32).tensor(3, 4).array

    assert (elements(1) == elements(1)).all()
    assert (elements(1) != elements(2)).any()


@pytest.mark.parametrize("operand_type", [UNSIGNED, SIGNED])
def test_as_many_steps_as_roundings_may_lie_between(reference: SubjectHandle, operand_type: object) -> None:
    fixture = RelationFixture(CaseContext(CASES[0], reference), operand_type)  # type: ignore[arg-type]
    given = fixture.tensor(5, 7).array // 2
    fixture.agree("moved", (given + 2, given), roundings=2)
    with pytest.raises(Failed, match="moved: 35 of 35 elements differ by more than 2"):
        fixture.agree("moved", (given + 3, given), roundings=2)


def test_shapes_have_to_agree(fixture: RelationFixture) -> None:
    array = fixture.tensor(5, 7).array
    with pytest.raises(Failed, match="shapes"):
        fixture.agree("turned", (array, array.T), roundings=2)
