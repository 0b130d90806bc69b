"""What a verdict says about requirements: failures count against what the failing check is about, and nothing else."""

from __future__ import annotations

from npu_conformance.harness.run.evidence import by_requirement, shown
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Outcome

NAMES = ("RESULT", "PREPARE", "SHAPE")


def part(outcome: Outcome, *broken: str) -> ConfigurationResult:
    return ConfigurationResult(name="x", outcome=outcome, broken=broken)


def case(outcome: Outcome, *parts: ConfigurationResult, broken: tuple[str, ...] = ()) -> CaseResult:
    own = outcome if broken else Outcome.PASS
    return CaseResult(
        case="vts.a.b.c", outcome=outcome, own_outcome=own, requirements=NAMES, configurations=parts, broken=broken
    )


def test_a_failure_counts_against_what_its_check_is_about_alone() -> None:
    failed = case(Outcome.FAIL, broken=("PREPARE",))
    assert shown(failed) == {"RESULT": "not-shown", "PREPARE": "fail", "SHAPE": "not-shown"}
    assert by_requirement([failed, case(Outcome.PASS)]) == {
        "PREPARE": {"fail": 1, "pass": 1},
        "RESULT": {"not-shown": 1, "pass": 1},
        "SHAPE": {"not-shown": 1, "pass": 1},
    }


def test_a_configuration_that_passes_shows_what_another_does_not() -> None:
    mixed = case(Outcome.FAIL, part(Outcome.PASS), part(Outcome.FAIL, "RESULT"), part(Outcome.CRASH, "SHAPE"))
    assert shown(mixed) == {"RESULT": "fail", "PREPARE": "pass", "SHAPE": "crash"}


def test_what_fails_behind_the_configurations_counts_too() -> None:
    assert shown(case(Outcome.FAIL, part(Outcome.PASS), broken=("SHAPE",)))["SHAPE"] == "fail"


def test_what_was_not_supported_says_so_of_every_requirement() -> None:
    assert set(shown(case(Outcome.NOT_SUPPORTED)).values()) == {"not-supported"}


def test_events_of_older_versions_count_against_the_first_requirement() -> None:
    assert shown(case(Outcome.FAIL)) == {"RESULT": "fail", "PREPARE": "not-shown", "SHAPE": "not-shown"}


def test_requirements_of_configurations_alone_are_counted() -> None:
    only = ConfigurationResult(name="x", outcome=Outcome.PASS, requirements=("TIMING",))
    assert shown(CaseResult(case="vts.a.b.c", outcome=Outcome.PASS, configurations=(only,))) == {"TIMING": "pass"}
