"""The page in a browser, where there is one: its script runs under its own policy, and nothing goes wrong in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from made_runs import EVERYTHING, WAIVERS, html
from pages import Page
from patience import SECONDS

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--enable-logging=stderr",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def shown(text: str, folder: Path) -> tuple[Page, list[str]]:
    """The page as it is after its script has run, and what the browser says of it."""
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    return Page(done.stdout), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


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
