"""A client that prepares, or executes, a new random graph in each round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from npu_conformance.corpus import random_graphs
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.reports import Graphs, Plan, Work
from npu_conformance.mlts.lib.rounds import Measured, Rounds, load
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector
    from npu_conformance.harness.run.context import CaseContext
    from npu_conformance.harness.subject.handle import SubjectHandle

_WIDE_STEP = 8
"""One seed in so many has the wide dimension of its recipe, the seventh first."""
_TRIED_OPERATIONS, _FEWEST_TRIALS = 300, 3
"""Operations of the graphs that the device may refuse one after the other before it supports none of these."""
_EXECUTIONS = 2


def work(subject: SubjectHandle, plan: Plan, thread: int, measured: Measured) -> Rounds:
    """Each round has a graph of its own. measured: how many were refused."""
    assert plan.graphs is not None
    found = _supported(subject, plan.graphs, measured)
    first = next(found)
    yield 0
    number = 0
    while True:
        number += 1
        _round(subject, plan, first if number == 1 else next(found))
        yield number


def _round(subject: SubjectHandle, plan: Plan, vector: Vector) -> None:
    try:
        if plan.work is Work.GRAPH_LOAD:
            load(subject, vector)
        else:
            for _ in infer(subject, vector, _EXECUTIONS, judge=_Answers().judge):
                pass
    except Failed as failed:
        raise Failed(f"graph {vector.name}: {failed}", failed.expected, failed.found) from None


class _Answers:
    """The answers of one graph: every output is written, and is the same in each execution.

    What they have to be is asked in vts.random_graphs; AOSP's crash tests do not look at them.
    """

    def __init__(self) -> None:
        self._steadiness = Steadiness()

    def judge(self, context: CaseContext, vector: Vector, outputs: dict[str, Array], number: int) -> None:
        for name, output in outputs.items():
            before = bytes([FILL]) * output.nbytes
            is_written = output.tobytes() != before or vector.examples[0].outputs[name].tobytes() == before
            checks.that(is_written, f"output {name} of execution {number}: expected a result, found nothing written")
        self._steadiness.check(0, outputs)


def _supported(subject: SubjectHandle, graphs: Graphs, measured: Measured) -> Iterator[Vector]:
    """The graphs of which the device supports every operation. NotSupported behind too many others."""
    refused, most = 0, max(_FEWEST_TRIALS, _TRIED_OPERATIONS // graphs.size)
    for vector in _graphs(graphs, subject.version):
        device = subject.interfaces.device
        assert device is not None
        if all(device.get_supported_operations(build_model(vector, subject.version).model)):
            refused = 0
            yield vector
            continue
        refused += 1
        measured["refused graphs"] = measured.get("refused graphs", 0) + 1
        if refused == most:
            raise NotSupported(f"the device supports none of {most} random graphs one after the other")


def _graphs(graphs: Graphs, version: Version) -> Iterator[Vector]:
    recipe = random_graphs.GraphRecipe(
        size=graphs.size,
        version=min(version, Version.V1_3),
        operations=graphs.operations,
        wide=graphs.wide,
        most_elements=max(256, graphs.wide),
    )
    seed, step = (graphs.seed * _WIDE_STEP - 1, _WIDE_STEP) if graphs.wide else (graphs.seed, 1)
    while True:
        yield random_graphs.graph(seed, recipe)
        seed += step
