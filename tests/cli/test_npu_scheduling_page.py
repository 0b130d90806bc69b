"""The plug-in of docs/npu-scheduling.md is one, without red cases, and the run says what it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import ROOT

from npu_conformance.cli.main import main


def test_the_plug_in_of_the_page_is_told_which_methods_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "npu-scheduling.md").read_text(), re.DOTALL)
    (tmp_path / "scheduling_of_the_page.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    areas = [f"vts.npu_scheduling.{area}" for area in ("callback", "configs", "observation")]
    assert main(["run", *areas, "--plugin", "scheduling_of_the_page:plugin", "--isolation", "inprocess"]) == 0
    lines = capsys.readouterr().out.splitlines()
    lacking = "Scheduling.setSchedulingConfigs"
    assert f"  methods of the scheduling HAL that are not implemented: {lacking}" in lines
