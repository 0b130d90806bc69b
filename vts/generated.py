"""Generated tests: stored vectors, and variations of them, executed every way and compared with their expected values.

A vector with `rejected` must be rejected instead: at once where its model breaks a structural rule, at the latest at
execution where the values or shapes of an operation do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.harness.run.cases import Case
from npu_conformance.vts.lib.vector_cases import case_from, stored_case

__all__ = ["case_from", "cases", "cases_under"]


def cases() -> Iterator[Case]:
    """A case for each stored vector, and one for each variation that it allows."""
    return _cases_of(vectors.all_headers())


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation, reading its file only; none for an operation without vectors."""
    return _cases_of(vectors.headers(subject) if subject in vectors.operations() else ())


def _cases_of(headers: Iterable[VectorHeader]) -> Iterator[Case]:
    for header in headers:
        yield stored_case(header)
        for name, since in allowed.applicable(header).items():
            yield stored_case(header, name, since)
