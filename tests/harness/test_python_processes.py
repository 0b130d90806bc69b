"""How processes of the suite's own find modules, and what they leave to drivers in other languages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from npu_conformance.harness.python_processes import environment, look_in_current_folder, python


def test_what_was_added_to_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "added_meanwhile.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    subprocess.run(python("-c", "import added_meanwhile"), env=environment(), check=True)


def test_another_python_is_not_led_to_the_library_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/given/first")
    folders = environment()["PYTHONPATH"].split(os.pathsep)
    assert folders[0] == "/given/first"
    assert not {os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(pytest.__file__))} & set(folders)


def test_the_current_folder_comes_behind_the_standard_library_and_before_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    look_in_current_folder()
    look_in_current_folder()
    assert sys.path.count(str(tmp_path)) == 1
    library, installed = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(pytest.__file__))
    assert sys.path.index(library) < sys.path.index(str(tmp_path)) < sys.path.index(installed)


def test_a_current_folder_that_is_gone_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    before = sys.path.copy()
    look_in_current_folder()
    assert sys.path == before
    assert "PYTHONPATH" in environment()


def test_the_ends_of_children_are_told_also_where_who_started_us_ignores_its_own(tmp_path: Path) -> None:
    words = ("-m", "npu_conformance", "run", "vts.queries.liveness.ping", "--plugin", "reference")
    done = subprocess.run(
        ["sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", *python(*words)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
