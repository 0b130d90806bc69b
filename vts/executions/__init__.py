"""The ways to execute a model, and what each must answer: results, shapes, times, and several at once."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run.cases import Case
from npu_conformance.vts.executions import concurrent, fresh_data, paths, reusable, shapes, times

_PARTS = (paths, shapes, times, reusable, concurrent, fresh_data)


def cases() -> Iterator[Case]:
    """Those of each part."""
    for part in _PARTS:
        yield from part.cases()
