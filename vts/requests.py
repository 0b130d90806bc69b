"""Request validation: every invalid edit of a valid request is rejected with INVALID_ARGUMENT, and nothing is written.

A case is one edit over the smallest addition, by every executor. Removed arguments are AOSP's ValidateRequest,
the others are rules of the interface text that its VTS does not try. vts.request_mutations has all operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict
from npu_conformance.vts.lib.rejection import expect_request_rejected
from npu_conformance.vts.lib.request_edits import EDITS, RequestEdit, small_request


def cases() -> Iterator[Case]:
    """One case for each edit."""
    for edit in EDITS:
        yield _case(edit)


def _case(edit: RequestEdit) -> Case:
    def run(context: CaseContext) -> None:
        chosen = addition.supported(context)
        prepared_model, request = chosen.prepared(context), small_request(context)
        usual, *others = executors(context.version)
        for executor in (usual, *others):
            for measure in (False, True):
                name = "timed" if measure else "untimed"
                with (
                    context.configuration(name if executor == usual else f"{executor}.{name}"),
                    with_aosp_verdict(edit.aosp),
                ):
                    edited = edit.apply(request, chosen.elements)
                    expect_request_rejected(context, prepared_model, chosen.model(), edited, executor, measure=measure)

    scope = Scope.SMOKE if edit.name == "input_removed" else Scope.DEFAULT
    return Case(
        f"vts.requests.ADD.{edit.name}",
        run,
        (*edit.requirements, "NNHAL-REQUEST-017", "NNHAL-ERROR-005"),
        f"Every executor rejects an invalid request: {edit.name.replace('_', ' ')}.",
        since=edit.since,
        group=Group.VALIDATION,
        scope=scope,
        operations=("ADD",),
        types=("TENSOR_FLOAT32",),
    )
