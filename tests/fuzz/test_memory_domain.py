"""The fuzzer of buffers: bugs that need a history are found and made small; what conforms has none."""

from __future__ import annotations

from contextlib import closing

import forked
import msgspec
import pytest
from fuzzing import finding, first_finding, refuses

from npu_conformance.fuzz.lib.burst_target import BurstTarget
from npu_conformance.fuzz.lib.findings import kind_of, where_of
from npu_conformance.fuzz.lib.memory_domain_target import MemoryDomainTarget
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable, NotSupported
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.versions import NEWEST, Version, parse

DRIVERS = "buffer_drivers:plugin"


@pytest.mark.parametrize(
    ("subject", "kind", "where", "steps"),
    [
        ("keeps-failed-copy", "invalid-accepted", "NNHAL-MEMDOMAIN-014", 3),
        ("keeps-failed-output", "invalid-accepted", "NNHAL-MEMDOMAIN-014", 3),
        ("fresh-has-zeros", "invalid-accepted", "NNHAL-MEMDOMAIN-014", 1),
        ("reuses-memory", "invalid-accepted", "NNHAL-MEMDOMAIN-014", 3),
        ("forgets-directions", "invalid-accepted", "NNHAL-MEMDOMAIN-024", 3),
        ("knows-equal-models", "invalid-accepted", "NNHAL-MEMDOMAIN-024", 5),
        ("size-of-first", "valid-refused", "NNHAL-MEMDOMAIN-015", 3),
        ("cuts-copies", "invalid-accepted", "NNHAL-MEMDOMAIN-017", 2),
        ("counts-elements", "invalid-accepted", "NNHAL-MEMDOMAIN-018", 2),
        ("follows-client", "wrong-result", "NNHAL-MEMDOMAIN-022", 2),
        ("shares-outputs", "invalid-accepted", "NNHAL-MEMDOMAIN-025", 2),
        ("clears-next", "valid-refused", "NNHAL-MEMDOMAIN-015", 4),
        ("consumed-when-fenced", "valid-refused", "NNHAL-MEMDOMAIN-0", 4),
        ("tokens-of-count", "wrong-result", "NNHAL-MEMDOMAIN-004", 4),
        ("forgets-a-shape", "wrong-status", "number of output shapes", 3),
        ("takes-aliases", "invalid-accepted", "NNHAL-MEMDOMAIN-010", 1),
        ("meets-dimensions", "invalid-accepted", "NNHAL-MEMDOMAIN-012", 1),
    ],
    indirect=["subject"],
)
def test_planted_bugs_are_found_and_made_small(subject: SubjectHandle, kind: str, where: str, steps: int) -> None:
    target = MemoryDomainTarget(subject)
    found = finding(target, seed=3, runs=4000)
    assert (found.kind, found.where[: len(where)]) == (kind, where)
    smallest = found.minimised(target, 120)
    assert len(msgspec.json.decode(smallest)) <= steps


@pytest.mark.parametrize(
    ("subject", "history", "kind", "where"),
    [
        (
            "takes-probabilities",
            '[{"do":"allocate","inputs":[[0,0]],"probability":0.0}]',
            "invalid-accepted",
            "NNHAL-MEMDOMAIN-009",
        ),
        (
            "forgets-last-shape",
            '[{"do":"allocate","models":[1],"inputs":[[0,0]]},{"do":"fill","dimensions":[4,3]},'
            '{"do":"execute","model":1,"inputs":[0],"claims":[[2,3],[2,3]]}]',
            "wrong-status",
            "NNHAL-MEMDOMAIN-027",
        ),
    ],
    indirect=["subject"],
)
def test_rare_steps_are_judged(subject: SubjectHandle, history: str, kind: str, where: str) -> None:
    """One argument of a step in some thousand: no engine finds them in seconds."""
    with pytest.raises(CaseEnded) as found:
        MemoryDomainTarget(subject).run(history.encode())
    assert (kind_of(found.value), where_of(found.value)) == (kind, where)


@pytest.mark.parametrize(("version", "runs"), [("1.3", 100), ("fl5", 100), ("fl8", 200)])
def test_the_reference_has_no_finding(version: str, runs: int) -> None:
    opened = open_subject("reference", {}, "inprocess", version=parse(version))
    target = MemoryDomainTarget(opened)
    assert first_finding(target, seed=7, runs=runs, inputs=target.seeds) is None
    opened.close()


@pytest.mark.parametrize(
    ("fault", "version"),
    [
        ("no-buffers", NEWEST),
        ("buffers-of-known-shape", NEWEST),
        ("buffers-of-one-role", NEWEST),
        ("buffers-for-outputs", NEWEST),
        ("tokens-recycled", NEWEST),
        ("buffers-without-owner", NEWEST),
        ("buffers-forget-when-refused", NEWEST),
        ("copies-of-pixels", NEWEST),
    ],
)
def test_what_conforms_has_no_finding(fault: str, version: Version) -> None:
    def attack(subject: SubjectHandle) -> None:
        target = MemoryDomainTarget(subject)
        assert first_finding(target, seed=3, runs=25, inputs=target.seeds[::2]) is None

    forked.meets(fault, version, attack)


def test_a_copy_with_dimensions_of_a_scalar_is_refused() -> None:
    """The fuzzer found that the reference took them."""
    opened = open_subject("reference", {}, "inprocess")
    steps = '{"do":"prepare","model":4,"kind":"fused"},{"do":"allocate","models":[4],"inputs":[[0,2]]}'
    seen = MemoryDomainTarget(opened).run(f'[{steps},{{"do":"fill","dimensions":[1]}},{{"do":"fill"}}]'.encode())
    assert {"Fill 4 NNHAL-MEMDOMAIN-018", "Fill 0 "} <= set(seen)
    opened.close()


@pytest.mark.parametrize("shape", ["[3,2147483647]", "[-1,-1]", "[2147483647,2147483647]"])
def test_shapes_that_no_memory_holds_are_not_made(shape: str) -> None:
    """The fuzzer asked for 48 GiB itself."""
    opened = open_subject("reference", {}, "inprocess")
    steps = f'{{"do":"prepare","model":1,"kind":"open"}},{{"do":"execute","model":1,"shape":{shape}}}'
    seen = MemoryDomainTarget(opened).run(f"[{steps}]".encode())
    assert any(feature.startswith("Execute open 0 valid") for feature in seen)
    opened.close()


def test_before_there_were_buffers_there_is_nothing_to_attack() -> None:
    opened = open_subject("reference", {}, "inprocess", version=Version.V1_2)
    with pytest.raises(NotApplicable, match="no memory domains"):
        MemoryDomainTarget(opened)
    opened.close()


def test_a_device_without_buffers_has_nothing_to_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceDevice, "allocate", Device.allocate)
    with closing(open_subject("reference", {}, "inprocess")) as opened:
        target = MemoryDomainTarget(opened)
        for data in (b"[]", target.seeds[0]):
            with pytest.raises(NotSupported, match="allocate is not implemented"):
                target.run(data)


@pytest.mark.parametrize(("target", "about"), [(MemoryDomainTarget, "allocated for"), (BurstTarget, "bursts are made")])
def test_a_device_that_prepares_nothing_has_nothing_to_attack(
    target: type[MemoryDomainTarget | BurstTarget], about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReferenceDevice, "prepare_model", refuses)
    with (
        closing(open_subject("reference", {}, "inprocess")) as opened,
        pytest.raises(NotApplicable, match=f"prepares no model of those that .*{about}"),
    ):
        target(opened).run(b"[]")
