"""Allocators that are wrong on purpose, and those that differ and conform: the reference's with one thing changed."""

from __future__ import annotations

from npu_conformance.faults.npu_buffers import allocation, conforming_managers, contents, release

FAULTS = (*allocation.FAULTS, *contents.FAULTS, *release.FAULTS)
VARIANTS = conforming_managers.VARIANTS
