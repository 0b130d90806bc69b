"""Hostile models against a device: mutated models of the stored vectors, judged by the contract's validator.

Findings: an exception or status that the method does not have, a wrong number of answers, an invalid model that is
not rejected with INVALID_ARGUMENT, a valid one that is, a callback that is not notified exactly once; a crash, a hang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.case import attack
from npu_conformance.fuzz.lib.inputs import Lines, lines_of
from npu_conformance.fuzz.lib.model_target import ModelTarget
from npu_conformance.fuzz.lib.target import Fuzzer
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

FUZZER = Fuzzer(
    "models", "models that are nearly valid, against a device", "device", lambda found: ModelTarget(found.subject)
)
RUNS = 200
"""Inputs of the short case."""

REQUIREMENTS = ("NNHAL-ROBUST-003", "FUZ-001", "NNHAL-ERROR-006", "NNHAL-PREPARE-002")


def cases() -> Iterator[Case]:
    """One short case of a fixed number of inputs."""
    about = f"A device survives {RUNS} mutated models, and answers each as the interface says."
    yield Case("fuzz.models.short.runs", _run, REQUIREMENTS, about)


def case_from(payload: Any) -> Case:
    """The case of a failure file: its input alone."""
    data = msgspec.convert(payload, Lines).data

    def run(context: CaseContext) -> None:
        assert context.device is not None
        context.attach(lambda: payload)
        ModelTarget(context.subject, one_each=True).run(data)

    return Case("fuzz.models.short.runs", run, REQUIREMENTS, "One mutated model.")


def _run(context: CaseContext) -> None:
    assert context.device is not None
    target = ModelTarget(context.subject, one_each=True)
    attack(context, target, RUNS, lambda data: lines_of(target.readable(data)))
