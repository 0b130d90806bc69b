"""Memory of the NNAPI runtime: objects over descriptors and hardware buffers, constants, and memory domains."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of every module here."""
    return suites.collect(__name__)
