"""How thorough a run is."""

from __future__ import annotations

import enum


class Scope(enum.Enum):
    """How much of a suite runs: each scope includes the ones before it."""

    SMOKE = "smoke"
    DEFAULT = "default"
    FULL = "full"
