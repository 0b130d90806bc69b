"""How thorough a run is."""

from __future__ import annotations

import enum


class Scope(enum.Enum):
    """How much of a suite runs: each scope includes the ones before it."""

    SMOKE = "smoke"
    DEFAULT = "default"
    FULL = "full"

    @property
    def depth(self) -> int:
        """How many scopes it includes beside itself."""
        return _DEPTH[self]


_DEPTH = {scope: depth for depth, scope in enumerate(Scope)}
