"""Source mutants: which edits there are, that they take effect, and that a small run finds which are killed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from every_case import every_case

from npu_conformance.faults import code_swap
from npu_conformance.faults.mutants import mutation_runner, targets, tracing
from npu_conformance.faults.mutants.mutation_runner import MutationRun, Sample, Verdict
from npu_conformance.faults.mutants.operators import mutants
from npu_conformance.faults.mutants.tracing import Witness, spread
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.specs.documents.results import CaseResult, OperationUse
from npu_conformance.specs.forked import in_child
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

SOURCE = '''
"""A module."""
LIMIT = 3


def chosen(values: list[int], limit: int = 1) -> int:
    """Not 1 edit here."""
    if not values and limit < 2:
        raise ValueError(f"{limit + 1} is wrong")
    return max(-values[0], limit + 4)
'''


def edits(source: str) -> list[str]:
    return [mutant.edit for mutant in mutants("module", source)]


def test_edits_are_made_in_bodies_alone() -> None:
    found = edits(SOURCE)
    assert "chosen: limit < 2 -> limit <= 2" in found
    assert "chosen: not values and limit < 2 -> not values or limit < 2" in found
    assert "chosen: not values -> values" in found
    assert "chosen: -values[0] -> values[0]" in found
    assert "chosen: limit + 4 -> limit - 4" in found
    assert "chosen: 4 -> 5" in found
    assert "chosen: max(-values[0], limit + 4) -> min(-values[0], limit + 4)" in found
    assert any(edit.startswith("chosen: if not values") for edit in found)
    assert not any("LIMIT" in edit or ("wrong" in edit and "if" not in edit) for edit in found)


def test_what_a_zip_asserts_is_no_edit() -> None:
    found = edits("def pairs(one, other):\n    return zip(one, other, strict=True), sorted(one, reverse=True)\n")
    assert found == ["pairs: True -> False"]


def test_each_mutant_is_one_edit_and_the_same_each_time() -> None:
    first, again = edits(SOURCE), edits(SOURCE)
    assert first == again
    sources = {__import__("ast").unparse(mutant.tree()) for mutant in mutants("module", SOURCE)}
    assert len(sources) == len(first)


def test_a_mutant_takes_the_place_of_the_original_in_closures_too() -> None:
    name = "specs.neuralnetworks.rules.common.general"
    source = code_swap.source_of(targets.load(name))
    mutant = next(one for one in mutants(name, source) if one.edit.startswith("check: position >= len(view.outputs)"))

    for operation in rules.operations():
        rules.clauses(operation)

    def works() -> bool:
        targets.install(mutant)
        file = code_swap.file_of(targets.load(name))
        living = code_swap.live_functions(file)
        return any("_declared.<locals>.check" in key[0] and len(found) > 1 for key, found in living.items())

    assert in_child(works, bool, 60.0) is True


def test_modules_of_one_operation_are_its_own() -> None:
    assert targets.modules("PAD") == ["reference.device.kernels.pad", "specs.neuralnetworks.rules.pad"]
    assert "specs.neuralnetworks.validate_graph" in targets.modules()


@pytest.mark.parametrize(
    ("hal", "interface"),
    [*((version.value, "device") for version in Version), *((level, "runtime") for level in ("1.0", "1.3", "fl8"))],
)
def test_there_is_a_reference_of_every_version(hal: str, interface: InterfaceName) -> None:
    cases = [case for case in every_case() if case.interface == interface][:1]

    def said() -> Version:
        subject = tracing.open_reference(hal, cases)
        try:
            return subject.manifest.feature_level if interface == "runtime" else subject.version
        finally:
            subject.close()

    assert in_child(said, Version, 60.0) == Version(hal)  # its extensions are registered for good


def test_a_run_kills_what_the_cases_see() -> None:
    cases = [case for case in every_case() if "RELU1" in case.operations and "float32" in case.id]
    found = mutation_runner.run_mutants(cases, Sample(4, operation="PAD"), lambda line: None)
    assert {verdict.end for verdict in found.verdicts} == {"unreached"}
    cases = [case for case in every_case() if case.id.startswith("vts.generated.DIV.int32")]
    found = mutation_runner.run_mutants(cases, Sample(4, operation="DIV"), lambda line: None)
    assert found.count("killed") > 0


def test_witnesses_are_of_every_kind_before_there_are_two_of_one() -> None:
    def witness(case: str, operation: str, hal: str = "fl8", group: Group = Group.EXECUTION) -> Witness:
        return Witness(Case(case, lambda context: None, (), operations=(operation,), group=group), hal, True)

    first, second = witness("vts.generated.ADD.a", "ADD"), witness("vts.generated.ADD.b", "ADD")
    refused = witness("vts.generated.ADD.c", "ADD", group=Group.VALIDATION)
    old, other = witness("vts.generated.ADD.d", "ADD", "1.2"), witness("vts.generated.SUB.a", "SUB")
    rule = witness("vts.structure.G1.refuses_a", "")
    assert spread([first, second, refused, old, other, rule]) == [rule, first, refused, old, other, second]


def test_refusing_what_is_claimed_is_told_from_support_that_nobody_claimed() -> None:
    def result(*operations: str) -> CaseResult:
        ended = Outcome.NOT_SUPPORTED
        refused = (tuple(OperationUse(operation=name, supported=False) for name in operations),) if operations else ()
        return CaseResult(case="vts.a.b.c", outcome=ended, own_outcome=ended, refused=refused)

    assert tracing.claimed(result("ADD"), "fl8") is Outcome.FAIL
    assert tracing.claimed(result(), "fl8") is Outcome.NOT_SUPPORTED


def test_a_sample_of_each_operation_is_of_its_own_modules() -> None:
    cases = [case for case in every_case() if case.id.startswith("vts.generated.DIV.int32")]
    sample = Sample(2, operation="DIV", per_operation=True)
    found = mutation_runner.run_mutants(cases, sample, lambda line: None)
    assert len(found.verdicts) == 2
    assert [share.name for share in found.operations] == ["DIV"]


def test_parts_of_the_reference_are_told_by_module() -> None:
    assert {targets.part(name) for name in targets.modules()} == set(targets.PARTS) - {targets.NPU, targets.RUNTIME}
    npu = targets.modules(part_name=targets.NPU)
    assert {"reference.hal.scheduling", "reference.device.scheduler", "reference.manager.service"} <= set(npu)
    assert {targets.part(name) for name in npu} == {targets.NPU}
    runtime = targets.modules(part_name=targets.RUNTIME)
    assert {"reference.runtime.handles", "reference.runtime.planning.partition"} <= set(runtime)
    assert {targets.part(name) for name in runtime} == {targets.RUNTIME}
    driver = targets.modules(part_name=targets.DRIVER)
    assert {"reference.hal.prepared_model", "reference.device.executor"} <= set(driver)
    assert {targets.part(name) for name in driver} == {targets.DRIVER}
    assert targets.operation("specs.neuralnetworks.rules.clause") == ""


def test_shares_have_an_interval() -> None:
    verdicts = tuple(Verdict("m", 1, "e", "killed" if index < 90 else "survived") for index in range(100))
    low, high = MutationRun(1000, 0, verdicts, 1.0).interval("killed")
    assert low == pytest.approx(0.8256, abs=1e-3)
    assert high == pytest.approx(0.9448, abs=1e-3)


def test_mutants_called_equivalent_exist_and_have_a_reason() -> None:
    stored = mutation_runner.equivalent_mutants()
    known = [
        mutant
        for name in {one.mutant.partition(":")[0] for one in stored}
        for mutant in mutants(name, code_swap.source_of(targets.load(name)))
    ]
    assert [one.mutant for one in stored if not any(map(one.covers, known))] == []
    assert all(len(one.reason) > 20 for one in stored)


def test_a_run_can_be_written_as_json(tmp_path: Path) -> None:
    run = MutationRun(1, 0, (Verdict("m", 1, "e", "killed"),), 1.0)
    assert msgspec.json.decode(msgspec.json.encode(run), type=MutationRun) == run
