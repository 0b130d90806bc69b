"""The folder of this project in the user's cache, and what lies there by name."""

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


def models() -> Path:
    """Return the folder of models' files: $NPU_CONFORMANCE_MODELS, else `models` in the folder. Raises as folder."""
    own = os.environ.get("NPU_CONFORMANCE_MODELS")
    return Path(own) if own else folder() / "models"


def added_models() -> Path:
    """Return where the list of the models is that the user has added. Raises as folder."""
    return models() / "added.json"
