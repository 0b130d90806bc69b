"""Running pytest in an empty folder, where the vendor's plug-ins can be imported."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from places import HOSTILE
from warm_python import run_pytest

Run = Callable[..., pytest.RunResult]
QUIET = ("-p", "no:cacheprovider", "-p", "no:randomly", "-W", "error")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest with a plug-in that answers queries and rejects no model."""
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE), prepend=os.pathsep)

    def inner(*arguments: str, plugin: str = "--npu-plugin=vendor_plugins:first_day") -> pytest.RunResult:
        common = (*QUIET, "--npu-isolation=inprocess")
        return run_pytest(*common, *([plugin] if plugin else []), *arguments)

    return inner
