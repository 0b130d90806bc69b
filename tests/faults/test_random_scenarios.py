"""Random scenarios: a failure has few steps, and its file runs them again without a seed."""

from __future__ import annotations

import json

import pytest
from edited_source import applied
from msgspec.structs import replace

from npu_conformance.faults import registry
from npu_conformance.faults.fault import Edited
from npu_conformance.faults.npu_buffers import EDITED as EDITED_BUFFERS
from npu_conformance.faults.npu_manager import EDITED
from npu_conformance.faults.npu_scheduling import EDITED as EDITED_SCHEDULING
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject

EDITS = {row.id: row.edits for row in (*EDITED, *EDITED_BUFFERS, *EDITED_SCHEDULING)}
EDITS |= {name: one.mechanism.edits for name, one in registry.faults().items() if isinstance(one.mechanism, Edited)}
CASES = {
    "cts.npu_manager.machine.service": "manager-importance-in-fives",
    "cts.npu_buffers.machine.calls": "npu-buffers-load-resets-content",
    "vts.npu_scheduling.machine.bursts": "scheduling-newcomer-hears-requests-again",
    "vts.npu_scheduling.machine.order": "scheduling-ranked-anew-with-job-500",
    "vts.histories.driver.work": "history-output-offset-in-16-bits",
    "vts.histories.driver.fences": "history-fence-of-another-model",
}
"""Cases with a fault that each of them sees."""


def run(case: Case, scope: Scope = Scope.SMOKE) -> CaseContext:
    """Run a case on the reference, as its source is by now; Failed where it is red."""
    subject = open_subject("reference", isolation="inprocess")
    context = CaseContext(case, subject, seed=5, scope=scope)
    try:
        case.run(context)
    finally:
        context.close()
        subject.close()
    return context


@pytest.mark.parametrize("name", CASES)
def test_a_failure_is_run_again_from_its_file(name: str) -> None:
    suite = name.split(".")[0]
    case = next(case for case in suites.cases((suite,)) if case.id == name)
    with applied(EDITS[CASES[name]]):
        payloads: list[object] = []
        with pytest.raises(Failed) as found:
            run(replace(case, run=lambda context: _kept(case, context, payloads)), Scope.DEFAULT)
        payload = json.loads(json.dumps(payloads[0]))
        assert len(payload["steps"]) <= 10
        again = suites.rebuild(name, payload)
        with pytest.raises(Failed) as replayed:
            run(again)
    assert str(replayed.value) == str(found.value)
    run(again)


def _kept(case: Case, context: CaseContext, payloads: list[object]) -> None:
    """Run a case, and keep what its failure file would hold."""
    try:
        case.run(context)
    finally:
        payloads.append(context.payload() if context.payload is not None else None)
