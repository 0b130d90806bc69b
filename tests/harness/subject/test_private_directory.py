"""A plug-in may do what it likes to the private directory of its run: the run goes on, and no other file is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from places import HOSTILE
from precious_folder import is_whole

from npu_conformance.harness.judge.verdicts import NoSharedMemory
from npu_conformance.harness.subject import private_directory
from npu_conformance.harness.subject.files import CacheFile
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.private_directory import PrivateDirectory
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.shared_files import FileStore

PLUGINS = HOSTILE
_NOBODY = 65534

Harm = Callable[[Path, Path], None]
"""Does something to the directory at the first path, with the precious folder at hand."""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def subject(monkeypatch: pytest.MonkeyPatch, base: Path) -> RemoteSubject:
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setattr(private_directory, "_SHARED_MEMORY", str(base))
    subject = open_subject("echo_plugin:plugin")
    assert isinstance(subject, RemoteSubject)
    return subject


def _replaced(directory: Path, precious: Path) -> None:
    directory.rename(directory.parent / "moved")
    directory.symlink_to(precious)


def _removed(directory: Path, precious: Path) -> None:
    shutil.rmtree(directory)


def _file_instead(directory: Path, precious: Path) -> None:
    shutil.rmtree(directory)
    directory.write_bytes(b"")


def _directory_instead(directory: Path, precious: Path) -> None:
    directory.rename(directory.parent / "moved")
    directory.mkdir()
    (directory / "1").mkdir()


def _use_pools(subject: RemoteSubject) -> None:
    for _ in range(2):
        subject.memory.create("ashmem", 100).close()
        subject.ping()  # attached: the driver reaches the bytes by their path


def _use_files(subject: RemoteSubject) -> None:
    file = subject.files.create(b"abc")
    subject.files.close(subject.files.open(file))
    subject.ping()
    file.close()


def _use_applications(subject: RemoteSubject) -> None:
    for uid in (10001, 10002):
        application = subject.application(uid)
        application.memory.create("ashmem", 100).close()
        application.close()


@pytest.mark.parametrize("harm", [_replaced, _removed, _file_instead, _directory_instead])
@pytest.mark.parametrize("use", [_use_pools, _use_files, _use_applications])
def test_a_run_survives_the_loss_of_its_directory(
    subject: RemoteSubject, precious: Path, harm: Harm, use: Callable[[RemoteSubject], None]
) -> None:
    directory = Path(subject._endpoint.store.directory)
    used, kept = subject.memory.create("ashmem", 100), subject.memory.create("ashmem", 100)
    kept.close()
    subject.application(10003).close()
    subject.ping()  # what was sent is handled: the harm comes between two cases
    harm(directory, precious)
    use(subject)
    used.close()
    subject.close()
    assert is_whole(precious)
    assert [path for path in directory.parent.rglob("*") if path.name != "moved"] == []


def test_access_is_given_back(base: Path) -> None:
    directory = PrivateDirectory(str(base))
    os.chmod(directory.path, 0)
    assert not directory.place()
    assert os.stat(directory.path).st_mode & 0o777 == 0o700
    directory.close()


@only_root
def test_a_directory_that_was_given_away_is_taken_back(base: Path) -> None:
    directory = PrivateDirectory(str(base))
    os.chown(directory.path, _NOBODY, -1)
    assert not directory.place()
    assert os.stat(directory.path).st_uid == os.geteuid()
    directory.close()


def test_where_nothing_can_be_made_one_line_says_so(base: Path) -> None:
    with pytest.raises(NoSharedMemory, match="no directory can be made there: No such file or directory"):
        PrivateDirectory(str(base / "nothing"))


def test_the_end_of_a_run_empties_no_other_folder(subject: RemoteSubject, precious: Path) -> None:
    directory = Path(subject._endpoint.store.directory)
    pool, file = subject.memory.create("ashmem", 100), subject.files.create(b"abc")
    _replaced(directory, precious)
    for name in os.listdir(directory.parent / "moved"):
        (precious / name).write_bytes(b"precious")
    before = sorted(precious.iterdir())
    pool.apart = True  # its file is removed by name
    pool.close()
    file.close()
    subject.close()
    assert sorted(precious.iterdir()) == before
    assert not os.path.lexists(directory)


def test_directories_of_a_driver_do_not_outlive_the_run(subject: RemoteSubject, base: Path) -> None:
    inner = Path(subject._endpoint.store.directory) / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x")
    subject.close()
    assert not list(base.iterdir())


def test_what_was_put_in_the_place_of_a_file_is_not_used(precious: Path, base: Path) -> None:
    store = FileStore()
    file = store.take(100, named=True)
    path = Path(str(file.path))
    store.give_back(file)
    path.unlink()
    path.symlink_to(precious / "1")
    other = store.take(100, named=True)
    other.write(0, b"y" * 100)
    assert (other.path != str(path), is_whole(precious)) == (True, True)
    other.remove()
    store.close()
    assert (precious / "1").read_bytes() == b"precious"


def test_a_file_of_the_same_name_is_not_removed_instead(tmp_path: Path) -> None:
    file = CacheFile(str(tmp_path), b"abc")
    path = Path(file.path)
    path.rename(tmp_path / "moved")
    path.write_bytes(b"precious")
    file.close()
    assert path.read_bytes() == b"precious"


def test_a_cache_file_is_not_made_through_a_link(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "link").symlink_to(precious)
    with pytest.raises(NoSharedMemory, match="Not a directory"):
        CacheFile(str(tmp_path / "link"), b"abc")
    assert is_whole(precious)
