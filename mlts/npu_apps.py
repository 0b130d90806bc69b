"""Apps in processes of their own that share one NPU through the NPU Manager: they load, infer, die, are pre-empted.

Only one of their models fits at a time, so that each has to wait for its turn. Nothing may be lost: no request without
an answer, no app without its inferences, no memory of an app that has died.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext

if TYPE_CHECKING:
    from npu_conformance.mlts.lib.clients import Load
    from npu_conformance.mlts.lib.npu_apps import NpuApps

cases = CaseGroup("mlts.npu_apps", interface="manager")


@cases.case("turns.taken", "ML-CRS-017", "ML-CRS-001", "ML-CRS-012")
def turns_taken(context: CaseContext) -> None:
    """Apps of equal importance load, infer and unload in turn; each comes to all its inferences."""
    apps = _apps(context)
    load = _load(context, rounds=40, clients=3)
    apps.run([apps.plan(n, load) for n in range(load.clients)])


@cases.case("death.while_loaded", "ML-CRS-017", "ML-CRS-004", "ML-CRS-012")
def death_while_loaded(context: CaseContext) -> None:
    """An app that dies with its model in the NPU leaves the NPU to the others."""
    apps = _apps(context)
    load = _load(context, rounds=40, clients=3)
    plans = [apps.plan(n, load) for n in range(1, load.clients)]
    apps.run([apps.plan(0, load, die_after=_random(context, load)), *plans])


@cases.case("pre_emption.by_importance", "ML-CRS-017", "ML-CRS-012")
def pre_emption_by_importance(context: CaseContext) -> None:
    """An app of the foreground has one of the background unload, which goes on when it may."""
    from npu_conformance.harness.judge import checks

    apps = _apps(context)
    load = _load(context, rounds=40, clients=2)
    apps.run([apps.plan(0, load, pre_empted=True, until_stopped=True), apps.plan(1, load)])
    if apps.ends and not context.restarts:
        requests = apps.ends[0].measured.get("unload requests", 0.0)
        checks.that(requests > 0, "the app of the background was never asked to unload")


def _random(context: CaseContext, load: Load) -> int:
    import random

    return random.Random(context.seed).randint(1, load.rounds // 2)


def _load(context: CaseContext, rounds: int, clients: int) -> Load:
    from npu_conformance.mlts.lib.clients import Load, load_of

    loads = {
        Scope.SMOKE: Load(2, 1, rounds // 4),
        Scope.DEFAULT: Load(clients, 1, rounds),
        Scope.FULL: Load(2 * clients, 1, 100 * rounds, seconds=600.0),
    }
    return load_of(context, loads)


def _apps(context: CaseContext) -> NpuApps:
    from npu_conformance.mlts.lib.npu_apps import NpuApps

    return NpuApps(context)
