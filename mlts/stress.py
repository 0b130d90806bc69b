"""Parallel inference: several client processes, or threads of one process, infer at once, and every output is compared.

Bounded by the number of inferences, in the full scope by the time that AOSP's test takes. Each client has its verdict
as a configuration, `case#client_1`; so have the driver and what it holds, `case#driver` and `case#leaks`.
"""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext

cases = CaseGroup("mlts.stress.parallel_inference", group=Group.EXECUTION)


@cases.case("processes", "ML-CRS-001", "ML-CRS-002", "ML-CRS-012", "ML-CRS-014", "ML-CRS-016", scope=Scope.SMOKE)
def processes(context: CaseContext) -> None:
    """Every client process executes all its inferences with right results, and the driver answers afterwards."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run

    loads = {
        Scope.SMOKE: clients.Load(2, 1, 20),
        Scope.DEFAULT: clients.Load(3, 1, 200),
        Scope.FULL: clients.Load(6, 1, 5000),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context)
    run(context, [clients.plan(context, n, [models[n % len(models)]], load) for n in range(load.clients)], models)


@cases.case("early_termination", "ML-CRS-004", "ML-CRS-012")
def early_termination(context: CaseContext) -> None:
    """A client that is killed in the middle disturbs neither the other clients nor the driver."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run

    loads = {
        Scope.SMOKE: clients.Load(2, 1, 20),
        Scope.DEFAULT: clients.Load(3, 1, 200),
        Scope.FULL: clients.Load(6, 1, 5000),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context)
    plans = [
        clients.plan(context, n, [models[n % len(models)]], load, die_after=0 if n else max(1, load.rounds // 4))
        for n in range(load.clients)
    ]
    run(context, plans, models)


@cases.case("threads", "ML-CRS-005", "ML-CRS-001", "ML-CRS-002", "ML-CRS-014", "ML-CRS-016")
def threads(context: CaseContext) -> None:
    """Threads of one client process infer all models in turn, each over a connection of its own."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run

    loads = {
        Scope.SMOKE: clients.Load(1, 2, 10),
        Scope.DEFAULT: clients.Load(1, 4, 60),
        Scope.FULL: clients.Load(1, 12, 1000, seconds=1200.0),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context)
    run(context, [clients.plan(context, 0, models, load)], models)


@cases.case("in_process", "ML-CRS-015", "ML-CRS-005")
def in_process(context: CaseContext) -> None:
    """Threads of this very process infer all models in turn: a driver's client need not be a process of its own."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.driver import Watch
    from npu_conformance.mlts.lib.supervision import run_here

    loads = {
        Scope.SMOKE: clients.Load(1, 2, 10),
        Scope.DEFAULT: clients.Load(1, 4, 60),
        Scope.FULL: clients.Load(1, 8, 1000, seconds=1800.0),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context)
    watch = Watch(context, clients.visitor(context, models))
    plan = clients.plan(context, 0, models, load)
    watch.expect(load)
    clients.judge_all(context, [plan], [run_here(plan, watch.observe)])
    watch.judge()


@cases.case("many_models", "ML-CRS-005", "ML-CRS-001", "ML-CRS-002")
def many_models(context: CaseContext) -> None:
    """A dozen threads each load a model and infer it: what fits singly fits beside the others."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run

    loads = {
        Scope.SMOKE: clients.Load(1, 10, 4),
        Scope.DEFAULT: clients.Load(2, 6, 10),
        Scope.FULL: clients.Load(2, 16, 1000, seconds=300.0),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context, 1)
    run(context, [clients.plan(context, number, models, load) for number in range(load.clients)], models)


@cases.case("beside_releases", "ML-CRS-005", "ML-CRS-007", "ML-CRS-001")
def beside_releases(context: CaseContext) -> None:
    """One client infers while another prepares models and lets go of them again."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run
    from npu_conformance.mlts.lib.reports import Work

    loads = {
        Scope.SMOKE: clients.Load(2, 2, 10),
        Scope.DEFAULT: clients.Load(2, 3, 60),
        Scope.FULL: clients.Load(2, 8, 5000, seconds=600.0),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context, 1)
    works = (Work.INFER, Work.LOAD)
    run(context, [clients.plan(context, n, models, load, work=work) for n, work in enumerate(works)], models)
