"""Self-checks of what the harness shows of runs: pages and comparisons of small runs, known beforehand."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.faults.self_checks.bookkeeping import NoticedError
from npu_conformance.faults.self_checks.fakes import Little, passing, raising, run
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report import badge, page
from npu_conformance.harness.report.comparison import ComparedRun, Comparison, compared
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.run.baseline import is_regression
from npu_conformance.harness.run.cases import Case, CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.documents.waivers import Waiver

_checks = CaseGroup("self.bookkeeping")
_TODAY = datetime.date(2030, 1, 15)


def cases() -> Iterator[Case]:
    """Every self-check of reports."""
    return iter(_checks())


def _require(truth: bool, rule: str) -> None:
    if not truth:
        raise NoticedError(f"not so: {rule}")


def _page(little: Little) -> str:
    return page.document(little.results, little.verdicts, ReplayCommands("folder/failures", "--plugin p"))


@_checks.case("report.harmless")
def harmless(_: CaseContext) -> None:
    """What a driver or a waiver says is text on the page: no markup, no control character, no text turned around."""
    said, expires = "<script>alert(1)</script>\x1b\u202e", datetime.date(2030, 2, 1)
    waiver = Waiver(id="*.waived", requirement="REQ-1", reason="known", owner=said, link="there", expires=expires)
    little = run({"case": raising(Failed(said)), "waived": raising(Failed(said))}, waivers=Waivers([waiver], _TODAY))
    text = _page(little)
    _require("<script>alert" not in text, "markup in a message is escaped")
    _require(not {"\x1b", "\u202e"}.intersection(text), "what cannot be seen does not reach the page")
    _require("\\x1b\\u202e" in text, "what cannot be seen is told by its code")


@_checks.case("report.every_failure")
def every_failure(_: CaseContext) -> None:
    """Each failure is explained on the page, and each case is in its table."""
    bodies = {f"fails_{number}": raising(Failed(f"wrong in {number}")) for number in range(5)}
    text = _page(run({**bodies, "passes": passing}))
    failures = text[text.index('<section id="failures"') : text.index('<section id="cases"')]
    for name in bodies:
        _require(failures.count(f"self.little.run.{name}<") == 1, f"{name} is explained once")
    _require(text.count("<tr data-r=") == 6, "the table has every case")


@_checks.case("report.waivers")
def waivers_are_told(_: CaseContext) -> None:
    """Each waiver is in the results with how much it excused; what it excused is not told as wrong."""
    expires, owner = datetime.date(2030, 2, 1), "ada"
    waiver = Waiver(id="*.fails", requirement="REQ-1", reason="known", owner=owner, link="there", expires=expires)
    little = run({"fails": raising(Failed("wrong")), "passes": passing}, waivers=Waivers([waiver], _TODAY))
    _require([use.excused for use in little.results.waivers] == [1], "the waiver has excused one case")
    text = _page(little)
    _require("<td>ada</td><td>2030-02-01</td>" in text, "the page has the owner and the last day")
    _require('<section id="failures"' not in text, "what is waived is not wrong")
    _require("failed" not in badge.message(little.results), "the badge does not count what is waived")


@_checks.case("report.comparison")
def comparison_is_whole(_: CaseContext) -> None:
    """A comparison has the runs in order of time, and every case whose verdict differs."""
    before, after = run({"one": passing, "two": passing}), run({"one": passing, "two": raising(Failed("wrong"))})
    found = _compared(after, "2030-01-02", before, "2030-01-01")
    _require([each.name for each in found.runs] == ["2030-01-01", "2030-01-02"], "the older run comes first")
    told = [(case.case.rpartition(".")[2], case.worse) for case in found.differing]
    _require(told == [("two", True)], "the case that got worse is told, and no other")


def _compared(one: Little, at: str, other: Little, at_other: str) -> Comparison:
    runs = [ComparedRun(time, replace(little.results, time=time)) for little, time in ((one, at), (other, at_other))]
    return compared(runs, is_regression)
