"""Misuse of the NNAPI C API: every documented wrong call, the code that it returns, and that it has no effect.

Subjects are the functions. `exact_result_codes` of the manifest says whether another failing code is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
