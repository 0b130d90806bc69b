"""The threads of a client: they begin together, end as planned, and the first that fails ends all."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung
from npu_conformance.mlts.lib import works
from npu_conformance.mlts.lib.reports import Line, Plan, Progress, StoredModel, Verdict
from npu_conformance.mlts.lib.supervision import ClientProgramError, run_here
from npu_conformance.mlts.lib.worker import Crew, Signals
from npu_conformance.specs.versions import Version

closed: list[int] = []


@pytest.fixture(autouse=True)
def _nobody_closed() -> None:
    closed.clear()


def plan(threads: int = 1, rounds: int = 3, *, seconds: float = 0.0, until_stopped: bool = False) -> Plan:
    return Plan(
        address="",
        tickets=("",) * threads,
        transports=(),
        version=Version.V1_3,
        models=(StoredModel("", ""),),
        rounds=rounds,
        seconds=seconds,
        until_stopped=until_stopped,
    )


def work_that(monkeypatch: pytest.MonkeyPatch, fails_at: int = -1, error: Exception | None = None) -> None:
    """Let rounds be no work at all; the second thread, or the only one, fails in the round after this one."""

    def run(plan: Plan, thread: int, measured: dict[str, float]) -> Iterator[int]:
        try:
            for number in itertools.count():
                if number == fails_at + 1 > 0 and thread == len(plan.tickets) - 1 and error is not None:
                    raise error
                measured["rounds"] = number
                yield number
        finally:
            closed.append(thread)

    monkeypatch.setattr(works, "run", run)


def test_every_thread_does_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    work_that(monkeypatch)
    seen: list[int] = []
    end = run_here(plan(threads=3, rounds=4), seen.append)
    assert (end.verdict, end.rounds, end.measured) == (Verdict.SUCCESS, 12, {"rounds": 4})
    assert seen == sorted(seen)
    assert seen[-1] == 12
    assert sorted(closed) == [0, 1, 2]


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Failed("wrong"), Verdict.FAILURE),
        (Hung("silent"), Verdict.HANG),
        (Crashed("gone"), Verdict.CRASH),
    ],
)
def test_the_first_thread_that_fails_ends_all(
    monkeypatch: pytest.MonkeyPatch, error: Exception, verdict: Verdict
) -> None:
    work_that(monkeypatch, 2, error)
    end = run_here(plan(threads=2, rounds=1 << 60))
    assert end.verdict is verdict
    assert str(error) in end.message
    assert sorted(closed) == [0, 1]


def test_a_thread_that_never_gets_ready_lets_nobody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    work_that(monkeypatch, -1, Failed("no driver"))
    monkeypatch.setattr(works, "run", _refusing)
    report = Crew(plan(threads=2), lambda line: None, Signals()).run()  # nobody says go
    assert (report.verdict, report.rounds) == (Verdict.FAILURE, 0)


def _refusing(plan: Plan, thread: int, measured: dict[str, float]) -> Iterator[int]:
    if thread:
        raise Failed("no driver")
    yield 0
    yield from itertools.count(1)


def test_a_bug_of_the_client_program_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    work_that(monkeypatch, 1, NameError("vector"))
    with pytest.raises(ClientProgramError, match="NameError: vector"):
        run_here(plan())


def test_a_client_with_a_time_goes_on_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    work_that(monkeypatch)
    end = run_here(plan(rounds=0, seconds=1e-9))
    assert end.verdict is Verdict.SUCCESS


def test_a_client_that_is_stopped_does_its_rounds_behind_that(monkeypatch: pytest.MonkeyPatch) -> None:
    work_that(monkeypatch)
    signals, seen = Signals(), list[int]()
    signals.go.set()

    def say(line: Line) -> None:
        assert isinstance(line, Progress)
        seen.append(line.rounds)
        if line.rounds == 5:
            signals.stop.set()

    report = Crew(plan(rounds=2, until_stopped=True), say, signals).run()
    assert (report.verdict, report.rounds) == (Verdict.SUCCESS, 7)
