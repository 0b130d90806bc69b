"""The page is for everybody: axe-core finds nothing against it, where there are a browser and axe-core.

axe-core is the file axe.min.js that the variable AXE_CORE names, or that of the package axe-playwright-python.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import CHROMIUM, shown
from made_runs import EVERYTHING, WAIVERS, html, summary

from npu_conformance.harness.report import comparison_page
from npu_conformance.harness.report.comparison import ComparedRun, compared
from npu_conformance.harness.run.baseline import is_regression


def axe_core() -> Path | None:
    """Where axe-core is, if it is anywhere."""
    package = importlib.util.find_spec("axe_playwright_python")
    named = os.environ.get("AXE_CORE") or (package and package.origin and Path(package.origin).with_name("axe.min.js"))
    return Path(named) if named else None


AXE = axe_core()
DARK = "@media (prefers-color-scheme: dark)"
ASK = """
<script>%s</script>
<script>
document.querySelectorAll("details").forEach(each => each.open = true);
axe.run().then(found => {
  const said = found.violations.map(each => each.id + ": " + each.nodes.map(node => node.target.join(" ")).join(", "));
  document.documentElement.dataset.axe = JSON.stringify({checked: found.passes.length, violations: said});
});</script>
"""

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(AXE is None, reason="no axe-core: pip install axe-playwright-python, or AXE_CORE=axe.min.js"),
]


def violations(text: str, folder: Path) -> list[str]:
    """What axe-core finds, each with its elements; the page's policy, under which no other script runs, is left out."""
    assert AXE is not None
    free = text.replace('http-equiv="Content-Security-Policy"', 'name="policy"')
    page, _ = shown(
        free.replace("</body>", ASK % AXE.read_text(encoding="utf-8") + "</body>"),
        folder,
        "--virtual-time-budget=60000",
    )
    said = json.loads(page.elements[0].attributes["data-axe"])
    assert said["checked"] > 10
    return list(said["violations"])


def of_everything() -> str:
    return html(EVERYTHING, waivers=WAIVERS)


def of_two_runs() -> str:
    runs = [
        ComparedRun(day, summary(*verdicts, time=f"2030-01-{day}T08:00:00Z").results)
        for day, verdicts in (("14", EVERYTHING), ("15", EVERYTHING[::2]))
    ]
    return comparison_page.document(compared(runs, is_regression))


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("page", [of_everything, of_two_runs])
def test_a_page_has_no_violation(page: Callable[[], str], colours: str, tmp_path: Path) -> None:
    text = page()
    assert DARK in text
    assert violations(text.replace(DARK, "@media screen") if colours == "dark" else text, tmp_path) == []


def test_what_nobody_can_read_is_found(tmp_path: Path) -> None:
    text = html(EVERYTHING).replace("<h1", '<p style="color: #eee; background: #fff">pale</p><a href="#cases"></a><h1')
    names = [each.partition(":")[0] for each in violations(text, tmp_path)]
    assert "color-contrast" in names
    assert "link-name" in names
