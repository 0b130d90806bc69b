"""The fuzzer of NPU Managers: bugs that need several steps are found and made small; what conforms has none."""

from __future__ import annotations

import msgspec
import pytest

from npu_conformance.faults import managers, source_edits
from npu_conformance.fuzz import manager
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.engines import hypothesis_engine
from npu_conformance.fuzz.lib.findings import kind_of, where_of
from npu_conformance.fuzz.lib.histories import MOST_STEPS, encoded
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.manager_steps import Ask, Crash, Load, SetPolicy, histories
from npu_conformance.fuzz.lib.manager_target import ManagerTarget
from npu_conformance.fuzz.lib.target import failure, minimised
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

FAULTS = "npu_conformance.faults.plugin:plugin"
_VARIANTS = (
    "manager-boundary-alone",
    "manager-aosp-profile",
    "manager-opportunistic-500",
    "manager-opportunistic-negative",
)


DRIVERS = "managed_drivers:plugin"


@pytest.mark.parametrize(
    ("subject", "where", "steps", "seed"),
    [
        ("completes-twice", "completed N times", 3, 1),
        ("mixes-apps", "cancelled though it is parked", 5, 0),
        ("half-sets-policy", "unloaded, and not completed", 4, 7),
        ("ends-others", "cancelled though it is loaded", 5, 0),
        ("forgets-after-hal", "priority N of uid N at the HAL", 3, 1),
        ("loses-answers", "not answered", 3, 0),
    ],
    indirect=["subject"],
    ids=lambda value: value[1]["bug"] if isinstance(value, tuple) else "",
)
def test_bugs_of_several_steps_are_found_and_made_small(
    subject: SubjectHandle, where: str, steps: int, seed: int
) -> None:
    """seed: one of sixteen with which a bug is found early."""
    target, tried = ManagerTarget(subject), []

    def attack(data: bytes) -> None:
        tried.append(data)
        target.run(data)

    with pytest.raises(CaseEnded) as found:
        hypothesis_engine.search(target, attack, seed=seed, runs=4000)
    assert kind_of(found.value) == "wrong-status"
    assert where_of(found.value).startswith(where)
    smallest = minimised(tried[-1], target.pieces, lambda data: failure(target.run, data), 150)
    assert len(msgspec.json.decode(smallest)) <= steps


@pytest.mark.parametrize("subject", ["keeps-room-of-the-dead"], indirect=True)
def test_room_is_judged_after_a_death_beside_a_loaded_model(subject: SubjectHandle) -> None:
    """This takes seven steps in order, which no engine finds in seconds."""
    dead = (SetPolicy(maximum=8), Ask(0, 1), Load(0, 1), Ask(0, 2), Crash(0))
    with pytest.raises(CaseEnded, match="not granted, though 8 of 8 is free"):
        ManagerTarget(subject).run(encoded((*dead, Ask(1, 1), Ask(1, 2))))


@pytest.mark.parametrize(
    "subject",
    [
        ("reference", {}),
        ("reference", {"npu_profile": "aosp"}),
        *((FAULTS, {"fault": name}) for name in _VARIANTS),
    ],
    indirect=True,
    ids=lambda value: " ".join((value[0][:9], *value[1].values())),
)
def test_what_conforms_has_no_finding(subject: SubjectHandle) -> None:
    target = ManagerTarget(subject)
    hypothesis_engine.search(target, target.run, seed=7, runs=100)


@pytest.mark.parametrize("row", managers.EDITED_VARIANTS, ids=lambda row: row.id)
def test_what_decides_otherwise_has_no_finding(row: source_edits.EditedFault) -> None:
    with source_edits.applied(row.edits):
        opened = open_subject("reference", {}, "inprocess")
        target = ManagerTarget(opened)
        hypothesis_engine.search(target, target.run, seed=3, runs=60)
        opened.close()


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'[{"do":"fly"}]', b'[{"do":"load","id":4294967296}]'])
def test_what_is_no_history_or_no_step_is_passed_over(data: bytes) -> None:
    opened = open_subject("reference", {}, "inprocess")
    ManagerTarget(opened).run(data)
    opened.close()


def test_mutations_are_histories_and_pieces_are_smaller() -> None:
    opened = open_subject("reference", {}, "inprocess")
    target, data = ManagerTarget(opened), b"[]"
    for seed in range(300):
        data = target.mutate(data, Choices.seeded(seed), 65535)
        steps = histories.decoded(data)
        assert steps is not None
        assert len(steps) <= MOST_STEPS
    assert all(histories.decoded(piece) is not None for piece in target.pieces(data))
    assert target.mutate(b"no history", Choices(bytes(SIZE)), 65535) == b"no history"
    opened.close()


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_finding_replays(isolation: str) -> None:
    opened = open_subject("managed_drivers:plugin", {"bug": "completes-twice"}, isolation)  # type: ignore[arg-type]
    data = encoded((Ask(), Load(), SetPolicy()))
    case = manager.case_from(msgspec.to_builtins(lines_of(data)))
    context = CaseContext(case, opened)
    with pytest.raises(CaseEnded, match="completed 2 times"):
        case.run(context)
    assert context.payload is not None
    opened.close()


def test_the_short_case_passes() -> None:
    opened = open_subject("reference", {}, "process")
    (case,) = manager.cases()
    case.run(CaseContext(case, opened, seed=5))
    opened.close()
