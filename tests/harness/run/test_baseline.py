"""A baseline makes only regressions red, and is rejected where it is of other vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report import junit, page, symptoms, table
from npu_conformance.harness.report.lines import ReplayCommands, excuse, headline
from npu_conformance.harness.report.summary import red_that_ran
from npu_conformance.harness.report.tally import tally
from npu_conformance.harness.run import baseline, results
from npu_conformance.harness.run.baseline import is_regression
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import (
    CaseFinished,
    CaseResult,
    ConfigurationResult,
    Digests,
    RunFinished,
    RunStarted,
    Selection,
)
from npu_conformance.specs.documents.summary import Comparison, Results
from npu_conformance.specs.outcomes import Disposition, Outcome

O = Outcome  # noqa: E741


@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [
        (O.PASS, O.FAIL, True),
        (O.PASS, O.NOT_SUPPORTED, True),
        (O.PASS, O.NOT_RUN, False),
        (O.PASS, O.PASS, False),
        (O.PASS, O.NOT_APPLICABLE, False),
        (O.NOT_SUPPORTED, O.FAIL, True),
        (O.FAIL, O.FAIL, False),
        (O.FAIL, O.PASS, False),
        (O.FAIL, O.NOT_SUPPORTED, False),
        (O.FAIL, O.CRASH, True),
        (O.CRASH, O.HANG, False),
        (O.CRASH, O.FAIL, False),
        (None, O.FAIL, True),
        (None, O.NOT_SUPPORTED, False),
        (None, O.PASS, False),
        (None, O.NOT_RUN, False),
    ],
)
def test_what_is_a_regression(before: Outcome | None, now: Outcome, worse: bool) -> None:
    assert is_regression(before, now) is worse


def log_of(subject: Any, *verdicts: CaseResult) -> Log:
    log = Log()
    log.add(
        RunStarted(
            format=1, suite_version="1", digests=Digests(vectors="v1"), manifest=subject.manifest, hal_version="1.2",
            seed=0, shuffled=False, selection=Selection(), cases=tuple(v.case for v in verdicts), time="now",
        )
    )  # fmt: skip
    for verdict in verdicts:
        log.add(CaseFinished(result=verdict))
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict.outcome.value] = counts.get(verdict.outcome.value, 0) + 1
    log.add(RunFinished(counts=counts, seconds=0.0, ending="complete"))
    return log


def case(name: str, outcome: Outcome, *parts: ConfigurationResult, waived: bool = False) -> CaseResult:
    dispositions = (Disposition.WAIVED,) if waived else ()
    own = O.PASS if parts else outcome
    return CaseResult(
        case=f"vts.a.b.{name}", outcome=outcome, own_outcome=own, configurations=parts, dispositions=dispositions
    )


def compared(subject: Any, tmp_path: Path, before: list[CaseResult], now: list[CaseResult]) -> Results:
    path = tmp_path / "results.json"
    results.write(build(log_of(subject, *before)), path)
    return build(log_of(subject, *now), baseline=baseline.load(path, Digests(vectors="v1"), "1.2"))


def test_known_failures_are_green_and_regressions_red(subject: Any, tmp_path: Path) -> None:
    outcome = compared(subject, tmp_path, [case("a", O.FAIL)], [case("a", O.FAIL)])
    assert (outcome.exit_code, outcome.red, outcome.conformant) == (0, (), False)
    outcome = compared(subject, tmp_path, [case("a", O.PASS)], [case("a", O.NOT_SUPPORTED)])
    assert (outcome.exit_code, outcome.red) == (1, ("regression: vts.a.b.a was pass, now not-supported",))


@pytest.mark.parametrize("before", [O.NOT_RUN, O.SUITE_ERROR])
def test_what_was_never_judged_before_is_not_known_to_fail(subject: Any, tmp_path: Path, before: Outcome) -> None:
    outcome = compared(subject, tmp_path, [case("a", before)], [case("a", O.FAIL)])
    assert outcome.red == (f"regression: vts.a.b.a was {before.value}, now fail",)
    assert compared(subject, tmp_path, [case("a", before)], [case("a", before)]).red == ()


def test_a_regression_has_one_line_of_the_summary(subject: Any, tmp_path: Path) -> None:
    told = table.lines(compared(subject, tmp_path, [case("a", O.PASS)], [case("a", O.FAIL)]))
    assert [line for line in told if "regression: " in line] == ["red: regression: vts.a.b.a was pass, now fail"]
    assert told[-1] == "  1 line above, beginning with 'red' or 'suite problem'"


def test_a_configuration_can_regress_inside_a_case_that_failed(subject: Any, tmp_path: Path) -> None:
    def parts(second: Outcome) -> tuple[ConfigurationResult, ...]:
        return ConfigurationResult(name="x", outcome=O.FAIL), ConfigurationResult(name="y", outcome=second)

    before, now = case("a", O.FAIL, *parts(O.PASS)), case("a", O.FAIL, *parts(O.FAIL))
    assert compared(subject, tmp_path, [before], [now]).red == ("regression: vts.a.b.a#y was pass, now fail",)


def test_a_case_that_is_worse_is_one_line_and_says_how_much_of_it(subject: Any, tmp_path: Path) -> None:
    def of(*outcomes: Outcome) -> CaseResult:
        parts = (ConfigurationResult(name=f"c{number}", outcome=one) for number, one in enumerate(outcomes))
        return case("a", O.FAIL if O.FAIL in outcomes else O.PASS, *parts)

    outcome = compared(subject, tmp_path, [of(O.PASS, O.PASS, O.PASS)], [of(O.FAIL, O.PASS, O.FAIL)])
    assert outcome.red == ("regression: vts.a.b.a was pass, now fail (2 of 3 configurations)",)
    assert outcome.baseline == Comparison(regressions=1, known=0, mended=0)
    outcome = compared(subject, tmp_path, [of(O.FAIL, O.PASS, O.PASS)], [of(O.FAIL, O.FAIL, O.FAIL)])
    assert outcome.red == ("regression: vts.a.b.a#c1 was pass, now fail (2 of 3 configurations)",)


def test_a_configuration_that_passed_is_lost_where_its_case_now_ends_before_it(subject: Any, tmp_path: Path) -> None:
    def part(name: str) -> ConfigurationResult:
        return ConfigurationResult(name=name, outcome=O.PASS)

    before = case("a", O.PASS, part("x"), part("y"))
    now = replace(case("a", O.PASS, part("x")), own_outcome=O.NOT_SUPPORTED)
    outcome = compared(subject, tmp_path, [before], [now])
    assert outcome.red == ("regression: vts.a.b.a#y was pass, now not-supported",)
    now = case("a", O.NOT_SUPPORTED)
    outcome = compared(subject, tmp_path, [before], [now])
    assert outcome.red == ("regression: vts.a.b.a was pass, now not-supported (2 of 2 configurations)",)


@pytest.mark.parametrize("before", [[], [case("a", O.PASS)], [case("a", O.FAIL)], [case("a", O.NOT_SUPPORTED)]])
def test_what_was_not_run_is_red_and_no_regression(subject: Any, tmp_path: Path, before: list[CaseResult]) -> None:
    outcome = compared(subject, tmp_path, before, [case("a", O.NOT_RUN)])
    assert (outcome.exit_code, outcome.cases[0].dispositions) == (1, ())
    assert outcome.red == (("1 case of the baseline was not run",) if before else ())


def lost(*names: str, waived: bool = False) -> tuple[CaseResult, CaseResult]:
    """A case before and now, of which some configurations are no longer supported."""

    def of(outcome: Outcome) -> tuple[ConfigurationResult, ...]:
        parts = {"x": O.PASS, "y": O.PASS, **dict.fromkeys(names, outcome)}
        said = {name: f"no {name} any more" if one is O.NOT_SUPPORTED else "" for name, one in parts.items()}
        return tuple(ConfigurationResult(name=name, outcome=one, message=said[name]) for name, one in parts.items())

    return case("a", O.PASS, *of(O.PASS)), case("a", O.FAIL if waived else O.PASS, *of(O.NOT_SUPPORTED), waived=waived)


@pytest.mark.parametrize(
    ("pair", "parts"),
    [
        ((case("a", O.PASS), case("a", O.NOT_SUPPORTED)), set()),
        (lost("y"), {"y"}),
        (lost("y", waived=True), {"y"}),
    ],
)
def test_what_is_no_longer_supported_is_red_wherever_it_is_told(
    subject: Any, tmp_path: Path, pair: tuple[CaseResult, CaseResult], parts: set[str]
) -> None:
    before, now = pair
    known = baseline.Baseline(build(log_of(subject, before)))
    marked = known.mark(now)
    assert known.mark(marked) == marked, "the report marks again what the engine has marked"
    assert is_red(marked.outcome, marked.dispositions)
    gone = Disposition.NO_LONGER_SUPPORTED
    assert {part.name for part in marked.configurations if gone in part.dispositions} == parts
    outcome = build(log_of(subject, marked), baseline=known)
    assert (outcome.exit_code, tally(outcome).red) == (1, "1 no longer supported")
    assert junit.document(outcome, [marked], ReplayCommands("", "")).count('failures="1"') == 2
    assert red_that_ran([marked]) == [marked]
    assert excuse(marked) == ""
    (symptom,) = symptoms.grouped([marked])
    assert symptom.line().startswith(f"    1 no longer supported: {'no y any more' if parts else ''}")
    assert headline(marked).startswith("NO LONGER SUPPORTED vts.a.b.a" + (": #y: no y any more" if parts else ""))
    page_of = page.document(outcome, [marked], ReplayCommands("", ""))
    assert "1 of 1 case no longer supported; 0 passed." in page_of
    assert "✗ no longer supported" in page_of


def test_many_regressions_are_counted_at_the_end(subject: Any, tmp_path: Path) -> None:
    before = [case(f"c{number}", O.PASS) for number in range(23)]
    now = [case(f"c{number}", O.FAIL) for number in range(23)]
    lines = [line for line in table.lines(compared(subject, tmp_path, before, now)) if line.startswith("red: ")]
    assert (len(lines), lines[-1]) == (21, "red: and 3 more: results.json has all of them")


def test_what_is_known_is_marked_and_counted(subject: Any, tmp_path: Path) -> None:
    before = [case("a", O.FAIL), case("b", O.FAIL), case("c", O.PASS)]
    now = [case("a", O.FAIL), case("b", O.PASS), case("c", O.FAIL), case("d", O.CRASH)]
    outcome = compared(subject, tmp_path, before, now)
    assert outcome.baseline == Comparison(regressions=2, known=1, mended=1)
    assert {item.case[-1]: item.dispositions for item in outcome.cases if item.dispositions} == {
        "a": (Disposition.KNOWN,)
    }
    assert "compared with the baseline: 2 regressions, 1 known, 1 fixed" in table.lines(outcome)


def test_a_new_failure_in_a_case_that_failed_is_not_known(subject: Any, tmp_path: Path) -> None:
    def failing(*names: str) -> CaseResult:
        return case("a", O.FAIL, *(ConfigurationResult(name=name, outcome=O.FAIL) for name in names))

    found = compared(subject, tmp_path, [failing("x")], [failing("x", "y")])
    assert (found.exit_code, found.cases[0].dispositions) == (1, ())


def test_a_waived_failure_is_no_regression(subject: Any, tmp_path: Path) -> None:
    assert compared(subject, tmp_path, [case("a", O.PASS)], [case("a", O.FAIL, waived=True)]).exit_code == 0


def test_a_bug_of_the_suite_is_never_known(subject: Any, tmp_path: Path) -> None:
    assert compared(subject, tmp_path, [case("a", O.SUITE_ERROR)], [case("a", O.SUITE_ERROR)]).exit_code == 3


def test_other_vectors_are_told_and_other_versions_refused(subject: Any, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results.write(build(log_of(subject, case("a", O.PASS))), path)
    for vectors in ("v1", "v2"):
        found = baseline.load(path, Digests(vectors=vectors), "1.2").compare([case("a", O.FAIL), case("new", O.FAIL)])
        assert (found.regressions, found.of_other_vectors) == (2, vectors == "v2")
        assert table.against(found).endswith("; it had other vectors") == found.of_other_vectors
    with pytest.raises(DocumentError, match=r"as different HAL versions are not compared: expected 1\.1, found 1\.2"):
        baseline.load(path, Digests(vectors="v1"), "1.1")


OFF = "#a: output 'y': 1 of 48 elements outside 1e-05; element [3]: expected 6, actual 6.5, difference 0.5"


@pytest.mark.parametrize(
    ("before", "now", "altered"),
    [
        (OFF, OFF.replace("[3]", "[4]").replace("6.5", "6.25").replace("#a", "#b"), 0),
        (OFF, OFF.replace("6.5", "nan"), 1),
        ("execute: expected NONE (0), found GENERAL_FAILURE (2)", "execute: expected NONE (0), found NO_DEVICE (1)", 1),
        ("killed by SIGSEGV (signal 11) at a.so in f", "killed by SIGSEGV (signal 11) at a.so in g", 1),
    ],
)
def test_a_known_failure_with_another_symptom_is_told(subject: Any, before: str, now: str, altered: int) -> None:
    """It may have become far worse, and nothing else would show it."""
    failed = CaseResult("vts.a.b.c", O.FAIL, message=before, own_outcome=O.FAIL)
    known = baseline.Baseline(build(log_of(subject, failed)))
    outcome = build(log_of(subject, known.mark(replace(failed, message=now))), baseline=known)
    assert outcome.baseline == Comparison(regressions=0, known=1, mended=0, altered=altered)
    told = "0 regressions, 1 known (1 of them with another symptom), 0 fixed"
    assert (table.against(outcome.baseline) == told) is bool(altered)
