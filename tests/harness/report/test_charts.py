"""Charts show what was measured: places follow values, ticks are round, bounds stand where they are."""

from __future__ import annotations

import itertools
import math
import re

import pytest
from made_runs import latency
from msgspec.structs import replace

from npu_conformance.harness.report import charts
from npu_conformance.specs.documents.results import Measurement


def test_places_are_proportional_to_values() -> None:
    axis = charts.axis_for([1.0, 4.0])
    zero, one, four = axis.at(0.0), axis.at(1.0), axis.at(4.0)
    assert four - zero == pytest.approx(4 * (one - zero))
    assert not axis.logarithmic


def test_values_far_apart_have_a_logarithmic_axis() -> None:
    axis = charts.axis_for([0.2, 900.0])
    assert axis.logarithmic
    assert axis.at(10.0) - axis.at(1.0) == pytest.approx(axis.at(100.0) - axis.at(10.0), abs=0.2)
    assert [text for _, text in axis.ticks()] == ["0.1", "1", "10", "100"]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([14.2], ["0", "5", "10"]),
        ([0.94, 0.97], ["0", "0.5"]),
        ([-3.0, 5.0], ["-2", "0", "2", "4"]),
        ([0.0], ["0", "0.5", "1"]),
        ([0.0, 2000.0], ["0", "500", "1,000", "1,500", "2,000"]),
    ],
)
def test_ticks_are_round(values: list[float], ticks: list[str]) -> None:
    assert [text for _, text in charts.axis_for(values).ticks()] == ticks


def test_zero_stands_before_values_far_apart() -> None:
    axis = charts.axis_for([0.0, 1e-9, 1e-4])
    assert axis.logarithmic
    assert axis.at(0.0) < axis.at(1e-9) < axis.at(1e-4)


@pytest.mark.parametrize(("values", "low"), [([0.94, 0.97], 0.9), ([0.83, 1.0], 0.8), ([0.4, 1.0], 0.0), ([1.0], 0.0)])
def test_parts_end_at_all(values: list[float], low: float) -> None:
    axis = charts.axis_of_fractions(values)
    assert (axis.low, axis.high) == (low, 1.0)


def test_an_interval_and_a_bound_stand_where_they_are() -> None:
    drawn = charts.intervals("t", [("m", [(0, latency("m", 2.0, low=1.0, high=3.0, bound=4.0))])])
    place = charts.axis_for([1.0, 2.0, 3.0, 4.0]).at
    assert f'cx="{place(2.0)}"' in drawn
    assert re.search(rf'class="whisker s0" d="M{place(1.0)} .*H{place(3.0)}', drawn)
    assert f'class="bound" d="M{place(4.0)} ' in drawn


def bare(value: float, low: float | None = None, high: float | None = None, bound: float | None = None) -> Measurement:
    """A value without an interval, unless it is given one."""
    return latency("m", value, low=low, high=high, bound=bound)


def test_the_narrow_drawing_has_the_same_marks_and_its_names_above_them() -> None:
    rows = [("digits", [(0, bare(2.0)), (1, bare(4.0))])]
    wide, narrow = charts.intervals("t", rows).split("</svg>")[:2]
    place = replace(charts.axis_for([2.0, 4.0]), left=charts.NARROW.left, width=charts.NARROW.plot).at
    assert 'viewBox="0 0 720.0 ' in wide
    assert 'viewBox="0 0 360.0 ' in narrow
    assert f'cx="{place(2.0)}"' in narrow
    name, *marks = (float(y) for y in re.findall(r'<text(?: class="value")? x="[\d.]+" y="([\d.]+)"', narrow))
    assert [mark - name for mark in marks] == [18.0, 36.0]


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        ([bare(1.0)], ""),
        ([bare(1.0), bare(1.0, low=0.5, high=2.0)], "The line is the 95 % confidence interval."),
        ([bare(1.0, bound=2.0)], "A dashed line is what is allowed."),
        (
            [bare(1.0, low=0.5, high=2.0, bound=2.0)],
            "The line is the 95 % confidence interval; a dashed line is what is allowed.",
        ),
    ],
)
def test_the_legend_names_the_lines_that_are_there(shown: list[Measurement], lines: str) -> None:
    assert charts.meaning_of_lines(shown) == lines


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_stands_at_an_end(value: float) -> None:
    for other in (1.0, value):
        drawn = charts.intervals("t", [("m", [(0, latency("m", value)), (1, latency("m", other))])])
        assert not re.search('="[^"]*(inf|nan)', drawn)
        assert str(value) in drawn


def test_each_series_has_a_shape_of_its_own() -> None:
    shapes = {
        re.sub(r"[\d.]+", "", re.findall(r"<(?:circle|path) class=\"s\d.*", drawn)[0])
        for drawn in (charts.intervals("t", [("m", [(series, latency("m", 1.0))])]) for series in range(4))
    }
    assert len(shapes) == 4


def test_bars_grow_with_their_counts_and_the_bound_stands_before_what_is_beyond() -> None:
    buckets = ((0.0, 1000), (1.0, 10), (2.0, 1), (4.0, 0))
    drawn = charts.histogram("t", Measurement(subject="m", name="n", unit="steps", value=1, buckets=buckets, bound=1.0))
    heights = [float(height) for height in re.findall(r'class="bar".*height="([\d.]+)"', drawn)]
    assert heights == sorted(heights, reverse=True)
    assert (heights[0], heights[-1]) == (100.0, 0.0)
    assert re.findall(r'class="bound" d="M([\d.]+) ', drawn) == ["360.0"]


def test_errors_have_a_bound_on_both_sides() -> None:
    buckets = tuple((float(value), 5) for value in range(-3, 5))
    drawn = charts.histogram("t", Measurement(subject="m", name="n", unit="steps", value=1, buckets=buckets, bound=2.0))
    assert re.findall(r'class="bound" d="M([\d.]+) ', drawn) == ["90.0", "540.0"]


def test_long_names_have_two_lines_before_they_are_cut() -> None:
    assert charts.wrapped("digits_conv_int8 litert-optimized") == ["digits_conv_int8", "litert-optimized"]
    assert charts.wrapped("digits_conv litert") == ["digits_conv litert"]
    assert charts.wrapped(f"{'m' * 40} litert") == ["m" * 31 + "…", "litert"]
    rows = [("digits_separable_int8 litert-optimized", [(0, bare(2.0))]), ("other", [(0, bare(2.0))])]
    for layout in charts.intervals("t", rows).split("</svg>")[:2]:
        assert "digits_separable_int8</text>" in layout
        assert "litert-optimized</text>" in layout
        places = [float(y) for y in re.findall(r'<text(?: class="name")? x="[\d.]+" y="([\d.]+)"', layout)]
        assert all(second - first >= 18.0 for first, second in itertools.pairwise(places))


def test_long_names_are_shortened() -> None:
    assert charts.shortened("m" * 40) == "m" * 31 + "…"
    assert charts.shortened("m" * 32) == "m" * 32
