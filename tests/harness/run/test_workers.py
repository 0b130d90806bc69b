"""Who does the parts of long work."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.run import workers
from npu_conformance.harness.subject.plugin_loading import LoadError


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_CONNECT_SECONDS", 0.2)
    with (
        pytest.raises(LoadError, match=r"--scheduler tcp://127.0.0.1:1: \w+: "),
        workers.cluster("tcp://127.0.0.1:1"),
    ):
        pass


def test_dask_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LoadError, match="Dask is not installed"), workers.cluster("tcp://127.0.0.1:1"):
        pass


@pytest.mark.parametrize("command", [["run", "vts.queries"], ["graphs"]])
def test_it_is_said_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([*command, "--plugin", "nonsense", "--scheduler", "tcp://127.0.0.1:1"]) == 2
    said = capsys.readouterr()
    assert (said.out, "Dask is not installed" in said.err) == ("", True)
