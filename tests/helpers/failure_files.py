"""A case that fails, and what its failure file makes of it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult


def failed_and_replayed(fault: str, case: Case, case_from: Callable[[Any], Case]) -> tuple[CaseResult, Any, CaseResult]:
    """Run a case on a faulty reference: its result, the payload of its one failure file, and the result of that."""
    payloads = []

    def keep(context: CaseContext, result: CaseResult) -> str:
        assert context.payload is not None
        payloads.append(context.payload())
        return "kept"

    subject = open_subject(PLUGIN, {"fault": fault}, "process")
    try:
        first = Engine([case], subject, Discard(), on_failure=keep).run().results[0]
        (payload,) = payloads
        return first, payload, Engine([case_from(payload)], subject, Discard()).run().results[0]
    finally:
        subject.close()
