"""The display of a run that goes on: what it says, how often, and where a reader is a terminal."""

from __future__ import annotations

import io
import threading

import pytest
from patience import SECONDS, eventually

from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.progress import Progress
from npu_conformance.specs.documents.results import CaseFinished, CaseResult, CaseStarted
from npu_conformance.specs.outcomes import Disposition, Outcome


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def finished(name: str, outcome: Outcome = Outcome.PASS, *dispositions: Disposition) -> CaseFinished:
    message = "" if outcome is Outcome.PASS else f"{name} is wrong"
    return CaseFinished(
        result=CaseResult(
            case=f"vts.a.b.{name}", outcome=outcome, own_outcome=outcome, message=message, dispositions=dispositions
        )
    )


def test_a_run_that_is_resumed_counts_on() -> None:
    clock = Clock()
    progress = Progress(400, Console(io.StringIO()), clock=clock)
    progress.resume([finished(f"e{number}", Outcome.FAIL).result for number in range(100)])
    for number in range(100):
        progress.write(finished(f"c{number}"))
    clock.now += 50.0
    assert progress.line() == "[==========          ]  50% 200/400, 100 red, 50 s, 2/s, about 1:40 left"
    assert progress.red == 0  # what `-x N` counts


def test_a_case_that_lasts_is_named() -> None:
    clock = Clock()
    progress = Progress(400, Console(io.StringIO()), clock=clock)
    progress.write(CaseStarted(case="cts.a.b.flood"))
    clock.now += 10.0
    assert "flood" not in progress.line()
    clock.now += 55.0
    assert progress.line().endswith("0 red, 1:05, cts.a.b.flood for 1:05")
    progress.write(CaseFinished(result=finished("flood").result))
    progress.write(CaseStarted(case="cts.a.b.next"))
    progress.write(
        CaseFinished(result=CaseResult(case="cts.a.b.flood", outcome=Outcome.PASS, own_outcome=Outcome.PASS))
    )
    assert "flood" not in progress.line()


def test_a_case_that_lasts_is_named_off_a_terminal_while_nothing_ends() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = Progress(400, Console(stream), clock=clock)
    progress.write(CaseStarted(case="cts.a.b.flood"))
    clock.now += 20.0
    eventually(lambda: "cts.a.b.flood for 20 s" in stream.getvalue())
    progress.close()


def test_a_line_has_bar_share_reds_rate_and_what_is_left() -> None:
    clock = Clock()
    progress = Progress(400, Console(io.StringIO()), clock=clock)
    for number in range(99):
        progress.write(finished(f"c{number}"))
    progress.write(finished("broken", Outcome.FAIL))
    clock.now += 50.0
    assert progress.line() == "[=====               ]  25% 100/400, 1 red, 50 s, 2/s, about 2:30 left"


def test_a_run_that_has_just_begun_promises_nothing() -> None:
    clock = Clock()
    progress = Progress(400, Console(io.StringIO()), clock=clock)
    progress.write(finished("first"))
    clock.now += 1.0
    assert progress.line() == "[                    ]   0% 1/400, 0 red, 1 s"
    clock.now += 8.0
    for number in range(8):
        progress.write(finished(f"c{number}"))
    assert progress.line() == "[                    ]   2% 9/400, 0 red, 9 s"
    progress.write(finished("tenth"))
    assert progress.line().endswith("10/400, 0 red, 9 s, 1/s, about 5:51 left")


@pytest.mark.parametrize("disposition", [Disposition.WAIVED, Disposition.KNOWN])
def test_what_is_waived_or_known_is_not_red(disposition: Disposition) -> None:
    stream = io.StringIO()
    progress = Progress(2, Console(stream), clock=Clock())
    progress.write(finished("old", Outcome.FAIL, disposition))
    assert ", 0 red," in progress.line()
    assert stream.getvalue() == ""
    progress.write(finished("new", Outcome.FAIL))
    assert ", 1 red," in progress.line()
    assert stream.getvalue() == "FAIL vts.a.b.new: new is wrong\n"


