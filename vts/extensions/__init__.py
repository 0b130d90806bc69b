"""Vendor extensions at the interface: prefixes, mappings, extension data, hints, and what OEM codes are.

Much can be asked of every driver, since every driver gets extensions that it does not have. The rest needs an extension
whose meaning is known here: those of the reference, which a driver may have too (docs/extensions.md). What a
vendor's own extension computes is `vts.extension`, singular: its cases are the vectors of `--catalogue`.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
