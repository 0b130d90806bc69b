"""Cache files on their way to a driver: path, descriptor and message allow the same, and show the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.files import CacheFile, Files, ServedFiles
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.files import HostFiles
from npu_conformance.harness.wire.paths import EVERYWHERE
from npu_conformance.specs.errors import IllegalArgument, IllegalState, SecurityDenied
from npu_conformance.specs.plugin import File

TRANSPORTS = ("path", "descriptor", "message")


class Attacher:
    """Both ends in one process."""

    def __init__(self) -> None:
        self.host, self.served = HostFiles(), ServedFiles()

    def attach(self, request: protocol.FileAttach, descriptor: int | None) -> None:
        self.host.attach(request, None if descriptor is None else os.dup(descriptor), self.served, EVERYWHERE)

    def detach(self, token: int) -> None:
        self.host.detach(protocol.FileToken(token))
        self.served.close(token)


class FileFixture:
    """A cache file, and a driver that reaches it."""

    def __init__(self, folder: Path, transport: str) -> None:
        self.attacher, self.transport = Attacher(), transport
        self.files = Files(self.attacher, lambda: str(folder), TRANSPORTS)
        self.file = self.files.create(b"0123456789")

    def open(self, access: str = "read_write", offset: int = 0) -> tuple[int, File]:
        token = self.files.open(self.file, access, offset, transport=self.transport)  # type: ignore[arg-type]
        return token, self.attacher.host.open(token)


@pytest.fixture(params=TRANSPORTS)
def fixture(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileFixture]:
    made = FileFixture(tmp_path, request.param)
    yield made
    made.attacher.served.close_all()
    made.file.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("offset", [-1, 1 << 63, 1 << 64])
def test_an_offset_that_no_file_has_is_refused_and_leaves_nothing_open(tmp_path: Path, offset: int) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    request = protocol.FileAttach(5, "path", "read", offset, str(tmp_path / "file"))
    before = os.listdir("/proc/self/fd")
    with pytest.raises(IllegalArgument, match=f"no file has an offset of {offset}"):
        HostFiles().attach(request, None, ServedFiles(), EVERYWHERE)
    assert os.listdir("/proc/self/fd") == before


def test_a_driver_cannot_exhaust_the_open_files_of_the_harness(tmp_path: Path) -> None:
    file, served = CacheFile(str(tmp_path), b"0123456789"), ServedFiles()
    served.add(1, file, file.reopened("read", 0))
    for _ in range(511):
        served.duplicate(1)
    with pytest.raises(IllegalState, match="512 files are open: close some first"):
        served.duplicate(1)
    served.close_all()
    file.close()


def test_a_file_is_read_written_and_truncated(fixture: FileFixture) -> None:
    _, opened = fixture.open(offset=3)
    assert (opened.size(), opened.position, opened.read(2, 4), opened.read(8, 9)) == (10, 3, b"2345", b"89")
    opened.truncate(4)
    opened.write(2, b"abcdef")
    assert fixture.file.read() == b"01abcdef"
    opened.close()
    opened.close()


@pytest.mark.parametrize("access", ["read", "write"])
def test_the_access_mode_holds_for_root_too(fixture: FileFixture, access: str) -> None:
    _, opened = fixture.open(access)
    assert (opened.is_readable(), opened.is_writable()) == (access == "read", access == "write")
    if access == "read":
        assert opened.read(0, 2) == b"01"
        with pytest.raises(OSError, match=r"."):
            opened.write(0, b"x")
        with pytest.raises(OSError, match=r"."):
            opened.truncate(0)
    else:
        opened.write(0, b"x")
        with pytest.raises(OSError, match=r"."):
            opened.read(0, 2)
    opened.close()


def test_what_the_driver_has_opened_outlives_the_client_s_descriptor(fixture: FileFixture) -> None:
    token, opened = fixture.open()
    fixture.files.close(token)
    assert opened.read(0, 3) == b"012"
    opened.close()
    with pytest.raises(OSError, match="token"):
        fixture.attacher.host.open(token)


def test_a_full_disk(tmp_path: Path) -> None:
    fixture = FileFixture(tmp_path, "descriptor")
    fixture.file.stop_growing()
    for transport in ("descriptor", "message"):
        fixture.transport = transport
        _, opened = fixture.open()
        opened.truncate(0)
        with pytest.raises(OSError, match=r"."):
            opened.write(0, b"x")
        opened.close()
    fixture.file.close()


def test_a_watcher_sees_every_access_by_message(tmp_path: Path) -> None:
    fixture, seen = FileFixture(tmp_path, "message"), []
    fixture.file.watch = lambda *access: seen.append(access)
    _, opened = fixture.open()
    opened.read(4, 3)
    opened.write(9, b"ab")
    opened.close()
    assert seen == [("read", 4, 3), ("write", 9, 2)]


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    served, host = ServedFiles(), HostFiles()
    file = CacheFile(str(tmp_path), b"abc")
    served.add(5, file, file.reopened("read", 0))
    with pytest.raises(IllegalArgument):
        served.read(6, 0, 1)
    with pytest.raises(IllegalArgument):
        served.read(5, -1, 1)
    with pytest.raises(IllegalArgument):
        served.truncate(5, 1 << 50)
    with pytest.raises(SecurityDenied):
        served.write(5, 0, b"x")
    with pytest.raises(protocol.MemoryUnreachableError):
        host.attach(protocol.FileAttach(1, "path", "read", path=str(tmp_path / "none")), None, served, EVERYWHERE)
    with pytest.raises(protocol.MemoryUnreachableError):
        host.attach(protocol.FileAttach(1, "pigeon", "read"), None, served, EVERYWHERE)
    with pytest.raises(IllegalArgument):
        host.attach(protocol.FileAttach(1, "message", "execute"), None, served, EVERYWHERE)
    host.attach(protocol.FileAttach(1, "path", "read", path=file.path), None, served, EVERYWHERE)
    with pytest.raises(IllegalArgument, match="taken"):
        host.attach(protocol.FileAttach(1, "path", "read", path=file.path), None, served, EVERYWHERE)
    served.close_all()


@pytest.mark.parametrize(("token", "access"), [(0, "read"), (-5, "read"), (1, "nonsense")])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_transport_attaches_what_has_no_token_or_access(transport: str, token: int, access: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    descriptor = os.open("/dev/null", os.O_RDWR) if transport == "descriptor" else None
    request = protocol.FileAttach(token, transport, access, path="/dev/null")
    with pytest.raises(IllegalArgument, match=r"no access mode .*, or no token"):
        HostFiles().attach(request, descriptor, ServedFiles(), EVERYWHERE)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_files_reach_a_host_process_and_leave_nothing_behind(transport: str) -> None:
    subject = open_subject("reference", {}, transports=(transport,))
    try:
        file = subject.files.create(b"content")
        assert subject.files.open(file, "read", 2) > 0
        folder = Path(file.path).parent
    finally:
        subject.close()
    assert not folder.exists()
    file.close()


def test_a_subject_that_takes_no_files_is_told_apart(tmp_path: Path) -> None:
    fixture = FileFixture(tmp_path, "path")
    none = Files(fixture.attacher, lambda: str(tmp_path), ())
    with pytest.raises(NotApplicable, match="takes no files"):
        none.open(fixture.file)
