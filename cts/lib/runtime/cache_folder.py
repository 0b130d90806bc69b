"""The folder in which a runtime keeps the files of its compilation cache."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject import private_directory


class CacheFolder:
    """A new folder on this machine, gone when the case ends."""

    def __init__(self, context: CaseContext) -> None:
        self._directory = private_directory.for_temporary_files()
        context.close_later(self)

    @property
    def argument(self) -> str:
        """What the app passes: files' names are put right behind it."""
        return f"{self._directory.path}/"

    def files(self) -> list[Path]:
        """The files in it, sorted by name."""
        return sorted(Path(self._directory.path).iterdir())

    def close(self) -> None:
        """Remove it with all that is in it."""
        self._directory.close()
