"""Shared libraries that tests of adapters compile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nnapi_libraries import TINY, compiled


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(TINY, tmp_path_factory.mktemp("nnapi") / "libnnapi_tiny.so")


@pytest.fixture
def library(tmp_path: Path) -> Callable[[str, str], str]:
    def make(name: str, source: str) -> str:
        (tmp_path / "source.c").write_text(f"#include <stdint.h>\n#include <stdlib.h>\n{source}\n")
        return compiled(tmp_path / "source.c", tmp_path / f"{name}.so")

    return make
