"""The case of a vector that is taken through the runtime: what it is evidence for, and how it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.vectors.description import describe
from npu_conformance.cts.lib.runtime.first_vectors import is_first
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_cases import Loader, described, scope_of, vector_from
from npu_conformance.specs.versions import NEWEST

_EXECUTION = ("FW-GEN-001", "FW-GEN-009", "FW-GEN-003", "FW-GEN-011", "FW-PRT-017")
_REJECTION = ("FW-GEN-005",)


def stored_case(header: VectorHeader) -> Case:
    """The case of a stored vector."""

    def about() -> str:
        return describe(header.operation, vectors.load_document(header.operation, header.name), "")

    load = functools.partial(vectors.load, header.operation, header.name)
    return case_of(header, load, f"cts.generated.{header.operation}.{header.name}", about)


def case_from(payload: Any) -> Case:
    """The case of a failure file: the vector is in the file, whatever became of the stored one."""
    vector = vector_from(payload)
    return case_of(allowed.header_of(vector), lambda: vector, payload["id"])


def case_of(header: VectorHeader, load: Loader, case_id: str, about: Callable[[], str] | None = None) -> Case:
    """A case that executes a vector, or sees it rejected. about: the description, where that need not load it."""

    def run(context: CaseContext) -> None:
        from npu_conformance.cts.lib.runtime import vector_run

        vector_run.run(context, load())

    return Case(
        case_id, run, _requirements(header, case_id), about or (lambda: described(load())), "runtime",
        since=header.since,
        until=header.rejected.until if header.rejected else NEWEST, scope=scope_of(header, case_id),
        operations=tuple(dict.fromkeys(header.operations)), types=header.types, hazards=header.hazards,
    )  # fmt: skip


def _requirements(header: VectorHeader, case_id: str) -> tuple[str, ...]:
    if header.rejected is not None:
        return _REJECTION
    if header.operation == "RANDOM_MULTINOMIAL":
        return ("FW-GEN-012", *_EXECUTION)
    return (*_EXECUTION, "FW-GEN-006") if _has_twin(header, case_id) else _EXECUTION


def _has_twin(header: VectorHeader, case_id: str) -> bool:
    """Whether the vector is in signed 8 bit, so that its unsigned form is executed beside it by default."""
    is_coupled = len(header.operations) == 1 and header.operation not in allowed.NOT_COUPLED
    return is_coupled and not set(allowed.SIGNED.values()).isdisjoint(header.types) and is_first(header, case_id)
