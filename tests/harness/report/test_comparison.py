"""Runs side by side and over time: what differs, what got worse, and what the figures are beside the first run's."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import case, latency, log, measured, summary
from msgspec.structs import replace
from pages import Page, section

from npu_conformance.harness.report import comparison_page
from npu_conformance.harness.report.comparison import ComparedRun, Comparison, compared, lines
from npu_conformance.harness.run import results
from npu_conformance.harness.run.baseline import is_regression
from npu_conformance.specs.documents.results import CaseResult, Digests, Measurement
from npu_conformance.specs.outcomes import Outcome

DAYS = ("2030-01-14T08:00:00Z", "2030-01-15T08:00:00Z", "2030-01-16T08:00:00Z")


def run(day: int, *verdicts: CaseResult, **header: Any) -> ComparedRun:
    """A run on one of the days."""
    return ComparedRun(f"day-{day}", summary(*verdicts, time=DAYS[day], **header).results)


def compare(*runs: ComparedRun) -> Comparison:
    """The comparison, as the command makes it."""
    return compared(runs, is_regression)


FIRST = run(0, case("PAD.a"), case("PAD.b", Outcome.FAIL), case("PAD.c"), case("PAD.d"), case("PAD.gone"),
            measured("latency.digits", latency("digits", 2.0), latency("digits", 1.0, "litert")))  # fmt: skip
SECOND = run(1, case("PAD.a", Outcome.FAIL), case("PAD.b"), case("PAD.c"), case("PAD.d"), case("PAD.new"),
             measured("latency.digits", latency("digits", 3.0), latency("digits", 1.0, "litert")))  # fmt: skip
THIRD = run(2, case("PAD.a"), case("PAD.b"), case("PAD.c", Outcome.CRASH), case("PAD.d"),
            measured("latency.other", latency("other", 5.0)))  # fmt: skip


def test_runs_stand_in_the_order_of_their_times() -> None:
    assert [run.name for run in compare(THIRD, FIRST, SECOND).runs] == ["day-0", "day-1", "day-2"]


def test_cases_that_differ_are_told_run_by_run_and_the_worse_first() -> None:
    assert [str(each) for each in compare(FIRST, SECOND, THIRD).differing] == [
        "worse vts.generated.PAD.c: pass -> pass -> crash",
        "better vts.generated.PAD.a: pass -> fail -> pass",
        "vts.generated.PAD.b: fail -> pass -> pass",
    ]
    assert [str(each) for each in compare(SECOND, FIRST).differing] == [
        "worse vts.generated.PAD.a: pass -> fail",
        "better vts.generated.PAD.b: fail -> pass",
    ]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (Outcome.NOT_SUPPORTED, Outcome.PASS, "better"),
        (Outcome.CRASH, Outcome.FAIL, "better"),
        (Outcome.FAIL, Outcome.NOT_APPLICABLE, ""),
        (Outcome.FAIL, Outcome.NOT_RUN, ""),
        (Outcome.NOT_RUN, Outcome.FAIL, ""),
        (Outcome.NOT_RUN, Outcome.PASS, ""),
        (Outcome.SUITE_ERROR, Outcome.CRASH, ""),
        (Outcome.SUITE_ERROR, Outcome.PASS, ""),
    ],
)
def test_better_is_what_shows_more(before: Outcome, after: Outcome, change: str) -> None:
    (differing,) = compare(run(0, case("PAD.a", before)), run(1, case("PAD.a", after))).differing
    assert differing.change == change


def test_a_run_without_a_verdict_hides_no_change() -> None:
    told = [
        compare(*(run(day, case("PAD.a", outcome)) for day, outcome in enumerate(outcomes))).differing[0].change
        for outcomes in (
            (Outcome.PASS, Outcome.NOT_RUN, Outcome.FAIL),
            (Outcome.CRASH, Outcome.SUITE_ERROR, Outcome.PASS),
            (Outcome.NOT_RUN, Outcome.NOT_RUN, Outcome.FAIL),
        )
    ]
    assert told == ["worse", "better", ""]


def test_cases_of_some_runs_alone_are_counted_and_not_compared() -> None:
    assert compare(FIRST, SECOND).only_in_some == 2


def test_measurements_stand_beside_each_other_with_their_ratio_to_the_first() -> None:
    told = [str(each) for each in compare(FIRST, SECOND, THIRD).measurements]
    assert told == [
        "inference of digits, ms: 2 -> 3 (x1.5) -> -",
        "inference of digits on litert, ms: 1 -> 1 (x1) -> -",
        "inference of other, ms: - -> - -> 5",
    ]


def figures(day: int, *values: Measurement) -> ComparedRun:
    return run(day, measured("latency.digits", *values))


def share(name: str, value: float, count: int = 60) -> Measurement:
    return Measurement("digits", name, "fraction", value, count=count)


def test_what_moved_is_told_and_the_furthest_first() -> None:
    """Nothing is told of what did not move: it hid what did."""
    still = [latency(f"still{number}", 2.0) for number in range(30)]
    before = figures(0, *still, share("top_1", 0.967), latency("digits", 0.156), latency("digits", 1.0, "litert"))
    after = figures(1, *still, share("top_1", 0.867), latency("digits", 3.57), latency("digits", 9.0, "litert"))
    told = list(lines(compare(before, after)))
    assert told[2:-1] == [
        "figures that moved, the furthest first, run by run:",
        "  inference of digits, ms: 0.156 -> 3.57 (x22.88)",
        "  top 1 of digits, fraction: 0.967 -> 0.867 (x0.8966)",
        "31 figures did not move by more than chance, or are of the implementation beside it; --html FILE shows all",
    ]


def value(unit: Any, number: float, **given: Any) -> Measurement:
    return Measurement("digits", given.pop("name", "figure"), unit, number, **given)


@pytest.mark.parametrize(
    ("before", "after", "factor"),
    [
        (latency("digits", 1.0, low=0.9, high=1.1), latency("digits", 3.0, low=2.2, high=4.0), 2.0),
        (latency("digits", 3.0, low=2.2, high=4.0), latency("digits", 1.0, low=0.9, high=1.1), 2.0),
        (latency("digits", 1.0, low=0.9, high=1.1), latency("digits", 3.0, low=1.0, high=4.0), 1.0),
        (latency("digits", 1.0, low=1.0, high=1.0), latency("digits", 1.4, low=1.4, high=1.4), 1.0),
        (value("ms", 1.0), value("ms", 3.9), 1.0),
        (value("ms", 1.0), value("ms", 5.0), 5.0),
        (value("per second", 100.0, count=9), value("per second", 25.0, count=9), 4.0),
        (value("per second", 100.0, count=9), value("per second", 60.0, count=9), 1.0),
        (value("bytes", 100.0), value("bytes", 120.0), 1.2),
        (value("absolute", 0.25), value("absolute", -1.0), 4.0),
        (value("squared", 0.0), value("squared", 0.5), 1e6),
        (value("squared", 0.0), value("squared", 0.0), 1.0),
        (value("dB", 20.0), value("dB", 10.0), 10.0),
        (value("dB", 20.0), value("dB", 18.0), 1.0),
        (value("dB", float("inf")), value("dB", 18.0), 1e6),
        (share("agreement", 1.0), share("agreement", 0.5), 121.0),
        (share("agreement", 0.5), share("agreement", 0.505), 1.0),
        (value("ratio", 1.0, name="cosine", count=1), value("ratio", 0.995, name="cosine", count=1), 1.0),
    ],
)
def test_by_how_far_a_figure_moved(before: Measurement, after: Measurement, factor: float) -> None:
    (told,) = compare(figures(0, before), figures(1, after)).measurements
    assert told.movement == pytest.approx(factor)


def test_the_last_two_runs_say_what_moved() -> None:
    slow, quick = (latency("digits", each) for each in (50.0, 1.0))
    runs = [figures(day, each) for day, each in enumerate((slow, quick, quick))]
    assert [each.movement > 1 for each in compare(*runs).measurements] == [False]
    assert [each.movement > 1 for each in compare(figures(0, quick), FIRST, figures(2, slow)).measurements] == [
        True, False,
    ]  # fmt: skip


def test_the_page_begins_with_what_moved() -> None:
    before = figures(0, share("top_1", 0.9), latency("digits", 0.2), latency("other", 0.2))
    after = figures(1, share("top_1", 0.9), latency("digits", 0.2), latency("other", 20.0))
    page = Page(comparison_page.document(compare(before, after)))
    told = section(page, "measurements")
    assert "3, of which 1 moved in the last run" in told
    assert told.index("inference of other, ms: 0.2 -> 20 (x100)") < told.index("inference in ms")
    assert told.index("inference in ms") < told.index("top 1 in fraction")


def test_a_first_value_of_zero_has_no_ratio() -> None:
    zero = run(0, measured("latency.x", latency("x", 0.0)))
    (told,) = compare(zero, run(1, measured("latency.x", latency("x", 1.0)))).measurements
    assert str(told) == "inference of x, ms: 0 -> 1"


def test_what_makes_runs_differ_besides_the_driver_is_said() -> None:
    other = run(1, case("PAD.a"), digests=Digests(vectors="ab"), hal_version="1.3", suite_version="2")
    assert compare(run(0, case("PAD.a")), other).remarks == (
        "the runs have different vectors",
        "the runs have different versions of the suite",
        "the runs have different versions of the HAL",
    )
    killed = log([case("PAD.a")], time=DAYS[1])
    killed.footer = None
    assert compare(FIRST, ComparedRun("killed", results.build(killed))).remarks == ("run 2 did not finish",)


def test_the_terminal_gets_twenty_lines_of_each() -> None:
    before = run(0, *(case(f"PAD.n{number}") for number in range(30)))
    after = run(1, *(case(f"PAD.n{number}", Outcome.FAIL) for number in range(30)))
    told = list(lines(compare(before, after)))
    assert told[0] == "run 1: day-0: toy 1, HAL 1.2, 2030-01-14T08:00:00Z: conformant; 30 pass"
    assert told[-2:] == [
        "  ... and 10 more; --html FILE shows all",
        "30 verdicts changed, 30 for the worse in the last run",
    ]
    assert sum("worse vts.generated.PAD" in line for line in told) == 20


def test_the_page_has_the_runs_as_columns() -> None:
    page = Page(comparison_page.document(compare(FIRST, SECOND, THIRD)))
    assert [each.attributes["href"] for each in page.all("a")][1:] == ["#runs", "#differing", "#measurements"]
    assert page.rows("differing")[0] == ["vts.generated.PAD.c", "✓ pass", "✓ pass", "✗ crash", "worse"]
    assert page.rows("runs")[0] == ["mlts", "1 pass", "1 pass", "1 pass"]
    assert page.rows("measured")[0][2:] == ["21.94 to 2.08", "3 (×1.5)2.91 to 3.12", "–"]
    assert page.rows("differing")[1][-1] == "better"
    assert "1 worse and 1 better in the last run" in section(page, "differing")
    assert "From below: pass, fail, crash." in section(page, "runs")
    charts = [each for each in page.all("svg") if "figure" in each.parents]
    assert [each.attributes["class"] for each in charts] == ["fixed", "wide", "narrow"]
    assert all(each.attributes["role"] == "img" and each.attributes["aria-label"] for each in charts)


def test_runs_that_are_alike_have_no_section_of_differences() -> None:
    page = Page(comparison_page.document(compare(run(0, case("PAD.a")), run(1, case("PAD.a")))))
    assert [each.attributes["id"] for each in page.all("section") if "id" in each.attributes] == ["runs"]


def test_hostile_names_are_text() -> None:
    words = '</td><script>alert(1)</script>\x1b\u202e"'
    hostile = run(1, case(f"PAD.{words}"), measured("latency.x", latency(words, 1.0, words)), hal_version=words)
    again = run(2, case(f"PAD.{words}", Outcome.FAIL), measured("latency.x", latency(words, 1.0, words)))
    text = comparison_page.document(compare(ComparedRun(words, hostile.results), again))
    assert len(list(Page(text).all("script"))) == 1
    assert not {"\x1b", "\u202e"}.intersection(text)


def timed(day: int, seconds: float, **header: Any) -> ComparedRun:
    """A run of a quick case, and of one that took so long."""
    quick = [replace(case(f"PAD.{number}"), seconds=0.1) for number in range(7)]
    return run(day, *quick, replace(case("PAD.slow"), seconds=seconds), **header)


def test_a_driver_that_became_slow_is_told() -> None:
    told = list(lines(compare(timed(0, 0.5), timed(1, 51.0))))
    assert told[-3:] == [
        "the same cases took 51.7 s, 1.2 s before (43.08 times)",
        "  vts.generated.PAD.slow: 0.5 -> 51 s",
        "0 verdicts changed, 0 for the worse in the last run",
    ]
    assert "the same cases took 51.7 s" in comparison_page.document(compare(timed(0, 0.5), timed(1, 51.0)))
    quicker = list(lines(compare(timed(0, 51.0), timed(1, 0.5))))
    assert "the same cases took 1.2 s, 51.7 s before (0.02321 times)" in quicker


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.9), (50.0, 70.0), (50.0, 30.0), (0.001, 0.5)])
def test_times_of_a_busy_machine_are_not_told(before: float, after: float) -> None:
    assert not any("took" in line for line in lines(compare(timed(0, before), timed(1, after))))


def test_runs_of_earlier_versions_say_no_times() -> None:
    assert compare(run(0, case("PAD.a")), timed(1, 51.0)).durations is None


def test_other_plugin_options_are_said_first() -> None:
    words = [f"--plugin mine --plugin-option slow={seconds} --hal 1.2" for seconds in (0, 0.2)]
    first, *others = timed(0, 1.0, plugin_words=words[0]), *(timed(1, 1.0, plugin_words=one) for one in words)
    said = [list(lines(compare(first, other))) for other in others]
    remark = "note: the runs have different plug-in options: slow=0, then slow=0.2"
    assert [remark in one for one in said] == [False, True]
