"""The timeline of the NPU: a drawing whose whole content stands in tables, and no more of it than a page bears."""

from __future__ import annotations

import re

from made_runs import APPS, html
from msgspec.structs import replace

from npu_conformance.specs.documents.results import NpuSpan


def part(text: str) -> str:
    return text[text.index('<section id="npu-timeline"') : text.index('<section id="requirements"')]


def cells(row: str) -> list[str]:
    return [re.sub("<[^>]*>", "", cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)]


def test_each_app_has_its_seconds_and_its_end() -> None:
    rows = [cells(row) for row in re.findall("<tr>.*?</tr>", part(html([APPS]))) if 'scope="row"' in row]
    assert rows[0] == ["app 1", "0.1", "0.2", "0.2", "0", "0", "1", "0", "5", "✗ died at 0.5 s, running"]
    assert rows[1] == ["app 2", "0.4", "0", "0.3", "0.1", "0.1", "1", "1", "8", "✓ left"]
    assert rows[2:5] == [
        ["app 1", "blocked", "0", "0.1", ""],
        ["app 1", "loading", "0.1", "0.3", ""],
        ["app 2", "blocked", "0.1", "0.5", ""],
    ]


def test_every_span_is_a_bar_with_words() -> None:
    text = part(html([APPS]))
    assert len(re.findall("<rect", text[text.index("<figure") :])) == len(APPS.timeline)
    assert "<title>app 2: running from 0.5 to 0.8 s, 7 inferences</title>" in text
    assert text.count("✗ died</text>") == 1


def test_hours_of_spans_are_cut_and_counted() -> None:
    many = tuple(NpuSpan("app 1", "running", float(at), at + 1.0) for at in range(5000))
    text = html([replace(APPS, timeline=many)])
    assert len(text) < 300_000
    assert "4,600 later ones are neither drawn nor listed" in text


def test_a_timeline_of_no_length_is_drawn() -> None:
    assert "<rect" in part(html([replace(APPS, timeline=(NpuSpan("app 1", "blocked", 0.0, 0.0),))]))