def test_nobody_is_told_to_do_what_is_done() -> None:
    stream = io.StringIO()
    progress = Progress(20, Console(stream), is_short=True, clock=Clock())
    for number in range(3):
        progress.write(finished(f"c{number}", Outcome.HANG))
    assert "for its whole deadline: -x 1 ends the run at the first\n" in stream.getvalue()
    assert "--longest-wait" not in stream.getvalue()


def test_hangs_in_a_row_get_one_line_that_says_what_ends_them() -> None:
    stream = io.StringIO()
    progress = Progress(20, Console(stream), clock=Clock())
    outcomes = [Outcome.HANG, Outcome.HANG, Outcome.PASS, *[Outcome.HANG] * 2]
    for number, outcome in enumerate(outcomes):
        progress.write(finished(f"c{number}", outcome))
    assert "-x 1" not in stream.getvalue()
    for number in range(5, 12):
        progress.write(finished(f"c{number}", Outcome.HANG))
    assert stream.getvalue().count("3 cases hang one after the other, each for its whole deadline: -x 1 ends") == 1


def test_the_first_hang_says_what_shortens_the_next() -> None:
    stream = io.StringIO()
    progress = Progress(20, Console(stream), clock=Clock())
    for number, outcome in enumerate([Outcome.PASS, Outcome.HANG]):
        progress.write(finished(f"c{number}", outcome))
    hint = "  a case that hangs lasts its whole deadline: --longest-wait 5 shortens it"
    assert stream.getvalue().splitlines()[1:] == [hint]
    for number in range(2, 12):
        progress.write(finished(f"c{number}", Outcome.HANG))
    assert stream.getvalue().count("--longest-wait") == 1


def test_who_prints_the_red_cases_itself_gets_only_their_number() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(8, Console(stream), names_red=False, clock=clock)
    progress.write(finished("broken", Outcome.FAIL))
    clock.now += 30.0
    progress.write(finished("slow", Outcome.HANG))
    assert stream.getvalue() == "[=====               ]  25% 2/8, 2 red, 30 s\n"


def test_lines_become_sparse_in_a_pipe() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(100_000, Console(stream), clock=clock)
    for number in range(3600):
        clock.now += 1.0
        progress.write(finished(f"c{number}"))
    seconds = [line.split(", ")[2] for line in stream.getvalue().splitlines()]
    assert seconds[:6] == ["5 s", "15 s", "35 s", "1:15", "2:15", "3:15"]
    assert len(seconds) == 62


def test_a_terminal_shows_the_case_that_runs_in_a_line_that_is_repainted_and_cleared() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(2, Console(stream), clock=clock)
    progress.write(finished("a"))
    clock.now += 1.0
    progress.write(CaseStarted(case="vts.a.b.slow"))
    progress.write(finished("c"))
    progress.close()
    shown = stream.getvalue()
    assert "\r[====================] 100% 2/2, 0 red, 1 s" in shown
    assert "\n" not in shown
    assert shown.endswith("\r\033[K")


def test_the_line_moves_also_where_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = threading.Event()

    class Watched(Terminal):
        def write(self, text: str) -> int:
            if "vts.a.b.slow" in text:
                painted.set()
            return super().write(text)

    monkeypatch.setattr("npu_conformance.harness.report.progress._TICK_SECONDS", 0.001)
    clock = Clock()
    progress = Progress(2, Console(Watched()), clock=clock)
    progress.write(CaseStarted(case="vts.a.b.slow"))
    clock.now += 1.0
    assert painted.wait(SECONDS)
    progress.close()


def test_nothing_moves_after_an_interrupt(capfd: pytest.CaptureFixture[str]) -> None:
    stream, clock = Terminal(), Clock()
    shown = Progress(3, Console(stream), clock=clock)
    shown.interrupt()
    clock.now += 5.0
    shown.write(finished("a"))
    shown.close()
    assert stream.getvalue().strip("\r\033[K") == ""
    assert capfd.readouterr().err.startswith("\r\033[Kinterrupted: the report is being written; ")
