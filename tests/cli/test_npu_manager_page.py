"""The plug-in of docs/npu-manager.md is one, and the run says what it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import ROOT

from npu_conformance.cli.main import main


def test_the_plug_in_of_the_page_is_told_which_method_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "npu-manager.md").read_text(), re.DOTALL)
    (tmp_path / "manager_of_the_page.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = ["cts.npu_manager.observation", "--plugin", "manager_of_the_page:plugin", "--isolation", "inprocess"]
    assert main(["run", *words]) == 0
    out = capsys.readouterr().out
    (line,) = re.findall(r"^coverage: .*", out, re.M)
    assert re.fullmatch(
        r"coverage: (\d+) of \1 cases not supported \(100%\), mostly since ManagerControl\.\w+ is not implemented",
        line,
    )
