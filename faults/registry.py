"""All faults and conforming variants, by id."""

from __future__ import annotations

import functools
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from npu_conformance.faults import (
    buffers,
    executions,
    extensions,
    fenced,
    hints,
    managers,
    preparation,
    queries,
    relations,
    robustness,
    source_edits,
    variants,
)
from npu_conformance.faults.fault import Edited, EditedHarness, Fault, NoticedAs, Variant
from npu_conformance.faults.hosts import FAULTS as HOST_FAULTS

_FOLDER = Path(__file__).parent
_REFERENCE_FILES = (
    "kernels/*.json", "validation.json", "mutations.json", "memory_domains.json", "burst.json", "fenced.json",
)  # fmt: skip
_HARNESS_FILE = "bookkeeping.json"
_VARIANT_FILE = "variants.json"


@functools.cache
def faults() -> MappingProxyType[str, Fault]:
    """Every fault by id. Raises ValueError where two have one id."""
    found = [
        *queries.FAULTS,
        *preparation.FAULTS,
        *executions.FAULTS,
        *buffers.FAULTS,
        *fenced.FAULTS,
        *HOST_FAULTS,
        *managers.FAULTS,
        *relations.FAULTS,
        *robustness.FAULTS,
        *extensions.FAULTS,
        *hints.FAULTS,
    ]
    for pattern in _REFERENCE_FILES:
        for path in sorted(_FOLDER.glob(pattern)):
            found += _edited(path, "reference")
    found += _edited(_FOLDER / _HARNESS_FILE, "harness")
    return MappingProxyType(_by_id(found))


@functools.cache
def conforming() -> MappingProxyType[str, Variant]:
    """Every conforming variant by id."""
    edited = source_edits.read(_FOLDER / _VARIANT_FILE)
    by_edits = [Variant(one.id, one.description, Edited(one.edits), one.hal) for one in edited]
    at_the_boundary = (*variants.VARIANTS, *fenced.VARIANTS, *hints.VARIANTS)
    return MappingProxyType({variant.id: variant for variant in (*at_the_boundary, *by_edits)})


def _edited(path: Path, where: Literal["reference", "harness"]) -> list[Fault]:
    kind = Edited if where == "reference" else EditedHarness
    return [
        Fault(
            one.id, one.description, one.breaks, one.caught_by, kind(one.edits), one.hal,
            cast(NoticedAs, one.noticed_as),
        )
        for one in source_edits.read(path)
    ]  # fmt: skip


def _by_id(found: list[Fault]) -> dict[str, Fault]:
    by_id: dict[str, Fault] = {}
    for fault in found:
        if fault.id in by_id:
            raise ValueError(f"two faults are called {fault.id}")
        by_id[fault.id] = fault
    return by_id
