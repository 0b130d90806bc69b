"""The badge: the verdict in a few words, as SVG that is whole."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from made_runs import case, summary, waiver

from npu_conformance.harness.report.badge import badge, message
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Disposition, Outcome

KNOWN = case("PAD.a", Outcome.FAIL, dispositions=(Disposition.KNOWN,))


@pytest.mark.parametrize(
    ("verdicts", "run", "told"),
    [
        ([case("PAD.a")], {}, "conformant HAL 1.2"),
        ([case("PAD.a"), case("PAD.b", Outcome.FAIL), case("PAD.c", Outcome.CRASH)], {}, "2 failed, HAL 1.2"),
        ([case("PAD.a", Outcome.SUITE_ERROR)], {}, "suite failed, HAL 1.2"),
        ([case("PAD.a", Outcome.NOT_SUPPORTED)], {}, "not fully tested, HAL 1.2"),
        ([case("PAD.a", Outcome.FAIL), case("PAD.b", Outcome.NOT_RUN)], {}, "1 failed, 1 not run, HAL 1.2"),
        ([case("PAD.a", Outcome.FAIL)], {"waivers": [waiver("vts.*")]}, "1 waived failure, HAL 1.2"),
        ([KNOWN], {}, "1 known failure, HAL 1.2"),
        ([KNOWN, case("PAD.b", Outcome.CRASH)], {"waivers": [waiver("*.b")]}, "1 known, 1 waived failures, HAL 1.2"),
        ([case("PAD.a")], {"waivers": [waiver("vts.*")]}, "1 finding, HAL 1.2"),
    ],
)
def test_the_message_is_the_verdict(verdicts: list[CaseResult], run: dict[str, Any], told: str) -> None:
    assert message(summary(*verdicts, **run).results) == told


def test_the_badge_is_svg_that_says_what_it_shows() -> None:
    root = ElementTree.fromstring(badge(summary(case("PAD.a"), hal_version="<&>").results))
    assert root.attrib["aria-label"] == "NPU conformance: conformant HAL <&>"
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["NPU conformance", "conformant HAL <&>"]
