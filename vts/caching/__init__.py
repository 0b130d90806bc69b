"""Compilation caching: models saved to files, and restored from them alone, whatever has become of the files.

A device may ask for no files, and may decline to cache a model (NNHAL-CACHE-008): such cases are not applicable.
Where AOSP's VTS accepts INVALID_ARGUMENT or GENERAL_FAILURE, so do the cases here.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
