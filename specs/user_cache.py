"""The folder of this project in the user's cache."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path:
    """Return npu-conformance below $XDG_CACHE_HOME or ~/.cache, whether it is there or not.

    Raises RuntimeError for a user without a home.
    """
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored, by the XDG Base Directory Specification.
    base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache"
    return base / "npu-conformance"
