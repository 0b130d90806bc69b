"""What is kept of the installed suites until one of their files changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_conformance.harness import kept as keeping
from npu_conformance.harness.kept import kept


class Made:
    """Counts how often the value is made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> list[int]:
        """A new value."""
        self.times += 1
        return [self.times]

    def asked(self) -> list[int]:
        """The value, as a process that starts now sees it."""
        keeping._stamp.cache_clear()
        return kept("value", list[int], self)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation with a file in each folder."""
    for folder in keeping.SUITE_FOLDERS:
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep" / "file.json").write_text("1")
    monkeypatch.setattr(keeping, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    yield tmp_path
    keeping._stamp.cache_clear()


def test_a_value_is_made_once(root: Path) -> None:
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [1]]
    assert sorted(path.name for path in (root / "__pycache__").iterdir()) == ["value.json"]


@pytest.mark.parametrize("folder", keeping.SUITE_FOLDERS)
def test_it_is_made_again_when_a_file_changes_comes_or_goes(root: Path, folder: str) -> None:
    made = Made()
    made.asked()
    (root / folder / "deep" / "file.json").write_text("2")
    assert made.asked() == [2]
    (root / folder / "new.py").write_text("")
    assert made.asked() == [3]
    (root / folder / "new.py").unlink()
    assert made.asked() == [4]
    assert made.asked() == [4]


def test_byte_code_that_is_written_changes_nothing(root: Path) -> None:
    made = Made()
    made.asked()
    (root / "specs" / "__pycache__").mkdir()
    (root / "specs" / "__pycache__" / "new.pyc").write_text("")
    assert made.asked() == [1]


@pytest.mark.parametrize("content", ["", "no stamp", '{"half', "\xff"])
def test_a_broken_copy_is_made_again(root: Path, content: str) -> None:
    made = Made()
    made.asked()
    path = root / "__pycache__" / "value.json"
    stamp = path.read_bytes().partition(b"\n")[0]
    path.write_bytes(stamp + b"\n" + content.encode("latin-1"))
    assert [made.asked(), made.asked()] == [[2], [2]]


def test_a_copy_of_another_kind_is_made_again(root: Path) -> None:
    kept("value", str, lambda: "text")
    assert Made().asked() == [1]


def test_nothing_is_kept_where_python_keeps_no_byte_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [2]]
    assert not (root / "__pycache__").exists()
    assert keeping.folder() is None


def test_a_place_that_cannot_be_written_costs_nothing_but_time(root: Path) -> None:
    (root / "__pycache__").write_text("a file where the folder should be")
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [2]]
    assert keeping.folder() is None
