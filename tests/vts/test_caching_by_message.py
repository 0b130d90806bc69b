"""Very long cache files: so long by message that a device can still read all of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.subject.files import CacheFile

CASE = "vts.caching.restoring.never_saved"


@pytest.mark.parametrize(("transport", "size"), [("path", 1 << 30), ("message", 17 << 20)])
def test_a_very_long_file(transport: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def stretch(file: CacheFile, size: int) -> None:
        sizes.append(size)

    monkeypatch.setattr(CacheFile, "stretch", stretch)
    plugin = ("--plugin", "reference", "--hal", "1.3", "--transport", transport)
    assert main(["run", CASE, *plugin, "--report", str(tmp_path)]) == 0
    assert sizes == [size]
