"""A finding is as red when its input is replayed as it was in the campaign."""

from __future__ import annotations

import resource
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from fuzzed_rounds import DRIVERS

from npu_conformance.fuzz import models
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from npu_conformance.harness.subject.loading import Isolation


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
@pytest.mark.parametrize(
    ("bug", "outcome", "told"),
    [
        ("leak", Outcome.FAIL, "3 descriptors remain after 3 runs of one input"),
        ("memory", Outcome.FAIL, "MemoryError"),
        ("none", Outcome.PASS, ""),
    ],
)
def test_what_a_fuzzer_looks_for_is_looked_for_when_its_input_is_replayed(
    bug: str, outcome: Outcome, told: str, isolation: Isolation, six: bytes
) -> None:
    case = models.case_from({"lines": six.decode().split("\n"), "encoding": "utf-8"})
    limit = resource.getrlimit(resource.RLIMIT_DATA)
    with closing(open_subject(DRIVERS, {"bug": bug}, isolation)) as subject:
        result = Engine([case], subject, Discard()).run().results[0]
    assert result.outcome == outcome
    assert told in result.message
    assert resource.getrlimit(resource.RLIMIT_DATA) == limit
