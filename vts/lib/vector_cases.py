"""The case of a vector, stored or from elsewhere: what it is evidence for, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.vectors.description import describe
from npu_conformance.harness.judge.value_requirements import accuracy, control_flow
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_cases import Loader, attach, described, scope_of, vector_from
from npu_conformance.specs.versions import NEWEST, Version

_EXECUTION = (
    "NNHAL-SUPPORT-001", "NNHAL-SUPPORT-002", "NNHAL-SUPPORT-004", "NNHAL-SUPPORT-005", "NNHAL-PREPARE-004",
    "NNHAL-PREPARE-007", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002", "NNHAL-EXECUTE-009", "NNHAL-ACCURACY-008",
)  # fmt: skip
_BY_CLAUSE = {
    "SOFTMAX.C2": "NNHAL-OPERATION-002",
    "L2_NORMALIZATION.C2": "NNHAL-OPERATION-002",
    "LOCAL_RESPONSE_NORMALIZATION.C2": "NNHAL-OPERATION-002",
    "CONCATENATION.C4": "NNHAL-OPERATION-004",
}
"""What several operations have in common, by the clauses that say so of each."""


def stored_case(
    header: VectorHeader, variation: str = "", since: Version | None = None, area: str = "vts.generated"
) -> Case:
    """The case of a stored vector or of a variation of it."""

    def load() -> Vector:
        vector = vectors.load(header.operation, header.name)
        if not variation:
            return vector
        varied = variations.apply(variation, vector)
        if varied is None:
            raise ValueError(f"{header.operation}.{header.name} was listed with {variation}, which it does not allow")
        return varied

    def about() -> str:
        return describe(header.operation, vectors.load_document(header.operation, header.name), variation)

    suffix = f"[{variation}]" if variation else ""
    return case_of(_retyped(header, variation), load, f"{area}.{header.operation}.{header.name}{suffix}", since, about)


def _retyped(header: VectorHeader, variation: str) -> VectorHeader:
    """The header with the types that the variation's model has."""
    changed = allowed.RETYPED.get(variation)
    if changed is None:
        return header
    return replace(header, types=tuple(dict.fromkeys(changed.get(kind, kind) for kind in header.types)))


def case_from(payload: Any) -> Case:
    """The case of a failure file: the vector is in the file, whatever became of the stored one."""
    vector = vector_from(payload)
    return case_of(allowed.header_of(vector), lambda: vector, payload["id"], None)


def case_of(
    header: VectorHeader, load: Loader, case_id: str, since: Version | None, about: Callable[[], str] | None = None
) -> Case:
    """A case that executes a vector, or sees it rejected. about: the description, where that need not load it."""

    def run(context: CaseContext) -> None:
        from npu_conformance.vts.lib import vector_run

        vector_run.run(context, load())

    return Case(
        case_id, run, _requirements(header), about or (lambda: described(load())), since=since or header.since,
        until=header.rejected.until if header.rejected else NEWEST,
        group=Group.VALIDATION if header.rejected else Group.EXECUTION,
        scope=scope_of(header, case_id),
        operations=tuple(dict.fromkeys(header.operations)), types=header.types,
        hazards=header.hazards,
    )  # fmt: skip


def chosen_cases(
    area: str,
    chosen: Mapping[str, Collection[str]],
    run: Callable[[CaseContext, Vector], None],
    requirements: tuple[str, ...],
    about: str,
    *,
    since: Version,
    group: Group,
) -> Iterator[Case]:
    """Cases that do something of their own with stored vectors: of each operation with those of the chosen names."""
    for operation, names in chosen.items():
        for header in vectors.headers(operation):
            if header.name in names:
                yield Case(
                    f"{area}.{operation}.{header.name}",
                    partial(_run_stored, run, operation, header.name),
                    requirements,
                    about,
                    since=max(header.since, since),
                    group=group,
                    operations=(operation,),
                    types=header.types,
                )


def _run_stored(run: Callable[[CaseContext, Vector], None], operation: str, name: str, context: CaseContext) -> None:
    vector = vectors.load(operation, name)
    attach(context, vector)
    run(context, vector)


def _requirements(header: VectorHeader) -> tuple[str, ...]:
    family = f"NNHAL-OPERATION-{header.operation}"
    if header.rejected is not None:
        clause = header.rejected.clause.partition(".")[2]
        ours = header.rejected.clause.startswith(f"{header.operation}.")
        shared = [_BY_CLAUSE[header.rejected.clause]] if header.rejected.clause in _BY_CLAUSE else []
        structural = "NNHAL-SUPPORT-003" if header.rejected.phase == "model" else "NNHAL-REQUEST-018"
        own = f"{family}-{clause}" if ours else structural
        return (own, *shared, "NNHAL-ERROR-008", *header.requirements)
    outputs = {operand.type for operand in header.operands.values() if operand.role == "output"}
    values = [*accuracy(outputs, relaxed=header.relaxed), *control_flow(header.operations)]
    if "TENSOR_FLOAT32" in outputs and not header.relaxed:
        values.append("NNHAL-MODEL-058")
    return (f"{family}-RESULT", *_EXECUTION, *values, *header.requirements)
