"""The cases that a fault can name, made once for all tests of a process: that takes more than a second."""

from __future__ import annotations

import functools

from npu_conformance.faults import kill_matrix
from npu_conformance.harness.run.cases import Case


@functools.cache
def every_case() -> list[Case]:
    """See kill_matrix.all_cases."""
    return kill_matrix.all_cases()
