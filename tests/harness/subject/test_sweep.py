"""What dead runs have left in a folder where others can write is removed; what others put there costs no file."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from precious_folder import is_whole

from npu_conformance.harness.subject import private_directory
from npu_conformance.harness.subject.private_directory import PrivateDirectory, sweep

_NOBODY = 65534
_DEPTH = 2500
_BYSTANDERS = 8
"""How many directories are swept beside a strange one: a listing has no order, so that some come after it."""

Planting = Callable[[Path, Path], None]
"""Puts something at the first path, with the precious folder at hand."""

SWEEP = """
import os, sys
from npu_conformance.harness.subject.private_directory import sweep
sweep(sys.argv[2])
print(os.path.exists(sys.argv[1]))
"""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def owner() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as finished:
        finished.wait()
    return finished.pid


def left_by(base: Path, owner: int, name: str = "ab") -> Path:
    """A private directory with a file in it."""
    path = base / f"npu-conformance-run-{owner}-{name}"
    path.mkdir(mode=0o700)
    (path / "1").write_bytes(b"x")
    return path


def _link_to_directory(path: Path, precious: Path) -> None:
    path.symlink_to(precious)


def _link_to_file(path: Path, precious: Path) -> None:
    path.symlink_to(precious / "1")


def _link_to_itself(path: Path, precious: Path) -> None:
    path.symlink_to(path)


def _link_to_nothing(path: Path, precious: Path) -> None:
    path.symlink_to(precious / "nothing")


def _plain_file(path: Path, precious: Path) -> None:
    path.write_bytes(b"somebody's")


def _pipe(path: Path, precious: Path) -> None:
    os.mkfifo(path)


PLANTED = (_link_to_directory, _link_to_file, _link_to_itself, _link_to_nothing, _plain_file, _pipe)


@pytest.mark.parametrize("plant", PLANTED)
@pytest.mark.parametrize("uid", [pytest.param(_NOBODY, marks=only_root, id="of_another_user"), os.geteuid()])
def test_sweep_leaves_what_is_no_directory(base: Path, precious: Path, owner: int, plant: Planting, uid: int) -> None:
    strange = base / f"npu-conformance-run-{owner}-x"
    plant(strange, precious)
    os.chown(strange, uid, -1, follow_symlinks=False)
    for number in range(_BYSTANDERS):
        left_by(base, owner, str(number))
    sweep(str(base))
    assert is_whole(precious)
    assert list(base.iterdir()) == [strange]


def test_sweep_of_what_is_not_there_is_none(tmp_path: Path) -> None:
    sweep(str(tmp_path / "nothing"))
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_neighbour_does_not_keep_a_run_from_its_directory(
    base: Path, precious: Path, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for plant in PLANTED:
        plant(base / f"npu-conformance-run-{owner}-{plant.__name__}", precious)
    monkeypatch.setattr(private_directory, "_SHARED_MEMORY", str(base))
    directory = PrivateDirectory()
    assert os.path.dirname(directory.path) == str(base)
    assert os.path.isdir(directory.path)
    directory.close()
    assert is_whole(precious)


def test_sweep_removes_directories_in_directories(base: Path, owner: int) -> None:
    inner = left_by(base, owner) / "a" / "b"
    inner.mkdir(parents=True)
    for path in (inner / "file", inner.parent / "file", inner / "b"):
        path.write_bytes(b"x")
    (inner.parent / "empty").mkdir()
    sweep(str(base))
    assert not list(base.iterdir())


def test_links_in_a_private_directory_are_not_followed(base: Path, precious: Path, owner: int) -> None:
    directory = left_by(base, owner)
    (directory / "inner").mkdir()
    for folder in (directory, directory / "inner"):
        (folder / "to_directory").symlink_to(precious)
        (folder / "to_file").symlink_to(precious / "1")
    (directory / "inner" / "up").symlink_to(base)
    sweep(str(base))
    assert is_whole(precious)
    assert not list(base.iterdir())


def _dig(directory: Path) -> None:
    parent = os.open(directory, os.O_RDONLY)
    for _ in range(_DEPTH):
        os.mkdir("d", dir_fd=parent)
        inner = os.open("d", os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = inner
    os.close(parent)


def test_depth_is_no_refuge(base: Path, owner: int) -> None:
    try:
        _dig(left_by(base, owner))
        sweep(str(base))
        assert not list(base.iterdir())
    finally:
        subprocess.run(["rm", "-rf", str(base)], check=True)  # what is left is too deep for pytest to remove


@only_root
def test_directory_of_another_user_stays(base: Path, owner: int) -> None:
    directory = left_by(base, owner)
    os.chown(directory, _NOBODY, -1)
    sweep(str(base))
    assert (directory / "1").exists()


@only_root
def test_of_a_private_directory_only_own_files_go(base: Path, owner: int) -> None:
    directory = left_by(base, owner)
    (directory / "given").write_bytes(b"x")
    for folder in ("theirs", "ours/theirs"):
        (directory / folder).mkdir(parents=True)
        (directory / folder / "2").write_bytes(b"x")
    for name in ("given", "theirs", "ours/theirs"):
        os.chown(directory / name, _NOBODY, -1)
    sweep(str(base))
    left = sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))
    assert left == ["given", "ours", "ours/theirs", "ours/theirs/2", "theirs", "theirs/2"]


@pytest.mark.parametrize("call", ["lstat", "open", "rename", "rmdir", "unlink"])
def test_what_can_not_be_removed_stops_nothing(
    base: Path, owner: int, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    directory = left_by(base, owner)
    for folder in (directory, directory / "inner"):
        for name in ("stubborn", *(f"other{number}" for number in range(_BYSTANDERS))):
            (folder / name).mkdir(parents=True)
            (folder / name / "1").write_bytes(b"x")
    (directory / "inner" / "other0" / "stubborn").write_bytes(b"x")
    real = getattr(os, call)

    def refusing(path: str, *arguments: Any, **named: Any) -> Any:
        if path == "stubborn":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refusing)
        sweep(str(base))
    assert list(base.rglob("stubborn"))
    assert not list(base.rglob("other*"))


def test_what_is_mounted_in_a_private_directory_stays(base: Path, precious: Path, owner: int) -> None:
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no name space for mounts is to be had here")
    mounted = left_by(base, owner) / "mounted"
    mounted.mkdir()
    script = 'mount -t tmpfs none "$1" && touch "$1/kept" && exec "$2" -c "$3" "$1/kept" "$4"'
    arguments = (str(mounted), sys.executable, SWEEP, str(base))
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("True\n", "")


def test_a_living_run_keeps_its_directory_whatever_numbers_processes_have(base: Path, owner: int) -> None:
    living = PrivateDirectory(str(base))
    renamed = base / f"npu-conformance-run-{owner}-ab"
    os.rename(living.path, renamed)
    sweep(str(base))
    assert renamed.exists()
    living.close()
    sweep(str(base))
    assert not list(base.iterdir())


KILLED = """
import os, signal, sys
from npu_conformance.harness.subject.shared_files import FileStore
FileStore(base=sys.argv[1]).take(100, named=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_its_directory_to_the_next(base: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, str(base)], check=False).returncode == -signal.SIGKILL
    assert len(list(base.rglob("*"))) == 2
    PrivateDirectory(str(base)).close()
    assert not list(base.iterdir())


KILLED_WITH_TEMPORARY_FILES = """
import os, signal
from npu_conformance.harness.subject.private_directory import temporary_folder
with temporary_folder() as folder:
    (folder / "cache").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_files_of_a_killed_process_are_left_to_the_next(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "TMPDIR": str(base)}
    subprocess.run([sys.executable, "-c", KILLED_WITH_TEMPORARY_FILES], check=False, env=environment)
    assert [path.name for path in base.rglob("*")][1:] == ["cache"]
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with private_directory.temporary_folder() as folder:
        assert list(base.iterdir()) == [folder]
    assert not list(base.iterdir())
