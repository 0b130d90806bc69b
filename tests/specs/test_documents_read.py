"""What is read as a document: a file that ends. A pipe, a device or a file that is too large is one line."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("make", [_pipe, _device])
def test_what_never_ends_is_refused(make: object, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert callable(make)
    make(path)
    with pytest.raises(DocumentError, match=f"^{path}: expected a file, found a pipe, a socket or a device$"):
        documents.read(path, dict)


def test_a_sparse_file_of_many_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.touch()
    os.truncate(path, 20 << 30)
    with pytest.raises(DocumentError, match=f"^{path}: it is larger than 1024 MiB, which no document is$"):
        documents.content(path)


def test_a_pipe_that_the_user_names_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_bytes, args=(b'{"a": 1}',))
    writing.start()
    assert documents.read(path, dict, named=True) == {"a": 1}
    writing.join()


def test_a_device_that_the_user_names_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 1 << 16)
    with pytest.raises(DocumentError, match=r"^/dev/zero: it is larger than"):
        documents.content(Path("/dev/zero"), named=True)


def test_a_directory_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r": Is a directory$"):
        documents.content(tmp_path)
