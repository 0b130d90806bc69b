"""The fuzzer of compilation caches: what trusts files too much is found and made small; what conforms has none."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import forked
import msgspec
import pytest
from fuzzing import finding, first_finding
from nnapi_libraries import NEEDED, TINY, compiled, opened

from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.fuzz.lib import cache_target
from npu_conformance.fuzz.lib.cache_ledger import Contents, Ledger, edited
from npu_conformance.fuzz.lib.cache_models import CachedModels
from npu_conformance.fuzz.lib.cache_steps import EDITS, TOKENS
from npu_conformance.fuzz.lib.cache_target import CacheTarget
from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.leaks import LeakWatch
from npu_conformance.fuzz.lib.request_judge import Prepared
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.versions import NEWEST, Version, parse

DRIVERS = "cache_drivers:plugin"


@pytest.mark.parametrize(
    ("subject", "kinds", "where", "steps"),
    [
        ("no-seal", {"invalid-accepted", "wrong-status"}, "", 3),
        ("seal-of-head", {"invalid-accepted", "wrong-status"}, "", 3),
        ("forgets-token", {"invalid-accepted"}, "NNHAL-CACHE-015", 2),
        ("half-of-token", {"invalid-accepted"}, "NNHAL-CACHE-015", 2),
        ("ignores-tail", {"invalid-accepted"}, "NNHAL-CACHE-015", 3),
        ("reads-twice", {"wrong-result"}, "NNHAL-CACHE-021", 3),
        ("never-truncates", {"valid-refused"}, "NNHAL-CACHE-010", 5),
        ("follows-position", {"valid-refused"}, "NNHAL-CACHE-010", 3),
        ("counts-loosely", {"invalid-accepted", "wrong-status"}, "", 2),
        ("fails-to-prepare", {"valid-refused"}, "NNHAL-CACHE-001", 1),
        ("trusts-data", {"wrong-status"}, "", 3),
        ("remembers", {"wrong-result"}, "NNHAL-CACHE-010", 3),
        ("binds-no-saving", {"wrong-result", "wrong-status", "invalid-accepted"}, "", 4),
        ("notifies-twice", {"wrong-status"}, "", 2),
        ("gives-nothing", {"wrong-status"}, "", 3),
    ],
    indirect=["subject"],
)
def test_planted_bugs_are_found_and_made_small(subject: SubjectHandle, kinds: set[str], where: str, steps: int) -> None:
    target = CacheTarget(subject)
    found = finding(target, seed=3, runs=3000)
    assert found.kind in kinds
    assert found.where.startswith(where)
    smallest = found.minimised(target, 120)
    assert len(msgspec.json.decode(smallest)) <= steps


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SubjectHandle]:
    with opened(compiled(TINY, tmp_path / "libtiny.so")) as subject:
        yield subject


@NEEDED[0]
@NEEDED[1]
def test_where_nobody_can_ask_for_files_there_is_nothing_to_attack(library: SubjectHandle) -> None:
    with pytest.raises(NotApplicable, match="cache files are between a runtime and its drivers"):
        CacheTarget(library)


@pytest.mark.parametrize("subject", ["holds-refused"], indirect=True)
def test_descriptors_that_remain_are_a_leak(subject: SubjectHandle) -> None:
    target = CacheTarget(subject)
    watch = LeakWatch(subject.process)
    data = b'[{"do":"save","model":"sum/one"},{"do":"damage"},{"do":"restore"}]'
    leak = watch.leak(target.run, data)
    assert isinstance(leak, Found)
    assert (leak.kind, leak.where) == ("leak", "descriptors")


class _Circle:
    """Holds a descriptor until the collector finds it, since it holds itself."""

    def __init__(self) -> None:
        self.itself = self
        self.descriptor = os.open(os.devnull, os.O_RDONLY)

    def __del__(self) -> None:
        os.close(self.descriptor)


def test_old_garbage_is_no_leak() -> None:
    def run(_: bytes) -> None:
        circle = _Circle()
        gc.collect(1)  # whatever outlives this is in the oldest generation
        del circle

    assert LeakWatch(os.getpid).leak(run, b"") is None


@pytest.mark.parametrize(("version", "runs"), [("1.2", 100), ("1.3", 100), ("fl5", 100), ("fl8", 150)])
def test_the_reference_has_no_finding(version: str, runs: int) -> None:
    opened = open_subject("reference", {}, "inprocess", version=parse(version))
    target = CacheTarget(opened)
    assert first_finding(target, seed=7, runs=runs, inputs=target.seeds) is None
    opened.close()


@pytest.mark.parametrize(
    ("fault", "version"),
    [
        ("one-cache-file", NEWEST),
        ("five-cache-files", NEWEST),
        ("never-caches", NEWEST),
        ("caches-some", NEWEST),
        ("cache-of-a-process", NEWEST),
        ("cache-of-an-app", NEWEST),
        ("cache-other-statuses", NEWEST),
        ("cache-of-wrong-values", NEWEST),
    ],
)
def test_what_conforms_has_no_finding(fault: str, version: Version) -> None:
    def attack(subject: SubjectHandle) -> None:
        target = CacheTarget(subject)
        assert first_finding(target, seed=3, runs=20, inputs=target.seeds[::3]) is None

    forked.meets(fault, version, attack)


@pytest.mark.parametrize(
    ("fault", "version"), [("no-caching", NEWEST), ("no-caching-1.3", Version.V1_3), ("no-caching-at-all", NEWEST)]
)
def test_a_device_that_wants_no_cache_files_has_nothing_to_attack(fault: str, version: Version) -> None:
    def attack(subject: SubjectHandle) -> None:
        with pytest.raises(NotApplicable, match=r"the device caches no compilation: .* says 0 and 0"):
            CacheTarget(subject)

    forked.meets(fault, version, attack)


def test_what_is_written_behind_the_notification_is_waited_for() -> None:
    opened = open_subject(PLUGIN, {"fault": "saves-later"}, "inprocess")
    target = CacheTarget(opened)
    for data in target.seeds[:2]:
        assert any(seen.startswith("Restore 0 NNHAL-CACHE-010") for seen in target.run(data))
    opened.close()


def test_files_that_never_rest_are_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_target, "_LONGEST_SECONDS", 0.1)
    opened = open_subject("reference", {}, "inprocess")
    counter = itertools.count()
    with pytest.raises(NotApplicable, match="writes its cache files on and on"):
        cache_target.Patience(opened).settled(lambda: Contents((b"%d" % next(counter),), ()))
    opened.close()


def test_a_model_that_does_not_run_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fails(models: CachedModels, found: Prepared, prepared: PreparedModel) -> int:
        tried.append(found.vector.name)
        return int(ErrorStatus.GENERAL_FAILURE)

    monkeypatch.setattr(CachedModels, "_status", fails)
    opened = open_subject("reference", {}, "inprocess")
    models = CachedModels(opened)
    assert [models.get("sum/one"), models.get("sum/one")] == [None, None]
    assert tried == ["one"]
    opened.close()


def test_before_there_were_caches_there_is_nothing_to_attack() -> None:
    opened = open_subject("reference", {}, "inprocess", version=Version.V1_1)
    with pytest.raises(NotApplicable, match="no compilation caches"):
        CacheTarget(opened)
    opened.close()


def test_contents_tell_which_saving_they_are_of() -> None:
    ledger, nothing = Ledger(), Contents((b"", b""), (b"",))
    one, other = Contents((b"a", b"b"), (b"c",)), Contents((b"d", b"e"), (b"c",))
    ledger.note(nothing, one, "one", TOKENS[0], is_right=True)
    ledger.note(nothing, other, "other", TOKENS[0], is_right=True)
    ledger.note(nothing, nothing, "unsaved", TOKENS[0], is_right=True)

    def names(contents: Contents, token: bytes = TOKENS[0]) -> tuple[list[str], list[str]]:
        found = ledger.meaning(contents, token)
        return [saving.model for saving in found.whole], [saving.model for saving in found.parts]

    assert names(one) == (["one"], ["one"])
    assert names(Contents((b"a", b"e"), (b"c",))) == ([], ["one", "other"])
    assert names(Contents((b"b", b"a"), (b"c",))) == ([], ["one"])
    assert names(Contents((b"a", b"b"), (b"x",))) == ([], ["one"])
    assert names(Contents((b"a", b"x"), (b"c",))) == ([], [])
    assert names(one, TOKENS[1]) == ([], [])


def test_edits_change_contents() -> None:
    changed = [b"a`c", b"a", b"abc\1\1", b"a\1bc", b"a\0\0", b"", b"abc\0\0"]
    assert [edited(b"abc", edit, 1, 1) for edit in EDITS] == changed
    assert [edited(b"", edit, 5, 0) for edit in EDITS] == [b"", b"", b"\0", b"\0", b"", b"", bytes(6)]
    assert edited(b"abc", "paint", 0, 0) == b"abc"
