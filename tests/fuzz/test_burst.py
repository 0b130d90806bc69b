"""The fuzzer of bursts: bugs that need several executions are found and made small; what conforms has none."""

from __future__ import annotations

from contextlib import closing

import forked
import msgspec
import pytest
from fuzzing import finding, first_finding

from npu_conformance.fuzz.lib.burst_packets import edited, read
from npu_conformance.fuzz.lib.burst_target import BurstTarget
from npu_conformance.fuzz.lib.findings import kind_of, where_of
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable, NotSupported
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.neuralnetworks.burst_packets import ELEMENT_SIZE, pack, request_elements
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import NEWEST, Version, parse

DRIVERS = "burst_drivers:plugin"


@pytest.mark.parametrize(
    ("subject", "kind", "where", "steps"),
    [
        ("keeps-released", "wrong-result", "", 4),
        ("shares-tokens", "wrong-result", "", 4),
        ("keeps-none", "wrong-result", "memory", 2),
        ("keeps-contents", "wrong-result", "memory", 3),
        ("counts-loosely", "invalid-accepted", "NNHAL-BURST-013", 2),
        ("takes-negative", "invalid-accepted", "NNHAL-BURST-014", 2),
        ("releases-known", "valid-refused", "NNHAL-BURST-015", 2),
        ("stays-busy", "wrong-status", "", 3),
        ("checks-once", "invalid-accepted", "REQUEST.R3", 3),
        ("refuses-twice", "valid-refused", "", 2),
        ("evicts-wrongly", "wrong-result", "memory", 4),
        ("writes-late", "wrong-result", "memory", 3),
    ],
    indirect=["subject"],
)
def test_bugs_of_several_steps_are_found_and_made_small(
    subject: SubjectHandle, kind: str, where: str, steps: int
) -> None:
    target = BurstTarget(subject)
    found = finding(target, seed=8, runs=4000)
    assert (found.kind, found.where[: len(where)]) == (kind, where)
    smallest = found.minimised(target, 120)
    assert len(msgspec.json.decode(smallest)) <= steps


@pytest.mark.parametrize("subject", ["forgets-times"], indirect=True)
def test_times_of_the_newer_call_are_judged(subject: SubjectHandle) -> None:
    """One argument of a call in ten thousand: no engine finds it in seconds."""
    found = _ends(subject, '{"do":"execute","loop":15000000001,"config":true}')
    assert (kind_of(found), where_of(found)) == ("invalid-accepted", "NNHAL-CONTROLFLOW-013")


@pytest.mark.parametrize(
    ("fault", "step", "kind", "where"),
    [
        ("burst-malformed-is-none", '"packet":[["drop",1,0]]', "invalid-accepted", "NNHAL-BURST-004"),
        ("burst-size-unchecked", '"packet":[["byte",4,99]]', "invalid-accepted", "NNHAL-BURST-004"),
        ("burst-trailing-elements", '"packet":[["double",6,0],["byte",4,8]]', "invalid-accepted", "NNHAL-BURST-004"),
        ("burst-refusals-are-failures", '"edits":[["inputs",0,"drop",0]]', "wrong-status", "REQUEST.R1"),
        ("burst-measures-always", '"measure":false', "wrong-status", "timing that was not asked for"),
        ("burst-slots-shared", '"tokens":[0,1],"memories":[2,3],"burst":1', "wrong-result", "memory"),
    ],
)
def test_hidl_packets_are_judged(fault: str, step: str, kind: str, where: str) -> None:
    """Faults of the registry, by edits of its source."""

    def attack(subject: SubjectHandle) -> None:
        found = _ends(subject, '{"do":"execute"}', f'{{"do":"execute",{step}}}')
        assert (kind_of(found), where_of(found)) == (kind, where)

    forked.meets(fault, Version.V1_3, attack)


def _ends(subject: SubjectHandle, *steps: str) -> CaseEnded:
    """What a history of one burst raises."""
    target = BurstTarget(subject)
    vector = msgspec.json.decode(target.seeds[0])[0]["vector"]
    opening = f'{{"do":"open","vector":"{vector}"'
    history = (f"{opening}}}", f'{opening},"burst":1}}', *steps)
    with pytest.raises(CaseEnded) as found:
        target.run(f"[{','.join(history)}]".encode())
    return found.value


@pytest.mark.parametrize(("version", "runs"), [("1.2", 100), ("1.3", 150), ("fl5", 150), ("fl8", 200)])
def test_the_reference_has_no_finding(version: str, runs: int) -> None:
    opened = open_subject("reference", {}, "inprocess", version=parse(version))
    target = BurstTarget(opened)
    assert first_finding(target, seed=7, runs=runs) is None
    opened.close()


@pytest.mark.parametrize(
    ("fault", "version"),
    [
        ("burst-without-token-cache", NEWEST),
        ("burst-releases-at-once", NEWEST),
        ("burst-one-at-a-time", NEWEST),
        ("burst-misses-deadlines", NEWEST),
        ("burst-trusts-tokens", NEWEST),
        ("burst-without-slot-cache", Version.V1_3),
        ("burst-frees-everything", Version.V1_3),
        ("burst-one-at-a-time-hidl", Version.V1_3),
        ("burst-malformed-is-invalid", Version.V1_3),
        ("burst-without-times-and-shapes", Version.V1_3),
    ],
)
def test_what_conforms_has_no_finding(fault: str, version: Version) -> None:
    def attack(subject: SubjectHandle) -> None:
        target = BurstTarget(subject)
        assert first_finding(target, seed=3, runs=20, inputs=target.seeds) is None

    forked.meets(fault, version, attack)


def test_before_there_were_bursts_there_is_nothing_to_attack() -> None:
    opened = open_subject("reference", {}, "inprocess", version=Version.V1_1)
    with pytest.raises(NotApplicable, match="no bursts"):
        BurstTarget(opened)
    opened.close()


@pytest.mark.parametrize("version", [Version.V1_2, NEWEST])
def test_a_device_without_bursts_has_nothing_to_attack(version: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a history does, also where it opens none."""
    for method in ("configure_execution_burst", "configure_execution_burst_on_queues"):
        monkeypatch.setattr(ReferencePreparedModel, method, getattr(PreparedModel, method))
    with closing(open_subject("reference", {}, "inprocess", version=version)) as opened:
        target = BurstTarget(opened)
        for data in (b"[]", target.seeds[0]):
            with pytest.raises(NotSupported, match=r"configureExecutionBurst.* is not implemented"):
                target.run(data)


@pytest.mark.parametrize(
    ("edit", "answer"),
    [
        (("drop", 0, 0), "malformed"),
        (("double", 2, 0), "malformed"),
        (("swap", 0, 1), "malformed"),
        (("insert", 1, 6), "malformed"),
        (("cut", ELEMENT_SIZE, 0), "malformed"),
        (("byte", 0, 9), "malformed"),
        (("byte", 1, 9), "open"),
    ],
)
def test_edited_packets_are_told_from_packets(edit: tuple[str, int, int], answer: str) -> None:
    argument = RequestArgument(location=DataLocation(0, 0, 4), dimensions=(1,))
    request = Request((argument,), (argument,), (RequestMemoryPool(),))
    packet = pack(request_elements(request, (3,), measure=True))
    assert read(edited(packet, [edit])) == answer
    found = read(edited(packet, [("nothing", 0, 0)]))
    assert not isinstance(found, str)
    assert (found.inputs, found.outputs, found.slots, found.measure) == ((argument,), (argument,), (3,), True)
