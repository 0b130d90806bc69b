"""Hostile lines against the serving side of the wire, with the subject behind it.

Findings: the server raises, a request or an unreadable line has not exactly one answer, an answer is not JSON-RPC,
a plug-in's exception crosses, the connection does not survive, a limit is not kept; a crash, a hang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.case import attack
from npu_conformance.fuzz.lib.inputs import Lines, lines_of
from npu_conformance.fuzz.lib.target import Fuzzer
from npu_conformance.fuzz.lib.wire_target import ConnectionTarget, served
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

FUZZER = Fuzzer("wire", "broken lines, against the serving side of the wire", None, served)
RUNS = 200
"""Inputs of the short case."""

REQUIREMENTS = ("NNHAL-ROBUST-003", "FUZ-001")


def cases() -> Iterator[Case]:
    """One short case of a fixed number of inputs."""
    about = f"A server survives {RUNS} conversations of broken lines, and answers each as JSON-RPC says."
    yield Case("fuzz.wire.short.runs", _run, REQUIREMENTS, about)


def case_from(payload: Any) -> Case:
    """The case of a failure file: its input alone."""
    data = msgspec.convert(payload, Lines).data

    def run(context: CaseContext) -> None:
        context.attach(lambda: payload)
        ConnectionTarget(context).run(data)

    return Case("fuzz.wire.short.runs", run, REQUIREMENTS, "One conversation of broken lines.")


def _run(context: CaseContext) -> None:
    attack(context, ConnectionTarget(context), RUNS, lines_of)
