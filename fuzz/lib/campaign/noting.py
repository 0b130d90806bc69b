"""Tells of what a round finds while it goes on: to make a hang smaller takes minutes, and a kill loses the round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from npu_conformance.fuzz.lib.attack import FOUND
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Sighting, Start, Unmerged
from npu_conformance.fuzz.lib.worker import START
from npu_conformance.specs import documents

Note = Callable[[Unmerged], None]
"""Is told of a finding, and of each smaller input of it."""


class Noting:
    """Tells what the process of a folder has written since it was asked before."""

    def __init__(self, job: RoundJob, folder: Path, note: Note | None) -> None:
        self._job, self._folder, self._note = job, folder, note
        self._told = 0

    def look(self) -> None:
        """Tell of each whole line that is new."""
        found = self._folder / FOUND
        if self._note is None or not found.exists() or found.stat().st_size <= self._told:
            return
        with found.open("rb") as file:
            file.seek(self._told)
            *lines, _ = file.read().split(b"\n")
        for line in lines:
            self._told += len(line) + 1
            if line:
                self.tell(documents.decode(line, Sighting, FOUND))

    def tell(self, sighting: Sighting) -> None:
        """Tell of a finding that is known otherwise."""
        if self._note is not None:
            start = documents.read(self._folder / START, Start)
            self._note(Unmerged(self._job.fuzzer, self._job.engine, self._job.seed, start, sighting))
