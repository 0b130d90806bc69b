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
IDENTIFY = "model_identify_inputs_and_outputs"


@pytest.mark.parametrize(
    ("subject", "kind", "where", "steps", "seed"),
    [
        ("takes-other-bursts", "invalid-accepted", "execution_burst_compute FW-EXE-014", 6, 2),
        ("computes-stale", "wrong-result", "execution_compute FW-EXE-013", 4, 3),
        ("writes-behind", "wrong-result", "event_wait FW-EXE-007", 6, 1),
        ("copies-once", "wrong-result", "memory_copy FW-MEM-006", 6, 1),
        ("takes-late-priorities", "invalid-accepted", "compilation_set_priority FW-CMP-003", 3, 13),
        ("finishes-again", "wrong-status", "model_finish FW-MDL-025", 4, 10),
        ("takes-one-behind", "invalid-accepted", "model_add_operation FW-MDL-021", 3, 1),
        ("takes-cycles", "invalid-accepted", "model_finish FW-MDL-023", 1, 1),
        ("takes-long-lists", "invalid-accepted", "model_identify_inputs_and_outputs FW-MDL-022", 3, 3),
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


@pytest.mark.parametrize(
    ("calls", "seen"),
    [
        ('{"do":"told","name":"add_operation","inputs":[0,1000,2],"outputs":[3]}', "model_add_operation 4 FW-MDL-021"),
        ('{"do":"told","name":"add_operation","code":106,"inputs":[0],"outputs":[3]}',
         "model_add_operation 4 FW-MDL-021"),
        ('{"do":"told","name":"identify","inputs":[0,-1],"outputs":[3]}', f"{IDENTIFY} 4 FW-MDL-022"),
        ('{"do":"told","name":"identify","inputs":[0,0],"outputs":[999]}', f"{IDENTIFY} 4 FW-MDL-022"),
        ('{"do":"told","name":"identify","inputs":[0,1],"outputs":[999]}', f"{IDENTIFY} 0 "),
        ('{"do":"told","name":"set_value","offset":1000,"length":8}', "model_set_operand_value 4 FW-MDL-012"),
        ('{"do":"told","name":"set_value","offset":-1,"length":8}', "model_set_operand_value 4 FW-MDL-012"),
        ('{"do":"told","name":"set_value","offset":999,"length":9}', "model_set_operand_value 4 FW-MDL-012"),
        ('{"do":"told","name":"add_operand","code":16,"inputs":[2]}', "model_add_operand 4 FW-MDL-004"),
        ('{"do":"told","name":"add_operand","code":1,"inputs":[2]}', "model_add_operand 4 FW-MDL-003"),
        (
            '{"do":"call","name":"share"},{"do":"told","name":"set_value_from_memory","inputs":[0],"offset":1,"length":1000}',
            "model_set_operand_value_from_memory 4 FW-MDL-017",
        ),
    ],
)  # fmt: skip
def test_arguments_are_told_by_number_and_from_how_many_there_are(calls: str, seen: str) -> None:
    """A model of four operands, the last one of them 999, none of them 1000."""
    building = '{"do":"wired","operations":[],"unfinished":2}'
    opened = open_subject("reference", isolation="inprocess")
    assert seen in set(RuntimeTarget(opened).run(f"[{building},{calls}]".encode()))
    opened.close()


@pytest.mark.parametrize(("index", "length", "code"), [(999, 8, 0), (1000, 8, 4), (-1, 8, 4), (0, 7, 4), (0, 9, 4)])
@pytest.mark.parametrize(("number", "name"), [(0, "input"), (1, "output")])
def test_arguments_of_executions_are_told(index: int, length: int, code: int, number: int, name: str) -> None:
    told = f'{{"do":"told","name":"set_argument","code":{number},"inputs":[{index}],"length":{length}}}'
    opened = open_subject("reference", isolation="inprocess")
    seen = RuntimeTarget(opened).run(f'[{{"do":"built"}},{{"do":"call","name":"execute"}},{told}]'.encode())
    assert any(one.startswith(f"execution_set_{name} {code}") for one in seen)
    opened.close()


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
