"""Unique names, and what is reset for each specification file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_conformance.corpus.importers.aosp.examples import Example
    from npu_conformance.corpus.importers.aosp.models import Model


class Names:
    """Names of one kind. A name that is taken gets a number: the first one keeps its own."""

    def __init__(self, separator: str = "", first: int = 1) -> None:
        """separator: between name and number. first: the number that the second of a name gets."""
        self._separator, self._first = separator, first
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Take a name, or the first of its numbered forms that is free."""
        chosen, number = name, self._next.get(name, self._first)
        while chosen in self._taken:
            chosen = f"{name}{self._separator}{number}"
            number += 1
        self._next[name] = number
        self._taken.add(chosen)
        return chosen


class Specification:
    """One file while it is read: its name, the version its directory says, and all that it declared so far."""

    def __init__(self, name: str, version: str | None) -> None:
        """name: of the file, without folder and endings. version: as `V1_2`; None where the directory names none."""
        self.name, self.version = name, version
        self.operand_names = Names()
        self.test_names = Names("_", first=2)
        self.models: list[Model] = []
        self.examples: list[Example] = []
        self.version_overrides: dict[str, str | None] = {}


_current = Specification("", None)


def begin(name: str, version: str | None) -> Specification:
    """Forget the file before, and start a new one."""
    global _current  # a file's words (`Model()`, `Input(...)`) have no argument that could carry it
    _current = Specification(name, version)
    return _current


def current() -> Specification:
    """The file that is read now."""
    return _current
