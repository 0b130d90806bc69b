"""In which configurations vectors go through the runtime, and what a real library makes of a few of them."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.cts import generated
from npu_conformance.cts.lib.runtime.configurations import Configuration, configurations
from npu_conformance.cts.lib.runtime.ways import WAYS
from npu_conformance.faults.kill_matrix import run_cases
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

LIBRARY = os.environ.get("NPU_CONFORMANCE_AOSP_RUNTIME", "")
NEEDS_LIBRARY = pytest.mark.skipif(not LIBRARY, reason="NPU_CONFORMANCE_AOSP_RUNTIME names no library")
PARTS = ("way", "devices", "memory", "hidden", "repeated", "pooled")


def _of(
    operation: str, scope: Scope, level: Version = NEWEST, *, explicit: bool = True
) -> dict[str, list[Configuration]]:
    """The configurations of each vector of an operation that is executed."""
    return {
        header.name: list(
            configurations(
                vectors.load(operation, header.name),
                f"cts.generated.{operation}.{header.name}",
                level,
                scope,
                explicit=explicit,
            )
        )
        for header in vectors.headers(operation)
        if header.rejected is None
    }


def _values(found: Iterable[Configuration], part: str) -> set[object]:
    return {getattr(one, part) for one in found}


@pytest.mark.parametrize("scope", list(Scope))
def test_each_vector_runs_and_each_configuration_has_one_verdict(scope: Scope) -> None:
    for name, found in _of("ADD", scope).items():
        names = [one.name for one in found]
        assert names, name
        assert len(set(names)) == len(names), name


@pytest.mark.parametrize("operation", ["ADD", "CONV_2D", "LSTM"])
def test_the_first_vectors_of_an_operation_see_every_value_of_every_property(operation: str) -> None:
    found = [one for each in _of(operation, Scope.DEFAULT).values() for one in each]
    assert _values(found, "way") == set(WAYS)
    whole = [one for each in _of(operation, Scope.FULL).values() for one in each]
    for part in PARTS:
        assert _values(found, part) == _values(whole, part), part


def test_most_vectors_run_once_by_default() -> None:
    counts = [len(each) for each in _of("ADD", Scope.DEFAULT).values()]
    assert sorted(counts)[len(counts) // 2] == 1


def test_what_a_feature_level_lacks_is_not_tried() -> None:
    found = [one for each in _of("ADD", Scope.FULL, OLDEST).values() for one in each]
    assert _values(found, "way") == {"asynchronous"}
    assert _values(found, "memory") == {"pointers", "objects"}
    assert _values(found, "hidden") == {False}
    assert _values(found, "devices") == {"default"}


def test_without_a_second_device_none_is_named() -> None:
    found = [one for each in _of("ADD", Scope.FULL, explicit=False).values() for one in each]
    assert _values(found, "devices") == {"default"}


def test_what_only_a_driver_refuses_is_no_case() -> None:
    assert "cts.generated.WHILE.unknown_size" not in {case.id for case in generated.cases_under("WHILE")}


def _some() -> list[Case]:
    cases = [case for operation in ("ABS", "WHILE") for case in generated.cases_under(operation)]
    return [case for case in cases if "float32" in case.id]


@pytest.mark.parametrize("plugin", ["reference", pytest.param(LIBRARY, marks=NEEDS_LIBRARY)])
def test_vectors_pass(plugin: str) -> None:
    subject = open_subject(plugin)
    found: list[CaseResult] = []

    def look(result: CaseResult) -> bool:
        found.append(result)
        return False

    try:
        run_cases(subject, _some(), look)
    finally:
        subject.close()
    outcomes = {result.outcome for result in found}
    assert Outcome.PASS in outcomes
    assert outcomes <= {Outcome.PASS, Outcome.NOT_SUPPORTED, Outcome.NOT_APPLICABLE}
