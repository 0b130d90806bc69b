"""Dask clusters of processes of this machine, for tests."""

from __future__ import annotations

import importlib
import importlib.util
import os
from contextlib import AbstractContextManager
from typing import Any, cast

import pytest
from places import HOSTILE

needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")


def local_cluster(monkeypatch: pytest.MonkeyPatch, *, workers: int, threads: int) -> AbstractContextManager[Any]:
    """A LocalCluster whose workers can import the plug-ins of tests. Its page has a port that nobody else uses."""
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE), prepend=os.pathsep)
    distributed: Any = importlib.import_module("distributed")
    made = distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address="127.0.0.1:0")
    return cast(AbstractContextManager[Any], made)
