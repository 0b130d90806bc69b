"""Report folders whose names are no text in the encoding of the locale."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import HOSTILE, ROOT
from vendor_command import Command

from npu_conformance.cli.main import main
from npu_conformance.cli.streams import write_every_text
from npu_conformance.harness.run import failures
from npu_conformance.specs.diagnostics import shell

PLUGIN = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess")
RED = "vts.validation.RELU.graph_indexes"
LATIN = os.fsdecode(b"ber\xe4")


def test_failure_files_lie_in_a_folder_whose_name_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.chdir(tmp_path)
    assert main(["run", RED, *PLUGIN, "--report", LATIN]) == 1
    out = capsysbinary.readouterr().out
    assert (b"suite problem" in out, b"report: ber\xe4 (" in out) == (False, True)
    (file,) = (Path(LATIN) / "failures").glob("*.json")
    replay = str(failures.load(file).result.notes[failures.REPLAY])
    assert replay.startswith("npu-conformance replay $'ber\\xe4/failures/")
    assert "npu-conformance replay $&#x27;ber\\xe4/failures/" in (Path(LATIN) / "junit.xml").read_text()
    shown = subprocess.run(["bash", "-c", f"ls {replay.split()[2]}"], capture_output=True, check=True)
    assert shown.stdout.startswith(b"ber\xe4/failures/")


def test_vectors_in_a_folder_whose_name_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.chdir(tmp_path)
    document = json.loads((ROOT / "corpus" / "vectors" / "relu6.json").read_text())
    Path(LATIN).mkdir()
    (Path(LATIN) / "relu6.json").write_text(json.dumps({**document, "vectors": document["vectors"][:1]}))
    assert main(["run", "vts.external", "--vectors", LATIN, *PLUGIN]) == 0


def test_a_failure_file_that_is_not_written_is_told(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwritten(path: Path, data: bytes) -> None:
        raise PermissionError("not here")

    monkeypatch.setattr(failures, "write_whole", unwritten)
    code, out, _ = command("run", RED, *PLUGIN)
    told = f"suite problem: 1 failure file could not be written, of {RED} first: PermissionError: not here"
    assert (code, told in out.splitlines()) == (3, True)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (b"report", "report"),
        (b"a report", "'a report'"),
        ("bericht ä".encode(), "'bericht ä'"),
        (b"it's \\ber\xe4", "$'it\\x27s \\x5cber\\xe4'"),
        ("ä\n".encode() + b"\xff", "$'ä\\x0a\\xff'"),
    ],
)
def test_a_word_of_any_bytes_for_a_shell(word: bytes, said: str) -> None:
    assert shell.quoted(os.fsdecode(word)) == shell.quoted(word.decode("ascii", "surrogateescape")) == said
    assert subprocess.run(["bash", "-c", f"printf %s {said}"], capture_output=True, check=True).stdout == word


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_standard_output_shows_every_path(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    write_every_text()
    print(LATIN, "ä", "\ud800", flush=True)
    assert raw.getvalue() == b"ber\xe4 \xc3\xa4 \\ud800\n"
