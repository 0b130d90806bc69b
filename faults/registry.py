"""All faults and conforming variants, by id."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from npu_conformance.faults import (
    accuracy_losses,
    buffers,
    caching,
    caching_variants,
    choosy_devices,
    combined_variants,
    conforming_drivers,
    constants,
    execution_paths,
    execution_variants,
    executions,
    extensions,
    fenced,
    guarded_kernels,
    hints,
    hosts,
    model_engines,
    models,
    nearly_alike,
    npu_buffers,
    npu_manager,
    npu_scheduling,
    preparation,
    quality_of_service,
    queries,
    relations,
    reusable,
    robustness,
    runtime,
    several_shapes,
    shapes_and_times,
    slowness,
    source_edits,
    stress,
    told_times,
    unchecked,
    variants,
)
from npu_conformance.faults.factories import edited_fault, edited_variant
from npu_conformance.faults.fault import Edited, EditedHarness, Fault, FuzzFault, Variant

Kind = TypeVar("Kind", bound=Fault | Variant)

_FOLDER = Path(__file__).parent
_HARNESS_FILE = _FOLDER / "self_checks/bookkeeping.json"
_VARIANT_FILE = "variants.json"
_APART = {_VARIANT_FILE, guarded_kernels.FILE.name}
"""Files of this package that hold no faults by source edits of the reference."""

_FAULTS = (
    queries, preparation, executions, buffers, fenced, hosts, npu_manager, relations, robustness, extensions, hints,
    caching, quality_of_service, execution_paths, reusable, shapes_and_times, npu_scheduling,
    npu_buffers, runtime, constants, guarded_kernels, nearly_alike, several_shapes, stress, models, model_engines,
    told_times, slowness, accuracy_losses,
)  # fmt: skip
"""The modules with FAULTS; source edits of the reference are in files beside them."""

_VARIANTS = (
    variants, choosy_devices, combined_variants, fenced, hints, caching_variants, conforming_drivers,
    execution_variants, npu_scheduling, npu_manager, npu_buffers, runtime,
)  # fmt: skip
"""The modules with VARIANTS."""


@functools.cache
def faults() -> MappingProxyType[str, Fault]:
    """Every fault by id. Raises ValueError where two have one id."""
    found = [fault for module in _FAULTS for fault in module.FAULTS]
    found += [fault for fault in fuzzed() if fault.caught_by]
    found += unchecked.faults()
    own = [path for path in _FOLDER.glob("*.json") if path.name not in _APART]
    for path in sorted([*own, *_FOLDER.glob("kernels/*.json")]):
        found += [edited_fault(row, Edited(row.edits, row.extended)) for row in source_edits.read(path)]
    found += [edited_fault(row, EditedHarness(row.edits)) for row in source_edits.read(_HARNESS_FILE)]
    return by_id(found)


@functools.cache
def conforming() -> MappingProxyType[str, Variant]:
    """Every conforming variant by id. Raises ValueError where two have one id."""
    found = [variant for module in _VARIANTS for variant in module.VARIANTS]
    found += [edited_variant(row, Edited(row.edits)) for row in source_edits.read(_FOLDER / _VARIANT_FILE)]
    return by_id(found)


@functools.cache
def fuzz_only() -> MappingProxyType[str, FuzzFault]:
    """Every fault that only a fuzzer finds, by id. Raises ValueError where two have one id."""
    return by_id(fault for fault in fuzzed() if not fault.caught_by)


def fuzzed() -> tuple[FuzzFault, ...]:
    """Every fault of the tables of fuzz_only, whether a default case shows it or not."""
    from npu_conformance.faults.fuzz_only import FAULTS

    return FAULTS


def by_id(found: Iterable[Kind]) -> MappingProxyType[str, Kind]:
    """These by their ids. Raises ValueError where two have one id."""
    known: dict[str, Kind] = {}
    for one in found:
        if one.id in known:
            raise ValueError(f"two faults or variants are called {one.id}")
        known[one.id] = one
    return MappingProxyType(known)
