"""Runs the clients of a case against a driver that is watched, and gives all of them their verdicts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib import clients
from npu_conformance.mlts.lib.clients import Load
from npu_conformance.mlts.lib.driver import Watch
from npu_conformance.mlts.lib.reports import Plan, Work
from npu_conformance.mlts.lib.supervision import ClientEnd, run_clients

_LATEST = 0.75
"""A client that is killed dies in this first part of its work, so that the others go on behind it."""


def run(context: CaseContext, plans: Sequence[Plan], models: Sequence[VectorHeader]) -> list[ClientEnd]:
    """Run clients side by side and judge them, the driver and its leaks; how they ended.

    models: whose first one a client infers that looks whether the driver still works.
    """
    watch = Watch(context, clients.visitor(context, models))
    watch.expect_plans(plans)
    ends = run_clients(plans, clients.patience(context, plans), observe=watch.observe)
    clients.judge_all(context, plans, ends)
    watch.judge()
    return ends


def run_terminated(context: CaseContext, work: Work, load: Load, percent: int) -> None:
    """Run waves of clients of one model, of which so many percent kill themselves, beside one that must never fail."""
    models = clients.supported_models(context, 1)
    watch = Watch(context, clients.visitor(context, models))
    watch.begin_waves()
    dice = random.Random(context.seed)
    first = 1
    while True:
        victims = set(dice.sample(range(load.clients), round(load.clients * percent / 100)))
        plans = [_client(context, first + n, models, load, work, dice, dies=n in victims) for n in range(load.clients)]
        plans.append(clients.liveness(context, models, load.clients * load.threads))
        watch.expect_plans(plans[:-1])
        ends = run_clients(plans, clients.patience(context, plans), observe=watch.observe)
        clients.judge_all(context, plans, ends, first)
        first += len(plans)
        if context.restarts or not watch.end_wave(len(victims)):
            break
    watch.judge()


def _client(
    context: CaseContext,
    number: int,
    models: Sequence[VectorHeader],
    load: Load,
    work: Work,
    dice: random.Random,
    *,
    dies: bool,
) -> Plan:
    more: dict[str, object] = {}
    if dies and load.seconds:
        more["die_at"] = dice.uniform(0.0, _LATEST * load.seconds)
    elif dies:
        more["die_after"] = dice.randint(1, max(1, int(_LATEST * load.threads * load.rounds)))
    return clients.plan(context, number, models, load, work=work, **more)
