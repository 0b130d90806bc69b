"""Random histories of operations: their models are valid, every step happens, and failures are cut down."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts import operation_histories
from npu_conformance.vts.lib.operation_histories import known_models
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.known_models import MOST_BYTES, of_operation
from npu_conformance.vts.lib.operation_histories.steps import STEPS

CASES = {case.id: case for case in operation_histories.cases()}


@pytest.fixture(scope="module")
def subject() -> Iterator[SubjectHandle]:
    opened = open_subject("reference", isolation="inprocess", version=NEWEST)
    yield opened
    opened.close()


def test_every_operation_whose_output_can_be_expected_has_histories() -> None:
    compared = {*vectors.operations()} - {"RANDOM_MULTINOMIAL"}
    assert {one.split(".")[2] for one in CASES} == {*compared, "operations", "extensions"}


def test_every_step_is_drawn() -> None:
    assert set(operation_histories._KINDS) == set(STEPS)


@pytest.mark.parametrize("operation", ["ADD", "CONV_2D", "LSTM", "SPLIT", "WHILE"])
def test_models_are_valid_and_small(operation: str) -> None:
    found = list(of_operation(operation, NEWEST, "3"))
    assert len(found) > 2
    for known in found:
        assert max(one.size for one in known.examples) <= MOST_BYTES
        for layout in known.layouts:
            model = known.build(lambda data: Memory("ashmem", len(data), 1), layout)
            assert not validate_model(model, NEWEST), (known, layout)


def test_vectors_that_are_not_drawn_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults name cases that see them by their draws: these must not hang on how many vectors there are."""
    drawn = [str(known) for known in of_operation("ADD", NEWEST, "3")]
    stored = known_models._stored

    def fewer(operation: str, version: Version) -> Iterator[vectors.Vector]:
        return (
            one for one in stored(operation, version) if one.examples[1:] or any(one.name in told for told in drawn)
        )

    assert len(list(fewer("ADD", NEWEST))) < len(list(stored("ADD", NEWEST))) / 2
    monkeypatch.setattr(known_models, "_stored", fewer)
    assert [str(known) for known in of_operation("ADD", NEWEST, "3")] == drawn


def test_histories_are_dealt_every_kind_of_model() -> None:
    known = list(of_operation("LSTM", NEWEST, "3"))
    families = {one.family for one in known}
    for first, turns in ((0, 1), (1, 2), (2, 2)):  # two turns of all kinds hold a whole one, wherever they begin
        numbers = range(first, first + math.ceil(turns * len(families) / operation_histories._FAMILIES))
        dealt = [operation_histories._of_some_families(known, 5, number) for number in numbers]
        assert {one.family for some in dealt for one in some} == families
        assert all(len({one.family for one in some}) <= operation_histories._FAMILIES for some in dealt)
    assert operation_histories._of_some_families(known, 5, (1 << 32) - 1)  # what an earlier draw's failure file has


@pytest.mark.parametrize("name", ["SPLIT", "RNN", "IF", "operations", "extensions"])
@pytest.mark.parametrize("version", [Version.V1_2, Version.V1_3, Version.FL8], ids=lambda version: version.value)
def test_a_seed_that_nobody_has_tried_is_green(name: str, version: Version) -> None:
    case = CASES[f"vts.operation_histories.{name}.mixed"]
    if case.since > version:
        pytest.skip("the operation is newer")
    isolation: Isolation = (
        "process" if name == "extensions" else "inprocess"
    )  # a process has the extensions of one side
    with (
        closing(open_subject("reference", isolation=isolation, version=version)) as opened,
        closing(CaseContext(case, opened, seed=77, scope=Scope.SMOKE)) as context,
    ):
        case.run(context)
        assert context.is_flawless


def test_what_happens_in_histories(subject: SubjectHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a step can do is done: a history in which nothing is drawn would be green for ever."""
    said: list[str] = []
    monkeypatch.setattr(History, "say", lambda self, text: said.append(text))
    case = CASES["vts.operation_histories.SPLIT.mixed"]
    for seed in range(3):
        with closing(CaseContext(case, subject, seed=seed, scope=Scope.DEFAULT)) as context:
            case.run(context)
    told = "\n".join(said)
    for what in (
        "and save it", "restore model", "burst execution of", "release", "bind model", "run the reusable execution",
        "run the reusable_fenced", "executeFenced with", "executeFencedWithConfig", "with 2 fences", "reusable execute",
        "allocate buffer", "read buffer", "too little room", "a wrong request", "let go of model", "let go of buffer",
    ):  # fmt: skip
        assert what in told, what
    assert re.search(r"from .*buffer \d+.* to ", told)
    assert re.search(r" to .*buffer \d+", told)
