"""Source edits that are taken back, which a process of `npu-conformance faults` never has to do."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from npu_conformance.faults import code_swap, source_edits
from npu_conformance.faults.source_edits import SourceEdit


@contextmanager
def applied(edits: Iterable[SourceEdit]) -> Iterator[None]:
    """Apply the edits while the block runs."""
    chosen = list(edits)
    undo = source_edits.apply(chosen)
    try:
        yield
    finally:
        code_swap.swap(undo)
        for module in {edit.module for edit in chosen}:
            code_swap.clear_caches(importlib.import_module(f"{source_edits.PACKAGE}.{module}"))
