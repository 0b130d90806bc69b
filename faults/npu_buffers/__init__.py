"""Allocators that are wrong on purpose, and those that differ and conform: the reference's with one thing changed."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import edited_fault, edited_variant
from npu_conformance.faults.npu_buffers import allocation, conforming_managers, contents, release
from npu_conformance.faults.npu_manager import edited_manager

_FOLDER = Path(__file__).parent

_FILES = ("faults", "counts", "numbers", "other_types")
EDITED = tuple(row for name in _FILES for row in source_edits.read(_FOLDER / f"{name}.json"))
"""The faults of the source of the allocators, in the public page's profile."""
EDITED_VARIANTS = source_edits.read(_FOLDER / "variants.json")
"""The conforming variants by source edits."""

FAULTS = (
    *allocation.FAULTS,
    *contents.FAULTS,
    *release.FAULTS,
    *(edited_fault(row, edited_manager(row)) for row in EDITED),
)
"""Faults of the buffers of the manager."""

VARIANTS = (
    *conforming_managers.VARIANTS,
    *(edited_variant(row, edited_manager(row)) for row in EDITED_VARIANTS),
)
"""Managers whose buffers every case lets pass."""
