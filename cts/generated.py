"""Generated tests: stored vectors, taken through the runtime in many ways and compared with their expected values.

A vector with `rejected` must be refused at some stage instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.cts.lib.runtime.vector_cases import case_from, stored_case
from npu_conformance.harness.run.cases import Case

__all__ = ["case_from", "cases", "cases_under"]


def cases() -> Iterator[Case]:
    """A case for each stored vector."""
    return _cases_of(vectors.all_headers())


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation, reading its file only; none for an operation without vectors."""
    known = vectors.headers(subject) if subject in vectors.operations() else ()
    return _cases_of(known)


def _cases_of(headers: Iterable[VectorHeader]) -> Iterator[Case]:
    return (stored_case(header) for header in headers if _is_meant_for_runtimes(header))


def _is_meant_for_runtimes(header: VectorHeader) -> bool:
    """False for what only a driver has to refuse: WHILE over operands of unknown size is a runtime's to execute."""
    return header.rejected is None or header.rejected.clause != "MODEL.P8"
