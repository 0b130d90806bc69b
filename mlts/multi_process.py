"""Many processes with several threads each, of which some are killed while they infer, or load models (ML-CRS-007).

Another client infers all the time and must never fail. Which clients die, and when, follows from the seed of the case.
"""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Work

cases = CaseGroup("mlts.multi_process", group=Group.EXECUTION)
_IDS = ("ML-CRS-007", "ML-CRS-011", "ML-CRS-012")


@cases.case("inference.none_terminated", *_IDS)
def inference_none_terminated(context: CaseContext) -> None:
    """Several processes with several threads each infer one model at once."""
    _run(context, Work.INFER, percent=0, rounds=60, seconds=1800.0)


@cases.case("inference.most_terminated", *_IDS)
def inference_most_terminated(context: CaseContext) -> None:
    """Of the processes that infer, four in five are killed."""
    _run(context, Work.INFER, percent=80, rounds=40, seconds=1200.0)


@cases.case("load.none_terminated", *_IDS, "ML-CRS-015")
def load_none_terminated(context: CaseContext) -> None:
    """Several processes with several threads each load one model again and again."""
    _run(context, Work.LOAD, percent=0, rounds=30, seconds=1200.0)


@cases.case("load.half_terminated", *_IDS)
def load_half_terminated(context: CaseContext) -> None:
    """Of the processes that load, half are killed."""
    _run(context, Work.LOAD, percent=50, rounds=20, seconds=1200.0)


@cases.case("load.all_terminated", *_IDS)
def load_all_terminated(context: CaseContext) -> None:
    """All of the processes that load are killed."""
    _run(context, Work.LOAD, percent=100, rounds=20, seconds=600.0)


def _run(context: CaseContext, work: Work, *, percent: int, rounds: int, seconds: float) -> None:
    """rounds: of each thread in the default scope. seconds: in the full one, as in AOSP's test."""
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.loading import run_terminated

    loads = {
        Scope.SMOKE: clients.Load(2, 2, max(4, rounds // 4)),
        Scope.DEFAULT: clients.Load(2, 3, rounds),
        Scope.FULL: clients.Load(6, 10, 100 * rounds, seconds),
    }
    run_terminated(context, work, clients.load_of(context, loads), percent)
