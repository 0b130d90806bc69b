"""Generated tests: stored vectors, taken through the runtime in many ways and compared with their expected values.

A vector with `rejected` must be refused at some stage instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus import vectors
from npu_conformance.cts.lib.runtime.vector_cases import case_from, stored_case
from npu_conformance.harness.run.cases import Case

__all__ = ["case_from", "cases", "cases_under"]


def cases() -> Iterator[Case]:
    """A case for each stored vector."""
    return (stored_case(header) for header in vectors.all_headers())


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation, reading its file only; none for an operation without vectors."""
    known = vectors.headers(subject) if subject in vectors.operations() else ()
    return (stored_case(header) for header in known)
