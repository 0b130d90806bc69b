"""The drawings of a page: small SVGs in the page's own colours, whose numbers stand in a table beside them.

They are templates of our own: at some 2 kB each they follow light and dark and stay text for screen readers, where a
plotting library's pictures have fixed colours, or need its JavaScript.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.report.templating import figure, render
from npu_conformance.specs.documents.results import Measurement

if TYPE_CHECKING:
    from markupsafe import Markup

_ROW = 18.0
"""The height of a line."""
_LONGEST = 32
_MANY_TIMES = 50.0
"""Beyond this ratio of the largest to the smallest value an axis is logarithmic."""
_TICKS = 4


class Layout(msgspec.Struct, frozen=True):
    """How wide a drawing is: what is left of the plot, the plot, and the numbers. name: its class in the page."""

    name: str
    left: float
    plot: float
    right: float
    names_above: bool = False
    """Names stand above their lines, not left of them."""


WIDE = Layout("wide", 220.0, 400.0, 100.0)
NARROW = Layout("narrow", 8.0, 270.0, 82.0, names_above=True)
"""For a page of a phone's width, on which the wide one's text would be half as high."""


class Axis(msgspec.Struct, frozen=True):
    """Where values stand between two ends. left, width: of the plot, in units of the drawing."""

    low: float
    high: float
    logarithmic: bool
    left: float = WIDE.left
    width: float = WIDE.plot

    def at(self, value: float) -> float:
        """The place of a value; one beyond an end stands there."""
        low, high, value = (
            math.log10(each) if self.logarithmic else each for each in (self.low, self.high, max(value, self.low))
        )
        return round(self.left + self.width * min(1.0, (value - low) / (high - low)), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Places of round values, with their text."""
        if self.logarithmic:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            values = [10.0**power for power in range(first, last + 1, max(1, (last - first) // _TICKS))]
        else:
            step = _step((self.high - self.low) / _TICKS)
            first = math.ceil(self.low / step)
            values = [step * number for number in range(first, math.floor(self.high / step) + 1)]
        return [(self.at(value), figure(value)) for value in values if self.low <= value <= self.high]


class Mark(msgspec.Struct, frozen=True):
    """One measured value. series: the number of its shape. low, high: places of its interval; None without."""

    y: float
    x: float
    series: int
    text: str
    low: float | None
    high: float | None
    bound: float | None


class Line(msgspec.Struct, frozen=True):
    """The marks of one subject. names: the lines of its name, with their places."""

    names: tuple[tuple[float, str], ...]
    marks: tuple[Mark, ...]


def axis_for(values: Sequence[float]) -> Axis:
    """An axis from zero, from below it where a value is, or a logarithmic one where values lie far apart.

    There zero stands at the beginning, a power of ten below all others.
    """
    least, most = min(values), max(values)
    above = min((value for value in values if value > 0), default=0.0)
    if least >= 0 and above and most / above > _MANY_TIMES:
        return Axis(10.0 ** (math.floor(math.log10(above)) - (least == 0)), most * 1.05, logarithmic=True)
    low = min(0.0, least)
    return Axis(low, most if most > low else low + 1.0, logarithmic=False)


def axis_of_fractions(values: Sequence[float]) -> Axis:
    """An axis of parts up to all, from the tenth below the least one where that is beyond a half."""
    least = min(values)
    return Axis(math.floor(10 * least) / 10 if 0.5 < least < 1.0 else 0.0, 1.0, logarithmic=False)


def intervals(title: str, rows: Sequence[tuple[str, Sequence[tuple[int, Measurement]]]]) -> Markup:
    """Draw values with their intervals, a line for each row: its name, and measurements with the number of a series.

    There are two drawings, of which the page shows the one that fits.
    """
    shown = [each for _, measured in rows for _, each in measured]
    is_part = all(each.unit == "fraction" and each.value <= 1.0 for each in shown)
    axis = (axis_of_fractions if is_part else axis_for)([value for each in shown for value in _values(each)] or [0.0])
    drawn = [_drawing(title, rows, replace(axis, left=each.left, width=each.plot), each) for each in (WIDE, NARROW)]
    return drawn[0] + drawn[1]


def meaning_of_lines(shown: Sequence[Measurement]) -> str:
    """What the lines of a drawing by `intervals` are, of those that it has; empty for none."""
    has_interval = any(each.low is not None and each.high is not None for each in shown)
    told = ["the line is the 95 % confidence interval"] if has_interval else []
    told += ["a dashed line is what is allowed"] if any(each.bound is not None for each in shown) else []
    sentence = "; ".join(told)
    return f"{sentence[0].upper()}{sentence[1:]}." if told else ""


def _drawing(
    title: str, rows: Sequence[tuple[str, Sequence[tuple[int, Measurement]]]], axis: Axis, layout: Layout
) -> Markup:
    lines, y = [], _ROW
    for name, measured in rows:
        names = tuple((y + _ROW * place, part) for place, part in enumerate(wrapped(name)))
        top = y + _ROW * len(names) if layout.names_above else y
        marks = tuple(_mark(axis, top + _ROW * place, series, each) for place, (series, each) in enumerate(measured))
        lines.append(Line(names, marks))
        y = max(top + _ROW * max(1, len(marks)), y + _ROW * len(names)) + _ROW / 3
    return render(
        "intervals.svg", title=title, lines=lines, ticks=axis.ticks(), layout=layout,
        height=round(y + _ROW, 1), bottom=round(y - _ROW / 3, 1),
    )  # fmt: skip


def histogram(title: str, measured: Measurement) -> Markup:
    """Draw the buckets of a measurement as bars; their heights are logarithmic, since most values are hardly off."""
    most = math.log10(1 + max(count for _, count in measured.buckets))
    width = 720.0 / len(measured.buckets)
    bars = [
        (round(number * width, 1), round(100 * math.log10(1 + count) / most if most else 0, 1), figure(value), count)
        for number, (value, count) in enumerate(measured.buckets)
    ]
    return render(
        "histogram.svg",
        title=title,
        bars=bars,
        width=round(width, 1),
        every=math.ceil(len(bars) / 16),
        bounds=[round(place * width, 1) for place in _limits(measured)],
    )


def _limits(measured: Measurement) -> list[int]:
    """Between which buckets the bound of errors lies: before the first above it, after the last below its negative."""
    if measured.bound is None:
        return []
    below = [place + 1 for place, (value, _) in enumerate(measured.buckets) if value < -abs(measured.bound)]
    above = [place for place, (value, _) in enumerate(measured.buckets) if value > abs(measured.bound)]
    return [*below[-1:], *above[:1]]


def wrapped(name: str) -> list[str]:
    """A name in two lines where it does not fit into one, such as that of a model and what it was measured on."""
    lines = textwrap.wrap(
        name, _LONGEST, max_lines=2, placeholder="…", break_long_words=False, break_on_hyphens=False
    )  # fmt: skip
    return [shortened(line) for line in lines] or [""]


def shortened(name: str) -> str:
    """A name that fits beside a plot."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _values(measured: Measurement) -> list[float]:
    """What an axis has to reach: an infinite ratio of signal to noise stands at its end."""
    values = (measured.value, measured.low, measured.high, measured.bound)
    return [each for each in values if each is not None and math.isfinite(each)]


def _mark(axis: Axis, y: float, series: int, measured: Measurement) -> Mark:
    low, high, bound = (
        None if each is None else axis.at(each) for each in (measured.low, measured.high, measured.bound)
    )
    return Mark(y, axis.at(measured.value), series, figure(measured.value), low, high, bound)


def _step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * 0.999)
