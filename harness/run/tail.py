"""Reads events while they are being written: a parent that watches its shards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from npu_conformance.harness.run.events import decode
from npu_conformance.specs.documents.results import Event


class Tail:
    """What has been added to an event file since the last look. The file may not be there yet."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0

    def events(self) -> Iterator[Event]:
        """Return the events of the whole lines that are new. A line that is no event is left to who reads the log."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset, os.SEEK_SET)
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return
        self._offset += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            try:
                yield decode(line)
            except msgspec.MsgspecError:
                continue
