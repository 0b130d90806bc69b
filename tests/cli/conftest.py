"""The command as a vendor gives it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from places import HOSTILE
from vendor_command import Command

from npu_conformance.cli.main import main


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in an empty folder, where the plug-ins of the tests can be imported."""
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HOSTILE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run
