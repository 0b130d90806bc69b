"""A part of long work: a command of this suite in a process of its own, here or on another machine."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_conformance.harness.python_processes import environment, python
from npu_conformance.harness.subject.private_directory import temporary_folder
from npu_conformance.harness.subject.process_group import end_group, has_ended

FOLDER = "{folder}"
"""Stands for the folder of the command among its arguments."""

_LOOK_SECONDS = 0.2


class StoppedError(Exception):
    """The work ended before this part of it did."""


@dataclass(frozen=True)
class Ended:
    """What became of a command. errors: what it wrote there. files: what it left in its folder, by relative path."""

    exit_code: int
    errors: str
    files: dict[str, bytes]


def run(
    arguments: tuple[str, ...], stop: threading.Event | None = None, files: Mapping[str, bytes] | None = None
) -> Ended:
    """Run `npu-conformance` with these arguments and a folder of its own. Raises StoppedError where `stop` is set.

    files: what lies in the folder at the beginning, by relative path.
    """
    with temporary_folder() as place:
        folder = place / "folder"
        folder.mkdir()
        write(folder, files or {})
        errors = place / "errors"
        words = [argument.replace(FOLDER, str(folder)) for argument in arguments]
        with errors.open("wb") as output:
            process = subprocess.Popen(
                python("-m", "npu_conformance", *words),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,
            )
            try:
                _wait(process, stop or threading.Event())
            finally:
                end_group(process)
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return Ended(process.returncode, errors.read_text(errors="replace"), found)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, by relative path."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _wait(process: subprocess.Popen[bytes], stop: threading.Event) -> None:
    while not has_ended(process, _LOOK_SECONDS):
        if stop.is_set():
            raise StoppedError
