"""Inference stress: several client processes, each executing a model of its own many times, all at once.

Bounded by the number of inferences, never by time. Each client has its verdict as a configuration, `case#client_1`.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Verdict

cases = CaseGroup("mlts.stress.parallel_inference", group=Group.EXECUTION)


@cases.case("processes", "ML-CRS-001", "ML-CRS-002", "ML-CRS-012", scope=Scope.SMOKE)
def processes(context: CaseContext) -> None:
    """Every client process executes all its inferences with right results, and the driver answers afterwards."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.supervision import run_clients

    load = clients.LOADS[context.scope]
    models = clients.supported_models(context)
    plans = [clients.plan(context, number, next(models), load.inferences) for number in range(load.clients)]
    for number, end in enumerate(run_clients(plans, clients.patience(context)), start=1):
        with context.configuration(f"client_{number}"):
            clients.judge(end, load.inferences)
    checks.that(context.is_alive(), "the driver does not answer after the clients have gone")


@cases.case("early_termination", "ML-CRS-004", "ML-CRS-012")
def early_termination(context: CaseContext) -> None:
    """A client that is killed in the middle disturbs neither the other clients nor the driver."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.supervision import run_clients

    load = clients.LOADS[context.scope]
    models = clients.supported_models(context)
    victim = clients.plan(context, 0, next(models), load.inferences, die_after=max(1, load.inferences // 4))
    others = [clients.plan(context, number, next(models), load.inferences) for number in range(1, load.clients)]
    killed, *ends = run_clients([victim, *others], clients.patience(context))
    for number, end in enumerate(ends, start=1):
        with context.configuration(f"client_{number}"):
            clients.judge(end, load.inferences)
    with context.configuration("victim"):
        checks.equal((killed.verdict, killed.inferences), (Verdict.CRASH, victim.die_after), "end of the killed client")
    checks.that(context.is_alive(), "the driver does not answer after a client was killed")
