"""Cases of random graphs, made without anything that makes or judges graphs: listing has no need of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_cases import attach, vector_from

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector

REQUIREMENTS = (
    "RGG-006", "RGG-005", "RGG-008", "RGG-009", "NNHAL-SUPPORT-001", "NNHAL-PREPARE-004", "NNHAL-EXECUTE-001",
)  # fmt: skip
"""What the verdict about a graph is evidence for."""

Graphs = Mapping[str, Callable[[], "Vector"]]
"""What makes a graph, by the name of its sub-verdict."""


def case_of(
    vector: Vector, case_id: str, seen: dict[str, Array] | None = None, rounds: Sequence[int] | None = None
) -> Case:
    """The case of one graph, whose failure file holds the graph itself.

    seen: gets the outputs of the device. rounds: how thoroughly it is judged; None for thoroughly.
    """

    def run(context: CaseContext) -> None:
        from npu_conformance.vts.lib.random_graphs import run_graph

        attach(context, vector)
        run_graph(context, vector, seen, rounds)

    operations = tuple(dict.fromkeys(operation.type for operation in vector.operations))
    types = tuple(dict.fromkeys(operand.type.name for operand in vector.operands.values() if operand.dimensions))
    return Case(
        case_id, run, REQUIREMENTS, f"a random graph of {' '.join(one.type for one in vector.operations)}",
        since=vector.since, group=Group.EXECUTION, operations=operations, types=types,
    )  # fmt: skip


def case_from(payload: Any) -> Case:
    """The case of a failure file, which holds the graphs that failed."""
    if "vector" in payload:
        return case_of(vector_from(payload), payload["id"])
    graphs = {name: functools.partial(vector_from, one) for name, one in payload["graphs"].items()}
    return Case(payload["id"], lambda context: run_graphs(context, graphs), REQUIREMENTS, "random graphs")


def run_graphs(context: CaseContext, graphs: Graphs, **details: Any) -> None:
    """Give every graph a verdict of its own; the failure file gets those that failed. details: of `run_graph`."""
    from npu_conformance.vts.lib.random_graphs import run_graph

    context.attach(lambda: {"id": context.case.id, "graphs": red_ones(context, graphs)})
    for name, make in graphs.items():
        if context.wants(name):
            with context.configuration(name):
                run_graph(context, make(), **details)


def red_ones(context: CaseContext, graphs: Graphs) -> dict[str, Any]:
    """The graphs whose sub-verdicts are red, for a failure file."""
    from npu_conformance.corpus.vectors.writing import document_of

    red = [name for name, record in context.configurations.items() if is_red(record.details.outcome)]
    vectors = {name: graphs[name]() for name in red}
    return {name: {"id": name, "operation": one.operation, "vector": document_of(one)} for name, one in vectors.items()}
