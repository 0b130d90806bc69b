"""Plots as SVG: lines over an axis, and bars by category."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 860, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 150, 15, 55
_FONT = 'font-family="sans-serif" font-size="12"'
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that people with colour blindness can distinguish; dashes help where there are more series."""
_LEAST = 2.0
"""Height of the bar of a value that is next to nothing: it can be seen that there is one."""
_DASHES = ("", "7 3", "2 3")


@dataclass(frozen=True)
class Axis:
    """What an axis shows, with its unit. logarithmic_from: its left end if logarithmic; None for linear, from 0."""

    label: str
    logarithmic_from: float | None = None


@dataclass(frozen=True)
class Series:
    """Points by ascending x. is_stepped: a value holds until the next."""

    name: str
    points: list[tuple[float, float]]
    is_stepped: bool = False


class _Scale:
    """Maps values to pixels."""

    def __init__(self, most: float, begin: float, end: float, logarithmic_from: float | None = None) -> None:
        self._least = logarithmic_from
        self._begin = begin
        self._length = end - begin
        self.ticks = _ticks(most) if logarithmic_from is None else _decades(logarithmic_from, most)

    def __call__(self, value: float) -> float:
        if self._least is None:
            share = value / self.ticks[-1]
        else:
            share = math.log10(max(value, self._least) / self._least) / (len(self.ticks) - 1)
        return round(self._begin + share * self._length, 1)


def _ticks(most: float) -> list[float]:
    """Ticks from 0 to at least `most`, in four to ten steps of 1, 2 or 5 times a power of ten."""
    if most <= 0:
        return [0, 1]
    power = 10 ** math.floor(math.log10(most / 4))
    step = next(factor * power for factor in (1, 2, 5, 10) if most / (factor * power) <= 8)
    return [round(index * step, 10) for index in range(math.ceil(most / step - 1e-9) + 1)]


def _decades(least: float, most: float) -> list[float]:
    """Ticks from the least to at least `most`, by powers of ten."""
    count = max(1, math.ceil(math.log10(max(most, least) / least) - 1e-9))
    return [least * 10**decade for decade in range(count + 1)]


def lines(series: Sequence[Series], x_axis: Axis, y_axis: Axis) -> str:
    """Draw a line for each series; one without points keeps its colour, so that the plots of one page agree."""
    drawn = [each for each in series if each.points]
    across = _Scale(
        max((x for each in drawn for x, _ in each.points), default=1),
        _LEFT,
        _WIDTH - _RIGHT,
        x_axis.logarithmic_from,
    )
    up = _Scale(max((y for each in drawn for _, y in each.points), default=1), _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(up, y_axis.label), *_x_ticks(across, x_axis.label)]
    for index, each in enumerate(series):
        if not each.points:
            continue
        parts.append(_line(index, _path([(across(x), up(y)) for x, y in each.points], each.is_stepped)))
    names = [each.name if each.points else "" for each in series]
    return _svg([*parts, *_legend(names, _line_key)], f"{y_axis.label} by {x_axis.label}")


def bars(values: Mapping[str, Mapping[str, float]], label: str) -> str:
    """Draw the bars of all series for each category. values: by series and category; a missing one has no bar."""
    categories = list(dict.fromkeys(category for each in values.values() for category in each))
    up = _Scale(max((value for each in values.values() for value in each.values()), default=1), _HEIGHT - _BOTTOM, _TOP)
    slot = (_WIDTH - _RIGHT - _LEFT) / max(1, len(categories))
    width = slot * 0.8 / max(1, len(values))
    parts = _grid(up, label)
    for place, category in enumerate(categories):
        left = _LEFT + slot * (place + 0.1)
        parts += _category(category, left + slot * 0.4)
        for index, (name, each) in enumerate(values.items()):
            if category in each:
                top = min(up(each[category]), _HEIGHT - _BOTTOM - _LEAST)
                parts.append(
                    f'<rect x="{left + index * width:.1f}" y="{top}" width="{width * 0.9:.1f}" '
                    f'height="{_HEIGHT - _BOTTOM - top:.1f}" fill="{_colour(index)}">'
                    f"<title>{escape(name)}, {escape(category)}: {each[category]:.3f}</title></rect>"
                )
    return _svg([*parts, *_legend(list(values), _bar_key)], label)


def _category(name: str, middle: float) -> list[str]:
    """Draw the words of a category below each other."""
    words = name.split(", ")
    return [_text(middle, _HEIGHT - _BOTTOM + 16 + 14 * row, word, "middle") for row, word in enumerate(words)]


def _grid(up: _Scale, label: str) -> list[str]:
    parts = []
    for tick in up.ticks:
        parts.append(f'<path d="M{_LEFT} {up(tick)}H{_WIDTH - _RIGHT}" class="grid" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, up(tick) + 4, f"{tick:g}", "end"))
    middle = (_HEIGHT - _BOTTOM + _TOP) / 2
    turned = f' transform="rotate(-90 16 {middle})"'
    return [*parts, _text(16, middle, label, "middle", turned)]


def _x_ticks(across: _Scale, label: str) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    parts = [f'<path d="M{across(tick)} {bottom}v5" class="tick" stroke="#222"/>' for tick in across.ticks]
    parts += [_text(across(tick), bottom + 18, f"{tick:g}", "middle") for tick in across.ticks]
    return [*parts, _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, label, "middle")]


def _path(points: Sequence[tuple[float, float]], is_stepped: bool) -> str:
    (x, y), *rest = points
    steps = "".join(f"H{x}V{y}" if is_stepped else f"L{x} {y}" for x, y in rest)
    return f"M{x} {y}{steps}"


def _line(index: int, path: str) -> str:
    dash = f' stroke-dasharray="{_DASHES[index % 3]}"' if _DASHES[index % 3] else ""
    return f'<path d="{path}" fill="none" stroke="{_colour(index)}" stroke-width="2"{dash}/>'


def _line_key(index: int, left: float, top: float) -> str:
    return _line(index, f"M{left - 6} {top + 6}h20")


def _bar_key(index: int, left: float, top: float) -> str:
    return f'<rect x="{left}" y="{top}" width="12" height="12" fill="{_colour(index)}"/>'


def _legend(names: Sequence[str], key: Callable[[int, float, float], str]) -> list[str]:
    """Names beside what their series is drawn with. key: draws it, by the number of the series and its place."""
    left = _WIDTH - _RIGHT + 15
    parts = []
    for index, name in enumerate(names):
        if not name:
            continue
        top = _TOP + 20 * index
        parts.append(key(index, left, top))
        parts.append(_text(left + 18, top + 10, name))
    return parts


def _text(x: float, y: float, text: str, anchor: str = "start", further: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{further}>{escape(text)}</text>'


def _colour(index: int) -> str:
    return _COLOURS[index % len(_COLOURS)]


def _svg(parts: Sequence[str], title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" {_FONT}>'
    )
    return f"{head}\n<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>"
