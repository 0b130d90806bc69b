"""The liar makes up well-typed values, and nothing that it says is a bug of the suite."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from npu_conformance.faults.made_up import made_up
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import Event
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.outcomes import Outcome

LIAR = "npu_conformance.faults.liar:plugin"
AREAS = (
    "vts.queries",
    "vts.caching.saving",
    "cts.introspection",
    "vts.npu_scheduling.priority",
)


class Silent:
    def write(self, event: Event) -> None:
        """Ignore it."""


@pytest.mark.parametrize(
    ("hint", "truth"),
    [
        (int, 3),
        (bool, True),
        (str, "name"),
        (bytes, b"data"),
        (tuple[int, ...], (1, 2)),
        (types.Timing, types.Timing(1, 2)),
        (types.ExecutionResult, types.ExecutionResult(True, (types.OutputShape((1,), True),), types.Timing(1, 2))),
        (types.NumberOfCacheFiles | None, None),
    ],
)
def test_what_is_made_up_has_the_type(hint: Any, truth: Any) -> None:
    source = random.Random(1)
    values = [made_up(source, hint, truth) for _ in range(200)]
    assert any(value != truth for value in values)
    for value in values:
        msgspec.convert(msgspec.to_builtins(value, enc_hook=float), hint)


def test_objects_are_kept_or_withheld() -> None:
    source, device = random.Random(1), hal.Device()
    assert {made_up(source, hal.Device, device) for _ in range(20)} == {device}
    assert {made_up(source, hal.Device | None, device) for _ in range(20)} == {device, None}


def chosen() -> list[Case]:
    return [case for case in suites.cases(("vts", "cts")) if case.id.startswith(AREAS)]


@pytest.mark.parametrize("one_in", [20, 3])
def test_nothing_that_a_subject_says_is_a_bug_of_the_suite(one_in: int) -> None:
    subject = open_subject(LIAR, {"one_in": str(one_in), "seed": "7"}, "inprocess")
    try:
        cases = [case for case in chosen() if not inapplicable(case, subject.manifest, subject.version)]
        run = Engine(cases, subject, Silent(), EngineOptions()).run()
    finally:
        subject.close()
    outcomes = [result.outcome for result in run.results]
    assert len(outcomes) > 100
    assert Outcome.FAIL in outcomes
    assert [(result.case, result.message) for result in run.results if result.outcome is Outcome.SUITE_ERROR] == []
