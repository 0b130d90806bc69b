"""Runs that are over, or were killed, read back from their report folders."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from npu_conformance.harness.run import folders, results, shards
from npu_conformance.harness.run.events import Log
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.summary import Results

_SHOWN = 40
"""Characters of a time that is none."""


def read(folder: Path) -> tuple[Log, Results]:
    """What the run of a folder recorded, and its results: as they were stored, or anew where it was killed.

    Raises DocumentError, also where there is no report.
    """
    if not (folder / folders.EVENTS).exists():
        raise DocumentError(str(folder), "", "there is no report here")
    log = shards.read_run(folder)
    stored = folder / folders.RESULTS
    found = results.read(stored) if stored.exists() and log.footer else results.build(log)
    _require_time(found.time, folder)
    return log, found


def _require_time(time: str, folder: Path) -> None:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        raise DocumentError(str(folder), "$.time", f"expected a time in ISO 8601, found {time[:_SHOWN]!r}") from None
