"""The fuzzer of documents: planted bugs of readers are found and made small, and the suite's own readers have none."""

from __future__ import annotations

import itertools
import random
import runpy
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from places import HOSTILE

from npu_conformance.fuzz import documents
from npu_conformance.fuzz.lib import document_limits
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.document_edits import decoded, encoded
from npu_conformance.fuzz.lib.document_readers import READERS, Reader
from npu_conformance.fuzz.lib.document_target import DocumentTarget
from npu_conformance.fuzz.lib.engines import evolution
from npu_conformance.fuzz.lib.findings import Defect, kind_of, where_of
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.json_edits import places
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, failure, minimised
from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.outcomes import Outcome

MODULE = "document_readers_with_bugs"
PLANTED = runpy.run_path(str(HOSTILE / f"{MODULE}.py"), run_name=MODULE)
BUGS, RARE = PLANTED["BUGS"], PLANTED["RARE"]
"""See there."""
NEAR = {"nested": 31}
"""Seeds of the search by which a bug is found soon; 3 for the others."""


def reader(name: str) -> Reader:
    return next(one for one in READERS if one.name == name)


class Stop(Exception):
    """Ends a search at its first finding."""


def first_finding(target: DocumentTarget, seed: int) -> bytes:
    """The first input that fails."""
    found: list[bytes] = []

    def attack(data: bytes) -> frozenset[int]:
        try:
            return frozenset(zlib.crc32(feature.encode()) for feature in target.run(data))
        except Exception:
            found.append(data)
            raise Stop from None

    with pytest.raises(Stop):
        evolution.search(target, attack, seed=seed, runs=6000)
    return found[0]


def edited_seed(target: DocumentTarget, before: bytes, after: bytes) -> bytes:
    """A seed with one change."""
    return next(seed.replace(before, after) for seed in target.seeds if before in seed)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_found_and_made_small(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_limits, "MOST_STEPS", 20_000)
    monkeypatch.setattr(document_limits, "MOST_MEMORY", 32 << 20)
    name, read, where = BUGS[bug]
    target = DocumentTarget([replace(reader(name), read=read)])
    data = edited_seed(target, *RARE[bug]) if bug in RARE else first_finding(target, NEAR.get(bug, 3))
    signature = failure(target.run, data)
    smallest = minimised(data, target.pieces, lambda piece: failure(target.run, piece), 60)
    with pytest.raises(Defect) as found:
        target.run(smallest)
    assert kind_of(found.value) == "harness-defect"
    assert where.split(" ")[0] in where_of(found.value)
    assert where.split(" ")[-1] in where_of(found.value)
    assert failure(target.run, smallest) == signature
    assert len(smallest) <= len(data)


def test_memory_is_measured_of_large_inputs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    target = DocumentTarget([replace(reader("budget"), read=_makes_room)])
    target.run(b"budget\n300")
    with mock.patch.object(tracemalloc, "start", wraps=tracemalloc.start) as measuring:
        for size, count in ((1, 0), (300, 1), (1, 1), (300, 2)):
            target.run(b"budget\n%d" % size)
            assert measuring.call_count == count


def _makes_room(path: Path) -> None:
    """A document says how many MiB are needed."""
    bytes(int(path.read_bytes()) << 20)


@pytest.mark.parametrize("one", READERS, ids=lambda one: one.name)
def test_what_the_suite_writes_it_reads(one: Reader) -> None:
    target = DocumentTarget([one])
    assert target.seeds
    for seed in target.seeds:
        assert f"{one.name}: read" in target.run(seed)


def test_the_readers_have_no_finding() -> None:
    target, source = DocumentTarget(), random.Random(11)
    for _ in range(1500):
        data = target.seeds[source.randrange(len(target.seeds))]
        for _ in range(1 + source.randrange(3)):
            data = target.mutate(data, Choices(source.randbytes(SIZE)), LARGEST_INPUT)
        assert failure(target.run, data) == ""


def with_a_huge_number(document: bytes) -> Iterator[bytes]:
    """The document with a number in the place of each of its numbers that no float holds, or none of 32 bits."""
    lines = document.split(b"\n")
    for at, line in enumerate(lines):
        told = decoded(line)
        for place in places(told) if told is not None else ():
            if type(place.value) in (int, float):
                before = place.value
                place.put("@")
                text = encoded(told) or b""
                place.put(before)
                for number in (b"1" + b"0" * 400, b"1e308", b"-1e308"):
                    yield b"\n".join([*lines[:at], text.replace(b'"@"', number), *lines[at + 1 :]])


@pytest.mark.parametrize("one", [one for one in READERS if not one.is_binary], ids=lambda one: one.name)
def test_numbers_may_be_of_any_size(one: Reader) -> None:
    target = DocumentTarget([one])
    for document in itertools.chain.from_iterable(map(with_a_huge_number, one.seeds())):
        assert failure(target.run, one.name.encode() + b"\n" + document) == ""


@pytest.mark.parametrize(
    "data", [b"", b"\xff\n", b"nobody\n{}", b"tflite\n!", b"extension\n[", b'extension\n{"../x":1}']
)
def test_what_is_no_input_is_passed_over(data: bytes) -> None:
    target = DocumentTarget()
    assert len(target.run(data)) <= 2
    list(target.pieces(data))
    assert isinstance(target.mutate(data, Choices.seeded(1), 100), bytes)


def test_inputs_follow_from_the_seed() -> None:
    target = DocumentTarget()
    for seed in target.seeds:
        assert target.mutate(seed, Choices.seeded(5), 60000) == target.mutate(seed, Choices.seeded(5), 60000)


def test_a_mistake_of_the_suite_is_no_failure_of_an_implementation() -> None:
    assert classify_exception(Defect("it raises KeyError", "a place")).outcome is Outcome.SUITE_ERROR


def test_an_input_of_a_failure_file_is_read_again() -> None:
    subject = open_subject("reference", {}, "inprocess")
    case = documents.case_from(msgspec.to_builtins(lines_of(b'waivers\n{"format":1}')))
    context = CaseContext(case, subject)
    case.run(context)
    assert context.payload is not None
    context.close()
    subject.close()
