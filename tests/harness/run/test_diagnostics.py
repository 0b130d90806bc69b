"""Logs and traces of a run: what cannot begin is named, and leaves nothing behind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.harness.wire import wire_log
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.documents import DocumentError

VARIABLES = (vlog.FILE_VARIABLE, trace.VARIABLE, wire_log.VARIABLE)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that asks for the lines of drivers, and names no file."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(vlog.VARIABLE, "driver")
    vlog.enabled_tags.cache_clear()
    trace.path.cache_clear()
    yield
    vlog.enabled_tags.cache_clear()
    trace.path.cache_clear()


def begun() -> list[str]:
    """What goes on, in this process and all that it starts."""
    return [name for name in VARIABLES if name in os.environ]


def test_everything_ends_with_the_run(tmp_path: Path) -> None:
    with diagnosed(tmp_path / "trace", tmp_path / "log", tmp_path / "wire"):
        assert begun() == [*VARIABLES]
    assert begun() == []
    assert json.loads((tmp_path / "trace").read_text())


def test_what_cannot_begin_ends_what_has_begun(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught, diagnosed(tmp_path / "trace", tmp_path / "log", tmp_path):
        pytest.fail("nothing can run")
    assert str(caught.value) == f"{tmp_path}: Is a directory"
    assert begun() == []
    assert json.loads((tmp_path / "trace").read_text()), "it is whole"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_impossible_name_is_no_mistake_in_the_tags(tmp_path: Path, which: int) -> None:
    impossible = tmp_path / "a\0b"
    with pytest.raises(DocumentError) as caught, diagnosed(*(impossible if n == which else None for n in range(3))):
        pytest.fail("nothing can run")
    assert str(caught.value).endswith("b: embedded null byte"), caught.value


def test_a_mistake_in_the_tags_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(vlog.VARIABLE, "drivers")
    with pytest.raises(DocumentError) as caught, diagnosed():
        pytest.fail("nothing can run")
    told = "NPU_VLOG: no tag 'drivers'; there are compilation cpuexe driver execution manager model, and all or 1"
    assert str(caught.value) == told


def test_a_file_of_the_environment_that_cannot_be_begun_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(trace.VARIABLE, str(tmp_path / "none" / "trace"))
    with pytest.raises(DocumentError) as caught, diagnosed():
        pytest.fail("nothing can run")
    assert str(caught.value) == f"{tmp_path / 'none' / 'trace'}: No such file or directory"
