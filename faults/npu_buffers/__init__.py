"""Allocators wrong on purpose, and such that differ and conform: the reference's, each with one thing changed."""

from __future__ import annotations

from npu_conformance.faults.npu_buffers import allocation, conforming_managers, contents, release

FAULTS = (*allocation.FAULTS, *contents.FAULTS, *release.FAULTS)
VARIANTS = conforming_managers.VARIANTS
