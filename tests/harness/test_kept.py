"""What is kept of the installed suites until one of their files changes."""

from __future__ import annotations

import os
import stat
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
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
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


@pytest.fixture
def no_byte_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As containers are: Python keeps no byte code. The user's cache is returned."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return root / "cache"


def test_where_python_keeps_no_byte_code_the_users_cache_has_it(root: Path, no_byte_code: Path) -> None:
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [1]]
    assert not (root / "__pycache__").exists()
    (kept_file,) = no_byte_code.rglob("value.json")
    assert keeping.folder() == kept_file.parent
    assert stat.S_IMODE(kept_file.parent.stat().st_mode) == 0o700


def test_where_the_installation_cannot_be_written_the_users_cache_has_it(root: Path) -> None:
    (root / "__pycache__").write_text("a file where the folder should be")
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [1]]


def test_two_installations_do_not_share_what_is_kept(
    root: Path, no_byte_code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = keeping.folder()
    monkeypatch.setattr(keeping, "ROOT", root / "another")
    assert keeping.folder() not in (None, first)


@pytest.mark.usefixtures("root", "no_byte_code")
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_cache_that_others_can_write_is_not_used(mode: int) -> None:
    folder = keeping.folder()
    assert folder is not None
    folder.chmod(mode)
    assert keeping.folder() is None


@pytest.mark.usefixtures("root", "no_byte_code")
def test_a_cache_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keeping.folder() is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert keeping.folder() is None


def test_where_nothing_can_be_written_it_costs_nothing_but_time(root: Path, no_byte_code: Path) -> None:
    no_byte_code.write_text("a file where the folder should be")
    made = Made()
    assert [made.asked(), made.asked()] == [[1], [2]]
    assert keeping.folder() is None


@pytest.mark.usefixtures("root", "no_byte_code")
def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert keeping.folder() is None


def test_a_lock_of_an_editor_changes_nothing(root: Path) -> None:
    """It is a link that leads nowhere, and comes and goes."""
    made = Made()
    made.asked()
    (root / "specs" / ".#file.json").symlink_to("user@host.1234")
    assert [made.asked(), made.asked()] == [[1], [1]]
