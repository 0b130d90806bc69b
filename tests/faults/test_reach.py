"""`faults --reach`: which cases no fault turns red."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import pytest

from npu_conformance.cli.main import main
from npu_conformance.faults import kill_matrix, reach, registry, report
from npu_conformance.faults.fault import Fault
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.harness.run.cases import Case

FAULTS = registry.faults()


@functools.cache
def all_cases() -> list[Case]:
    return kill_matrix.all_cases()


def test_every_case_of_the_queries_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--reach", "vts.queries"]) == OK
    lines = capsys.readouterr().out.splitlines()
    count = sum(case.id.startswith("vts.queries.") for case in all_cases())
    assert lines[0].startswith(f"vts.queries: {count} of {count} cases")
    assert lines[-1] == f"{count} of {count} cases about behaviour are in some fault's reach"


def test_cases_are_reached_by_being_red_not_by_a_glob() -> None:
    fault = FAULTS["unchecked-model-o14"]
    assert fault.caught_by == ("vts.structure.O14.*",)
    found = reach.reach("vts.structure", all_cases(), [fault])
    assert "vts.structure.O14.refuses_padding_of_input" not in found.unreached
    assert "vts.structure.O13.accepts_bool_1_bytes" in found.unreached
    named = dataclasses.replace(fault, caught_by=("vts.structure.O13.accepts_bool_1_bytes",))
    assert "vts.structure.O13.accepts_bool_1_bytes" not in reach.reach("vts.structure", all_cases(), [named]).unreached


def test_cases_made_of_vectors_and_seeds_are_left_to_mutants() -> None:
    areas = reach.areas(all_cases())
    assert {"vts.queries", "cts.misuse", "cts.npu_manager"} <= set(areas)
    assert not {"vts.generated", "vts.random_graphs", "vts.edge_values", "vts.drawn", "cts.random_partitioning"} & set(
        areas
    )


def test_an_area_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--reach", "vts.nothing"]) == USAGE
    assert "no area is called vts.nothing" in capsys.readouterr().err


def test_a_fault_that_could_not_be_judged_is_told_beside_what_it_may_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS["query-type-unknown"]
    monkeypatch.setattr(
        kill_matrix, "run_fault_against", lambda fault, cases: kill_matrix.Row(fault.id, (), problem="no answer in 1 s")
    )
    found = reach.reach("vts.queries", all_cases(), [fault])
    assert found.unreached
    assert found.problems == ((fault.id, "no answer in 1 s"),)
    assert report.reach_lines(found)[-1] == f"  NOT JUDGED under {fault.id}: no answer in 1 s"


def test_nothing_is_run_once_all_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run(fault: Fault, cases: Sequence[Case]) -> kill_matrix.Row:
        ran.append(fault.id)
        return kill_matrix.Row(fault.id, (), noticed=tuple(case.id for case in cases))

    monkeypatch.setattr(kill_matrix, "run_fault_against", run)
    faults = [FAULTS["query-type-unknown"], FAULTS["query-type-fails"]]
    assert reach.reach("vts.queries", all_cases(), faults).unreached == ()
    assert len(ran) == 1
