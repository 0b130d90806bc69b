"""How documents get to a disk: whole or not at all, and a line at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_conformance.specs.documents.storing import append_line, write_whole


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "document.json"
    write_whole(path, b"old")

    def half(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("document.json", b"old")]


@pytest.mark.parametrize(("before", "after"), [(b"", b"new\n"), (b"old\n", b"old\nnew\n"), (b"to", b"to\nnew\n")])
def test_a_torn_line_costs_itself_alone(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(before)
    append_line(path, b"new")
    assert path.read_bytes() == after
