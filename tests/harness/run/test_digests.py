"""Digests of suite, vectors and documents, where a folder holds what is no file of it, or what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_conformance.harness.run import digests
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

UNREADABLE = Path("/proc/self/mem")
"""A regular file of which even root cannot read the beginning."""


def of(*vectors: Path) -> str:
    """The digest of a run's vectors."""
    manifest = Manifest(name="toy", vendor="tests", version="1")
    return digests.digests(manifest, Version.V1_2, {}, external_vectors=vectors).vectors


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small installation of the suite."""
    for name in ("specs/ids.py", "corpus/vectors/abs.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("kept")
    monkeypatch.setattr(digests, "ROOT", tmp_path)
    return tmp_path


def test_a_lock_of_an_editor_is_no_source(installed: Path) -> None:
    """Emacs' lock of a changed file is a link to user@host.process, beside it."""
    before = digests._of_installation()
    for folder, name in (("specs", ".#ids.py"), ("corpus/vectors", ".#abs.json")):
        (installed / folder / name).symlink_to("user@host.1234")
        (installed / folder / f"folder{Path(name).suffix}").mkdir()
    assert digests._of_installation() == before
    (installed / "specs" / "ids.py").write_text("changed")
    assert digests._of_installation()[0] != before[0]


def test_what_cannot_be_read_of_the_users_vectors_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    assert of(tmp_path)
    (tmp_path / "notes.txt").symlink_to(UNREADABLE)
    with pytest.raises(DocumentError) as caught:
        of(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'notes.txt'}: Input/output error"


def test_a_document_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path, told in ((tmp_path / "gone.json", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(DocumentError) as caught:
            digests.of_files([path])
        assert str(caught.value) == f"{path}: {told}"
