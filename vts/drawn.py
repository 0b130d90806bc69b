"""Models of one operation with sizes and parameters by which drivers choose their kernels, drawn from official seeds.

What is wrong behind a guard - 3x3 filters with stride 2, channels that fill vectors, one permutation, equal scales - is
wrong there alone, where hand-written vectors seldom stand. The sub-verdicts of a case are the models of its seeds: the
first seed in the default scope, all official ones in the full scope.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from npu_conformance.corpus import drawn
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_cases import vector_from
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.vts.lib.lacking import require_operation
from npu_conformance.vts.lib.random_graph_cases import Graphs, run_graphs


def cases() -> Iterator[Case]:
    """A case for each operation."""
    yield from map(_case, drawn.operations())


def cases_under(subject: str) -> Iterator[Case]:
    """The case of one operation."""
    if subject in drawn.operations():
        yield _case(subject)


def case_from(payload: Any) -> Case:
    """The case of a failure file, which holds the models that failed."""
    operation = payload["id"].split(".")[2]
    graphs = {name: functools.partial(vector_from, one) for name, one in payload["graphs"].items()}
    return Case(payload["id"], lambda context: _run(operation, graphs, context), _requirements(operation), "models")


def _case(operation: str) -> Case:
    def run(context: CaseContext) -> None:
        require_operation(context, operation)
        seeds = range(drawn.SEEDS if context.scope is Scope.FULL else 1)
        models = {one.name: one for seed in seeds for one in drawn.models(operation, seed, context.version)}
        _run(operation, {name: functools.partial(models.__getitem__, name) for name in models}, context)

    return Case(
        f"vts.drawn.{operation}.models",
        run,
        _requirements(operation),
        f"Models of {operation} of the sizes and parameters that drivers choose kernels by are computed like any.",
        since=catalogue.operation(operation).since,
        group=Group.EXECUTION,
        scope=Scope.DEFAULT,
        operations=(operation,),
    )


def _requirements(operation: str) -> tuple[str, ...]:
    return (result_requirement(operation), "NNHAL-EXECUTE-001")


def _run(operation: str, models: Graphs, context: CaseContext) -> None:
    if not models:
        raise NotApplicable(f"HAL {context.version} has no such model of {operation}")
    run_graphs(context, models, accuracy=(result_requirement(operation),))
