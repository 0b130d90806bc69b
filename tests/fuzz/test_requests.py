"""The fuzzer of requests: planted bugs are found within some thousand inputs, and shown by the edits that matter."""

from __future__ import annotations

import struct

import msgspec
import pytest
from fuzzing import finding, first_finding, refuses

from npu_conformance.fuzz import requests
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.inputs import indented, lines_of
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors
from npu_conformance.fuzz.lib.request_edits import draft_of, moving
from npu_conformance.fuzz.lib.request_target import RequestInput, RequestTarget
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks.types import Memory, Request, RequestMemoryPool
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.versions import NEWEST, Version

DRIVERS = "requested_drivers:plugin"
_OF_ANOTHER = 1
"""The choice of the edits of another input."""


@pytest.mark.parametrize(
    ("subject", "kind", "where"),
    [
        ("accepts", "invalid-accepted", "REQUEST."),
        ("refuses", "valid-refused", ""),
        ("misplaces", "wrong-result", ""),
        ("touches", "wrong-result", "memory"),
        ("raises", "wrong-status", "the execution: raised IndexError"),
    ],
    indirect=["subject"],
)
def test_planted_bugs_are_found_and_made_small(subject: SubjectHandle, kind: str, where: str) -> None:
    target = RequestTarget(subject)
    found = finding(target, seed=2, runs=6000)
    assert found.kind == kind
    assert found.where.startswith(where)
    smallest = found.minimised(target)
    assert len(msgspec.json.decode(smallest, type=RequestInput).edits) <= 3  # to move an argument takes three


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_3, NEWEST])
def test_the_reference_has_no_finding(version: Version) -> None:
    subject = open_subject("reference", {}, "inprocess", version=version)
    target = RequestTarget(subject)
    assert first_finding(target, seed=1, runs=800) is None
    subject.close()


def test_an_argument_moves_to_where_nothing_else_is() -> None:
    """The request stays valid, and the places are of every kind: another pool, a pool of its own, an odd offset."""
    subject = open_subject("reference", {}, "inprocess", version=NEWEST)
    vectors = PreparedVectors(subject, ("ADD",))
    found, places = vectors.get(vectors.names[0]), set()
    assert found is not None
    for seed in range(100):
        draft, choices = draft_of(found, NEWEST), Choices.seeded(seed)
        for edit in [*moving(draft, choices)]:
            draft.apply(edit)
        for edit in [*moving(draft, choices)]:
            draft.apply(edit)
        arguments = draft.arguments()
        assert arguments is not None
        pools = tuple(
            RequestMemoryPool(pool=Memory("ashmem", size, 1 + place)) for place, size in enumerate(draft.pools)
        )
        assert validate_request(Request(*arguments, pools), found.model, NEWEST) == []
        places |= {(place.location.pool_index, place.location.offset % 4 != 0) for place in arguments[0]}
    subject.close()
    assert {(0, True), (1, True), (2, False), (3, True)} <= places


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\xff", b'{"vector":"NOTHING/here","edits":[]}', b'{"vector":7,"edits":[]}']
)
def test_what_is_no_input_is_passed_over(data: bytes) -> None:
    subject = open_subject("reference", {}, "inprocess")
    assert len(tuple(RequestTarget(subject).run(data))) <= 1
    subject.close()


def test_edits_without_a_place_or_of_another_type_do_nothing() -> None:
    subject = open_subject("reference", {}, "inprocess")
    target = RequestTarget(subject)
    vector = msgspec.json.decode(target.seeds[0], type=RequestInput).vector

    def seen(*edits: list[object]) -> tuple[str, ...]:
        return target.run(msgspec.json.encode({"vector": vector, "edits": edits}))

    for edit in (["inputs", 99, "offset", 1], ["inputs", 0, "colour", 1], ["x", 0, "y", {}]):
        assert seen(edit) == seen()
    assert seen(["inputs", 0, "offset", "x"]) == ("no request",)
    subject.close()


def test_an_input_stays_readable_within_any_size() -> None:
    subject = open_subject("reference", {}, "inprocess")
    target = RequestTarget(subject)
    start = msgspec.json.encode(RequestInput("ADD/float32_none_row", [("inputs", 0, "dimensions", [1] * 9)] * 3))
    for seed in range(40):
        made = target.mutate(start, Choices.seeded(seed), 150)
        assert len(made) <= 150
        assert len(msgspec.json.decode(made, type=RequestInput).edits) <= 2
    subject.close()


@pytest.mark.parametrize("other", [b"", b"{", b"5"])
def test_where_other_inputs_have_no_edits_one_is_made(other: bytes) -> None:
    subject = open_subject("reference", {}, "inprocess")
    target = RequestTarget(subject)
    first = target.seeds[0]
    target.seeds = [other or first]
    made = target.mutate(first, Choices(struct.pack("<H", _OF_ANOTHER)), 1 << 16)
    assert len(msgspec.json.decode(made, type=RequestInput).edits) == 1
    subject.close()


def test_an_input_of_a_failure_file_is_run_again() -> None:
    subject = open_subject("reference", {}, "inprocess")
    payload = msgspec.to_builtins(lines_of(b'{"vector":"ADD/nothing","edits":[]}'))
    case = requests.case_from(payload)
    context = CaseContext(case, subject)
    case.run(context)
    assert context.payload is not None
    subject.close()


def test_a_device_that_prepares_nothing_has_nothing_to_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceDevice, "prepare_model", refuses)
    target = RequestTarget(open_subject("reference", {}, "inprocess"))
    with pytest.raises(NotApplicable, match="the device prepares none of the models that were tried"):
        target.run(target.seeds[0])


def test_json_that_is_nested_too_deeply_is_shown_as_it_is() -> None:
    deep = b"[" * 100_000
    assert indented(deep) == deep
    assert indented(b"[1]") == b"[\n 1\n]"
