"""Early termination: a client with several threads that load models is killed in the middle; the driver survives it."""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext

cases = CaseGroup("mlts.early_termination", group=Group.EXECUTION)


@cases.case("loading.killed", "ML-CRS-006", "ML-CRS-011", "ML-CRS-012")
def loading_killed(context: CaseContext) -> None:
    """A client dies while four of its threads prepare models; another one infers all the time, and never fails."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run_terminated
    from npu_conformance.mlts.lib.reports import Work

    loads = {
        Scope.SMOKE: clients.Load(1, 2, 10),
        Scope.DEFAULT: clients.Load(1, 4, 20),
        Scope.FULL: clients.Load(1, 4, 1000, seconds=70.0),
    }
    run_terminated(context, Work.LOAD, clients.load_of(context, loads), 100)
