"""The fuzzer of NNAPI runtimes: bugs that need several calls are found and made small; what conforms has none."""

from __future__ import annotations

import msgspec
import pytest
from fuzzing import finding, first_finding

from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.fuzz import runtime
from npu_conformance.fuzz.lib.findings import kind_of
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.runtime_target import RuntimeTarget
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

DRIVERS = "called_runtimes:plugin"


@pytest.mark.parametrize(
    ("subject", "kind", "where", "steps", "seed"),
    [
        ("takes-other-bursts", "invalid-accepted", "execution_burst_compute FW-EXE-014", 6, 1),
        ("computes-stale", "wrong-result", "execution_compute FW-EXE-013", 4, 1),
        ("writes-behind", "wrong-result", "event_wait FW-EXE-007", 6, 1),
        ("copies-once", "wrong-result", "memory_copy FW-MEM-006", 6, 1),
        ("takes-late-priorities", "invalid-accepted", "compilation_set_priority FW-CMP-003", 3, 13),
        ("finishes-again", "wrong-status", "model_finish FW-MDL-025", 4, 10),
        ("refuses-second-role", "valid-refused", "memory_desc_add_", 4, 1),
        ("keeps-events", "leak", "objects", 3, 1),
        ("remembers-compilations", "wrong-status", "execution_create FUZ-011", 3, 1),
        ("forgets-output", "wrong-result", "execution_get_output_operand_rank FW-EXE-017", 5, 1),
    ],
    indirect=["subject"],
    ids=lambda value: value[1]["bug"] if isinstance(value, tuple) else "",
)
def test_bugs_of_several_calls_are_found_and_made_small(
    subject: SubjectHandle, kind: str, where: str, steps: int, seed: int
) -> None:
    """seed: one of sixteen with which a bug is found early."""
    target = RuntimeTarget(subject)
    found = finding(target, seed=seed, runs=6000)
    assert (found.kind, found.where[: len(where)]) == (kind, where)
    smallest = found.minimised(target, 250)
    assert len(msgspec.json.decode(smallest)) <= steps, smallest
    again = runtime.case_from(msgspec.to_builtins(lines_of(smallest)))
    with pytest.raises(CaseEnded) as replayed:
        again.run(CaseContext(again, subject))
    assert kind_of(replayed.value) == kind


@pytest.mark.parametrize(
    "subject",
    [
        ("reference", {}),
        *((PLUGIN, {"fault": name}) for name in ("runtime-other-codes", "runtime-unchecked-handles")),
        *((PLUGIN, {"fault": f"runtime-level-{level}"}) for level in ("1.0", "1.2", "1.3", "fl5")),
    ],
    indirect=True,
    ids=lambda value: " ".join((value[0][:9], *value[1].values())),
)
def test_what_conforms_has_no_finding(subject: SubjectHandle) -> None:
    target = RuntimeTarget(subject)
    assert first_finding(target, seed=7, runs=300) is None


def test_handles_that_are_none_reach_only_a_runtime_that_checks_them() -> None:
    """A compilation that was freed: BAD_DATA of the one, null of the other."""
    steps = ('{"do":"built"}', '{"do":"call","name":"free_compilation"}', '{"do":"call","name":"execute","object":-1}')
    seen = []
    for plugin, options in (("reference", {}), (PLUGIN, {"fault": "runtime-unchecked-handles"})):
        opened = open_subject(plugin, options, "inprocess")
        seen.append(set(RuntimeTarget(opened).run(f"[{','.join(steps)}]".encode())))
        opened.close()
    assert "execution_create 4 FUZ-011" in seen[0]
    assert "execution_create 3 FW-API-001" in seen[1]


def test_without_a_runtime_there_is_nothing_to_attack() -> None:
    opened = open_subject(PLUGIN, {"fault": "npu-narrow"}, "inprocess")
    with pytest.raises(NotApplicable, match="no runtime"):
        RuntimeTarget(opened).run(b"[]")
    opened.close()
