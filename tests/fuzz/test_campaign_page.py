"""The page of a campaign: each finding once with what replays it, each fuzzer's figures, and the curves."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_runs import case, html
from pages import Page

from npu_conformance.cli.main import main
from npu_conformance.fuzz.lib.campaign import page
from npu_conformance.fuzz.lib.campaign.documents import Finding, RoundLine, Settings
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.specs.versions import Version

SETTINGS = Settings(format=1, plugin="vendor:plugin", options={"mode": "<fast>"}, hal="1.3")
CRASH = Finding(
    name="models-crash.json", fuzzer="models", kind="crash", where="kernel <conv>", message="<script>alert(1)</script>",
    plugin="vendor:plugin", hal_version=Version.V1_3, seed=1, at=12.0, bytes=1200,
)  # fmt: skip


def line(fuzzer: str, at: float, features: int, **more: object) -> RoundLine:
    """A round of two seconds and 1,000 inputs."""
    given = {"engine": "evolution", "seconds": 2.0, "start_seconds": 1.0, "executions": 1000, "inputs": 3, "corpus": 9}
    return RoundLine(**{**given, "fuzzer": fuzzer, "at": at, "features": features, **more})  # type: ignore[arg-type]


ROUNDS = [
    line("models", 10, 50),
    line("wire", 20, 10, inputs=0),
    line("models", 40, 100, findings=("models-crash.json",), repeats={"crash: kernel <conv>": 4}, lost="it died"),
]


@pytest.fixture
def whole() -> Page:
    return Page(page.document(SETTINGS, ROUNDS, [CRASH], "0.1.0"))


def test_findings_are_listed_with_how_often_they_were_seen(whole: Page) -> None:
    (row,) = whole.rows("findings")
    assert row == [
        "crash", "kernel <conv><script>alert(1)</script>models-crash.json", "models", "12 s", "1,200", "5",
    ]  # fmt: skip
    assert len(list(whole.all("script"))) == 1


def test_a_fuzzer_has_its_figures(whole: Page) -> None:
    rows = {row[0]: row[1:] for row in whole.rows("fuzzers")}
    assert rows["models"] == ["2", "2,000", "500", "9", "100", "1", "40 s", "1"]
    assert rows["wire"] == ["1", "1,000", "500", "9", "10", "0", "never", "0"]


def test_a_fuzzer_that_cannot_attack_the_plug_in_has_lost_no_round() -> None:
    rounds = [*ROUNDS, line("manager", 50, 0, inapplicable="the plug-in has no manager")]
    rows = {row[0]: row[-1] for row in Page(page.document(SETTINGS, rounds, [], "0.1.0")).rows("fuzzers")}
    assert rows["managernot applicable: the plug-in has no manager"] == "0"


def test_a_fuzzer_that_cannot_attack_the_plug_in_has_no_curve() -> None:
    """Of twelve curves no two can be told apart."""
    rounds = [line("manager", 5, 0, inapplicable="the plug-in has no manager"), *ROUNDS]
    found = Page(page.document(SETTINGS, rounds, [], "0.1.0"))
    assert [each.text for each in found.all("text") if each.attributes["class"] == "value"] == ["models", "wire"]


def test_a_curve_rises_with_what_is_seen(whole: Page) -> None:
    curves = [each.attributes["d"] for each in whole.all("path") if "curve" in each.attributes.get("class", "")]
    assert curves[0] == "M60.0 180.0H200.0V96.0H620.0V12.0H620.0"
    bars = [each for each in whole.all("path") if each.attributes.get("class") == "bound"]
    assert len(bars) == 1


def test_a_campaign_without_rounds_has_a_page() -> None:
    empty = Page(page.document(SETTINGS, [], [], "0.1.0"))
    assert [each.attributes["id"] for each in empty.all("section") if "id" in each.attributes] == []


def test_the_command_writes_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "report", str(tmp_path)]) == 2
    CampaignFolder(tmp_path, SETTINGS).close()
    assert main(["fuzz", "report", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"
    assert "vendor:plugin" in (tmp_path / "report.html").read_text()


def test_a_campaign_is_a_section_of_a_runs_page() -> None:
    made = page.section(SETTINGS, ROUNDS, [CRASH])
    text = html([case("PAD.a")], further=[made])
    found = Page(text)
    assert text.index('<section id="fuzzing"') < text.index('<section id="requirements"')
    assert found.rows("findings")[0][0] == "crash"
    assert "3,000 inputs of 2 fuzzers in 40 s of fuzzing, HAL 1.3, mode=<fast>" in text.replace("&lt;", "<").replace(
        "&gt;", ">"
    )
