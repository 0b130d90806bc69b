"""Where the runs of these tests record what happens."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The event file of a report folder that is not there yet."""
    return tmp_path / "report" / "events.jsonl"
