"""`npu-conformance run`: what ends it early, once or twice, and what it leaves behind."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from vendor_command import Command

from npu_conformance.harness.run import session as session_module
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.run.session_options import SessionOptions

PLUGIN = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Finalised:
    """Its finaliser is interrupted, as a proxy's may be."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def interrupt_a_finaliser() -> None:
    Finalised()


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def hang_up() -> None:
    os.kill(os.getpid(), signal.SIGHUP)


def interrupt_impatiently() -> None:
    try:
        interrupt()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)


@pytest.fixture
def interrupted(
    request: pytest.FixtureRequest, command: Command, tmp_path: Path
) -> Iterator[tuple[Summary, list[str]]]:
    """A run of three cases, the second of which is interrupted in the way of the parameter."""
    ran: list[str] = []

    def case(name: str, body: Callable[[], object]) -> Case:
        def run(context: object) -> None:
            ran.append(name)
            body()

        return Case(f"vts.area.subject.{name}", run, ("REQ-1",))

    session = Session(SessionOptions("vendor_plugins:first_day", isolation="inprocess", report=str(tmp_path / "kept")))
    session.start([case("first", int), case("second", request.param), case("third", int)])
    yield session.run_all(), ran
    session.close()


@pytest.mark.parametrize(
    "interrupted", [interrupt, interrupt_a_finaliser, terminate, hang_up, interrupt_impatiently], indirect=True
)
def test_an_interrupt_ends_the_run_in_order(interrupted: tuple[Summary, list[str]], tmp_path: Path) -> None:
    summary, ran = interrupted
    assert ran == ["first", "second"]
    assert summary.exit_code == 3
    outcomes = {case.case.rpartition(".")[2]: case.outcome.value for case in summary.results.cases}
    assert (outcomes["first"], outcomes["third"]) == ("pass", "not-run")
    assert json.loads((tmp_path / "kept" / "results.json").read_text())["exit_code"] == 3
    assert any("--resume" in line for line in summary.lines())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_interrupt_while_the_report_is_written_comes_too_late(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conclude(*arguments: object) -> Summary:
        interrupt()
        return whole(*arguments)  # type: ignore[arg-type]

    whole = session_module.conclude
    monkeypatch.setattr(session_module, "conclude", conclude)
    assert command("run", "vts.queries", *PLUGIN, "--report", "kept")[0] == 0
    assert (tmp_path / "kept" / "report.html").exists()


def _called(body: Callable[[], object], context: CaseContext) -> None:
    body()


def _told_twice(session: Session, monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[float]:
    """Run three cases; the second is interrupted, and its report as well, so many seconds later. When it was told."""
    told: list[float] = []
    now = [0.0]
    monkeypatch.setattr("npu_conformance.harness.run.interruption.time.monotonic", lambda: now[0])

    def conclude(*arguments: object) -> Summary:
        now[0] += seconds
        interrupt()
        return whole(*arguments)  # type: ignore[arg-type]

    whole = session_module.conclude
    monkeypatch.setattr(session_module, "conclude", conclude)
    session.interruption.notice = lambda: told.append(now[0])
    bodies: list[Callable[[], object]] = [int, interrupt, int]
    session.start(
        Case(f"vts.area.subject.c{number}", functools.partial(_called, body), ("R-1",))
        for number, body in enumerate(bodies)
    )
    session.run_all()
    return told


@pytest.fixture
def kept(tmp_path: Path, command: Command) -> Iterator[Session]:
    """A session with a report folder."""
    options = SessionOptions("vendor_plugins:first_day", isolation="inprocess", report=str(tmp_path / "kept"))
    with contextlib.closing(Session(options)) as session:
        yield session


def test_a_second_interrupt_ends_the_run_without_its_pages(
    kept: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        _told_twice(kept, monkeypatch, 2.0)
    assert (tmp_path / "kept" / "events.jsonl").exists()
    assert not (tmp_path / "kept" / "report.html").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_same_interrupt_twice_is_one(kept: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _told_twice(kept, monkeypatch, 0.1) == [0.0]
    assert (tmp_path / "kept" / "report.html").exists()
