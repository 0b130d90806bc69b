"""Models whose constants lie in a file that is mapped, as apps load their files of weights (ML-CRS-015)."""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Work

cases = CaseGroup("mlts.mapped_load.constants", group=Group.EXECUTION)


@cases.case("load", "ML-CRS-015", "ML-CRS-001", "ML-CRS-014", "ML-CRS-016")
def load(context: CaseContext) -> None:
    """Threads of a client load models from mapped files again and again, and give the files back."""
    _run(context, Work.LOAD, rounds=30)


@cases.case("inference", "ML-CRS-015", "ML-CRS-001")
def inference(context: CaseContext) -> None:
    """What is loaded from a mapped file computes right results, for as long as it is loaded."""
    _run(context, Work.INFER, rounds=60)


def _run(context: CaseContext, work: Work, *, rounds: int) -> None:
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run

    loads = {
        Scope.SMOKE: clients.Load(1, 2, max(4, rounds // 4)),
        Scope.DEFAULT: clients.Load(1, 4, rounds),
        Scope.FULL: clients.Load(1, 4, 100 * rounds, seconds=70.0),
    }
    amount = clients.load_of(context, loads)
    models = clients.supported_models(context, with_constants=True)
    run(context, [clients.plan(context, 0, models, amount, work=work, mapped=True)], models)
