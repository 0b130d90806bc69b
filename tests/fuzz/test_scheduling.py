"""The fuzzer of scheduling HALs: bugs that need several steps are found and made small."""

from __future__ import annotations

import msgspec
import pytest

from npu_conformance.fuzz.lib.findings import kind_of, where_of
from npu_conformance.fuzz.lib.histories import encoded
from npu_conformance.fuzz.lib.scheduling_fixture import SchedulingFixture
from npu_conformance.fuzz.lib.scheduling_steps import (
    APPS,
    Break,
    Cancel,
    Configure,
    Entry,
    Pass,
    Register,
    Step,
    Submit,
    Take,
)
from npu_conformance.fuzz.lib.scheduling_target import SchedulingTarget
from npu_conformance.fuzz.lib.target import failure, minimised
from npu_conformance.harness.judge.verdicts import CaseEnded, Failed, NotApplicable
from npu_conformance.harness.subject.handle import Application, SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

DRIVERS = "scheduled_drivers:plugin"


ONE, OTHER, *_ = APPS
RANKED = Configure([Entry(ONE, 100), Entry(OTHER, 400, attribute=True)])
CLAIMED, RAISED = Submit(0, original=OTHER), Configure([Entry(OTHER, 50)], True)
UNNEEDED = [Pass(1), Submit(3), Pass(700)]
HISTORIES: dict[str, tuple[str, list[Step]]] = {
    "loses": ("NPU-HAL-024", [RANKED, Submit(1), Pass(105), Submit(0), Pass(60), Cancel(1)]),
    "half-updates": ("NPU-HAL-008", [Configure([Entry(ONE, 1), Entry(OTHER, 1001)], True), Submit(0), Pass(20)]),
    "withdraws-of-others": ("NPU-HAL-019", [RANKED, Submit(0), Pass(60), Take(ONE), Submit(1, original=ONE)]),
    "remembers-callback": ("NPU-HAL-017", [Submit(0), Pass(60), Take(ONE), Register(1), Pass(500)]),
    "keeps-configs": ("", [Configure([Entry(ONE, 900, attribute=True)]), Submit(0), Configure([]), CLAIMED, Pass(50)]),
    "ends-twice": ("a run ends twice", [Submit(0), Break(ONE), Submit(0), Break(ONE)]),
    "ranks-late": ("a run never ends", [RANKED, Submit(1), Pass(105), Submit(0), Pass(60), RAISED]),
}
"""By bug: what is found, and a history that shows it."""


@pytest.mark.parametrize(("subject", "bug"), [(bug, bug) for bug in HISTORIES], indirect=["subject"])
def test_bugs_of_several_steps_are_judged_and_made_small(subject: SubjectHandle, bug: str) -> None:
    """Which of them engines find, and how soon, `python -m benchmarks fuzz` measures."""
    where, steps = HISTORIES[bug]
    target = SchedulingTarget(subject)
    with pytest.raises(CaseEnded) as found:
        target.run(encoded([*UNNEEDED, *steps]))
    assert where_of(found.value)[: len(where)] == where
    smallest = minimised(encoded([*UNNEEDED, *steps]), target.pieces, lambda data: failure(target.run, data), 120)
    assert len(msgspec.json.decode(smallest)) <= len(steps)


@pytest.mark.parametrize("subject", ["forgets-rights"], indirect=True)
def test_rights_are_judged_after_updates_during_work(subject: SubjectHandle) -> None:
    """This takes five steps in order, which no engine finds in seconds."""
    update = '{"do":"configure","update":true,"configs":[{"uid":10201,"priority":1}]}'
    withdrawn = update.replace("}]", ',"direct":false}]')
    steps = ('{"do":"run","job":900}', update, update, withdrawn, '{"do":"run"}')
    with pytest.raises(CaseEnded) as found:
        SchedulingTarget(subject).run(f"[{','.join(steps)}]".encode())
    assert (kind_of(found.value), where_of(found.value)) == ("invalid-accepted", "NPU-HAL-011")


def test_a_fixture_that_cannot_begin_leaves_no_app(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_subject("reference", {}, "inprocess")
    started: list[Application] = []
    start, closed = opened.application, list[Application]()

    def application(uid: int, pid: int = 0) -> Application:
        process = start(uid, pid)
        started.append(process)
        close = process.close
        monkeypatch.setattr(process, "close", lambda: closed.append(process) or close())  # type: ignore[func-returns-value]
        return process

    def broken(fixture: SchedulingFixture) -> None:
        raise Failed("no run ends")

    monkeypatch.setattr(opened, "application", application)
    monkeypatch.setattr(SchedulingFixture, "_measure", broken)
    with pytest.raises(Failed, match="no run ends"):
        SchedulingFixture(opened)
    assert closed == started != []
    opened.close()


def test_without_a_virtual_clock_there_is_nothing_to_attack() -> None:
    opened = open_subject("reference", {"clock": "real"}, "inprocess")
    with pytest.raises(NotApplicable, match="virtual clock"):
        SchedulingTarget(opened).run(b"[]")
    opened.close()
