"""The page in a browser, where there is one: its script runs under its own policy, and nothing goes wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, shown
from made_runs import EVERYTHING, WAIVERS, html

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def test_the_filter_is_there_once_the_script_has_run(tmp_path: Path) -> None:
    page, said = shown(html(EVERYTHING, waivers=WAIVERS), tmp_path)
    assert said == []
    assert next(page.all("output")).text == f"{len(EVERYTHING)} of {len(EVERYTHING)}"
    assert [each for each in page.elements if "hidden" in each.attributes] == []


def test_an_empty_page_has_no_error(tmp_path: Path) -> None:
    page, said = shown(html([]), tmp_path)
    assert said == []
    assert list(page.all("output")) == []


def test_a_script_of_somebody_else_does_not_run(tmp_path: Path) -> None:
    text = html(EVERYTHING).replace("</footer>", "</footer><script>document.title = 'taken'</script>")
    page, said = shown(text, tmp_path)
    assert next(page.all("title")).text != "taken"
    assert any("Content Security Policy" in line for line in said)
