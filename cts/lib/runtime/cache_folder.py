"""The folder in which a runtime keeps the files of its compilation cache."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from npu_conformance.harness.run.context import CaseContext


class CacheFolder:
    """A new folder on this machine, gone when the case ends."""

    def __init__(self, context: CaseContext) -> None:
        self._path = Path(tempfile.mkdtemp(prefix="npu-conformance-cache-"))
        context.close_later(self)

    @property
    def argument(self) -> str:
        """What the app passes: files' names are put right behind it."""
        return f"{self._path}/"

    def files(self) -> list[Path]:
        """The files in it, sorted by name."""
        return sorted(self._path.iterdir())

    def close(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self._path, ignore_errors=True)
