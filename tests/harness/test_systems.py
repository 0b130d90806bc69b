"""What is said on a system that is not Linux: one line, and exit code 2."""

from __future__ import annotations

import sys

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness import systems
from npu_conformance.harness.pytest_plugin import options

pytest_plugins = ("pytester",)


def test_linux_is_not_refused() -> None:
    assert systems.refusal() == ""


def test_the_command_says_where_it_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert main(["list", "vts"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("npu-conformance runs on Linux, and this is ")
    assert told.err.count("\n") == 1


def test_pytest_says_it_where_a_subject_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester
) -> None:
    config = pytester.parseconfig("--npu-plugin=reference")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(pytest.UsageError, match="runs on Linux"):
        options.pytest_configure(config)
