"""Runs a random graph on a device, and judges what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.graphs import THOROUGHLY, Judgement, judgement
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.vector_cases import in_a_word
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import RequestMemoryPool
from npu_conformance.vts.lib.preparing import prepared

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector

_ACCURACY = ("RGG-006", "RGG-008", "RGG-009")
"""What a wrong result of a random graph breaks."""


def run_graph(
    context: CaseContext,
    vector: Vector,
    seen: dict[str, Array] | None = None,
    rounds: Sequence[int] | None = None,
    accuracy: Sequence[str] = _ACCURACY,
) -> None:
    """Execute a graph and judge it. NotSupported where the device does not have all of its operations.

    accuracy: the requirements that a wrong result breaks.
    """
    with checks.telling(lambda: in_a_word(vector)):
        _run_graph(context, vector, seen, rounds, accuracy)


def _run_graph(
    context: CaseContext,
    vector: Vector,
    seen: dict[str, Array] | None,
    rounds: Sequence[int] | None,
    accuracy: Sequence[str],
) -> None:
    outputs = outputs_of(context, vector)
    if seen is not None:
        seen.update(outputs)
    found = judgement(vector, outputs, rounds or THOROUGHLY)
    _count(context, found)
    if found.findings:
        first = found.findings[0]
        others = f" (and {len(found.findings) - 1} more outputs)" if len(found.findings) > 1 else ""
        with checks.about(*accuracy):
            raise Failed(first.told + others, first.expected, first.found)


def outputs_of(context: CaseContext, vector: Vector) -> dict[str, Array]:
    """Execute the graph's example once; returns its outputs by name."""
    prepared_model = prepared(context, vector)
    example = vector.examples[0]
    built = build_request(vector, example, context.version)
    inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    inputs.write(0, built.input_data)
    outputs.write(0, bytes([FILL]) * built.output_size)
    request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
    execution = execute(context, prepared_model, request, measure=False)
    with checks.about("NNHAL-EXECUTE-001"):
        checks.status(execution.status, {ErrorStatus.NONE}, "execution of a supported graph")
    with checks.about("NNHAL-EXECUTE-002"):
        checks.that(
            bytes(inputs.read(0, len(built.input_data))) == built.input_data, "the execution modified its input memory"
        )
    return built.read_like(example, outputs.read(0, built.output_size))


def _count(context: CaseContext, found: Judgement) -> None:
    """Add what became of the elements to the notes of the case."""
    for name in ("elements", "widened", "undecided"):
        before = context.notes.get(name, 0)
        assert isinstance(before, int)
        context.notes[name] = before + getattr(found, name)
