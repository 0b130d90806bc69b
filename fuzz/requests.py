"""Hostile requests against a device: edited requests for prepared models of the stored vectors.

Findings: an invalid request that is not refused with INVALID_ARGUMENT, a valid one that is, wrong outputs, a byte
outside the outputs that changes, an undocumented status; a crash, a hang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.case import attack
from npu_conformance.fuzz.lib.inputs import Lines, lines_of
from npu_conformance.fuzz.lib.request_target import RequestTarget
from npu_conformance.fuzz.lib.target import Fuzzer
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

FUZZER = Fuzzer(
    "requests",
    "requests that are nearly valid, for prepared models",
    "device",
    lambda found: RequestTarget(found.subject),
)
RUNS = 200
"""Inputs of the short case."""

REQUIREMENTS = ("NNHAL-ROBUST-003", "FUZ-001", "NNHAL-ERROR-006")


def cases() -> Iterator[Case]:
    """One short case of a fixed number of inputs."""
    about = f"A device survives {RUNS} edited requests, and answers each as the interface says."
    yield Case("fuzz.requests.short.runs", _run, REQUIREMENTS, about)


def case_from(payload: Any) -> Case:
    """The case of a failure file: its input alone."""
    data = msgspec.convert(payload, Lines).data

    def run(context: CaseContext) -> None:
        context.attach(lambda: payload)
        RequestTarget(context.subject).run(data)

    return Case("fuzz.requests.short.runs", run, REQUIREMENTS, "One edited request.")


def _run(context: CaseContext) -> None:
    target = RequestTarget(context.subject)
    attack(context, target, RUNS, lambda data: lines_of(target.readable(data)))
