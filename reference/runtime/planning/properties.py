"""System properties that steer the runtime."""

from __future__ import annotations

import enum


class Partitioning(enum.IntEnum):
    """debug.nn.partition."""

    NONE = 0
    WITH_FALLBACK = 1
    WITHOUT_FALLBACK = 2


class Properties:
    """Properties by name; an empty value is the default."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def set(self, name: str, value: str) -> None:
        """Set a property; empty for its default."""
        self._values[name] = value

    def clear(self) -> None:
        """Return to the defaults."""
        self._values.clear()

    def text(self, name: str) -> str:
        """The value; empty where it is not set."""
        return self._values.get(name, "")

    @property
    def partitioning(self) -> Partitioning:
        """How models are divided (FW-PRT-016); what is no mode counts as the default."""
        wanted = self._number("debug.nn.partition", Partitioning.WITH_FALLBACK)
        return Partitioning(wanted) if wanted in list(Partitioning) else Partitioning.WITH_FALLBACK

    @property
    def cpu_only(self) -> bool:
        """Whether drivers are left out."""
        return bool(self._number("debug.nn.cpuonly", 0))

    @property
    def strict_slicing(self) -> bool:
        """Whether a slice that is not valid ends the process, not only the question."""
        return bool(self._number("debug.nn.strict-slicing", 0))

    @property
    def synchronous_hal(self) -> bool:
        """Whether drivers of 1.2 and 1.3 are called synchronously (FW-EXE-026, -027)."""
        return bool(self._number("debug.nn.syncexec-hal", 1))

    def _number(self, name: str, default: int) -> int:
        try:
            return int(self._values.get(name, ""))
        except ValueError:
            return default
