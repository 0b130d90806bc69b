"""Source edits that are taken back, which a process of `npu-conformance faults` never has to do."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from npu_conformance.faults import code_swap, source_edits
from npu_conformance.faults.code_swap import Swap
from npu_conformance.faults.source_edits import SourceEdit


@contextmanager
def applied(edits: Iterable[SourceEdit]) -> Iterator[None]:
    """Apply the edits while the block runs."""
    chosen = list(edits)
    undo = source_edits.apply(chosen)
    try:
        yield
    finally:
        _take_back(chosen, undo)


@contextmanager
def none_left() -> Iterator[None]:
    """Take back all edits that are applied while the block runs, as a fault does that is opened in this process."""
    made: list[tuple[list[SourceEdit], list[Swap]]] = []
    apply = source_edits.apply

    def noted(edits: Iterable[SourceEdit]) -> list[Swap]:
        chosen = list(edits)
        undo = apply(chosen)
        made.append((chosen, undo))
        return undo

    source_edits.apply = noted
    try:
        yield
    finally:
        source_edits.apply = apply
        for chosen, undo in reversed(made):
            _take_back(chosen, undo)


def _take_back(edits: Iterable[SourceEdit], undo: list[Swap]) -> None:
    code_swap.swap(undo)
    for module in {edit.module for edit in edits}:
        code_swap.clear_caches(importlib.import_module(f"{source_edits.PACKAGE}.{module}"))
