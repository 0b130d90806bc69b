"""Random graphs that a client loads, or loads and executes, one after the other (ML-CRS-008).

Small ones have ten operations, wide ones a dimension of up to a thousand, deep ones 600 operations. Their operations
are drawn from those that the device supports; a graph that it does not support as a whole is passed over.
"""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Work

cases = CaseGroup("mlts.random_models", group=Group.EXECUTION)
_SMALL, _DEEP = 10, 600
_WIDE = 1000


@cases.case("load.small", "ML-CRS-008", "ML-CRS-001")
def load_small(context: CaseContext) -> None:
    """Graphs of ten operations are prepared."""
    _run(context, Work.GRAPH_LOAD, _SMALL, {Scope.SMOKE: 5, Scope.DEFAULT: 30, Scope.FULL: 600})


@cases.case("load.wide", "ML-CRS-008", "ML-CRS-001")
def load_wide(context: CaseContext) -> None:
    """Graphs with a large dimension are prepared."""
    _run(context, Work.GRAPH_LOAD, _SMALL, {Scope.SMOKE: 2, Scope.DEFAULT: 10, Scope.FULL: 600}, wide=_WIDE)


@cases.case("load.deep", "ML-CRS-008", "ML-CRS-001")
def load_deep(context: CaseContext) -> None:
    """Graphs of 600 operations are prepared."""
    _run(context, Work.GRAPH_LOAD, _DEEP, {Scope.SMOKE: 1, Scope.DEFAULT: 1, Scope.FULL: 600})


@cases.case("inference.small", "ML-CRS-008", "ML-CRS-001")
def inference_small(context: CaseContext) -> None:
    """Graphs of ten operations are prepared and executed twice, with the same results."""
    _run(context, Work.GRAPH_INFER, _SMALL, {Scope.SMOKE: 5, Scope.DEFAULT: 30, Scope.FULL: 600})


@cases.case("inference.wide", "ML-CRS-008", "ML-CRS-001")
def inference_wide(context: CaseContext) -> None:
    """Graphs with a large dimension are prepared and executed twice, with the same results."""
    _run(context, Work.GRAPH_INFER, _SMALL, {Scope.SMOKE: 2, Scope.DEFAULT: 10, Scope.FULL: 600}, wide=_WIDE)


@cases.case("inference.deep", "ML-CRS-008", "ML-CRS-001")
def inference_deep(context: CaseContext) -> None:
    """Graphs of 600 operations are prepared and executed twice, with the same results."""
    _run(context, Work.GRAPH_INFER, _DEEP, {Scope.SMOKE: 1, Scope.DEFAULT: 1, Scope.FULL: 600})


def _run(context: CaseContext, work: Work, size: int, counts: dict[Scope, int], wide: int = 0) -> None:
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run
    from npu_conformance.mlts.lib.reports import Graphs

    load = clients.load_of(context, {scope: clients.Load(1, 1, count) for scope, count in counts.items()})
    models = clients.supported_models(context, 1)
    graphs = Graphs(1 + context.seed % 10_000, size, clients.supported_operations(context), wide)
    plan = clients.plan(context, 0, models, load, work=work, graphs=graphs)
    (end,) = run(context, [plan], models)
    for name, count in end.measured.items():
        context.note(name, int(count))
