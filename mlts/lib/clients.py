"""What the cases need of their clients: how many, with which models, how long to wait, what their ends mean."""

from __future__ import annotations

import itertools
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.random_graphs.official import WITHOUT_GRAPHS
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung, NotSupported
from npu_conformance.harness.run.app_connection import ticket_for
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Plan, StoredModel, Verdict, Work
from npu_conformance.mlts.lib.supervision import ClientEnd, Patience

_MODELS = 4
_FIRST_UID = 10_201
VISITOR_UID = 10_999
"""Of the client that comes, infers once and goes; that of the one that must never fail is the one before."""
_MARGIN_SECONDS = 5.0
"""Beyond the driver's own deadlines, so that a hung driver is reported by its client and only a hung client here."""
_SLOW_SECONDS = 60.0
"""How long a client may take to make a random graph and to judge it."""
_FEWEST_ROUNDS = 4
_ASKED = 40
"""Operations that are asked for, for random graphs."""


@dataclass(frozen=True)
class Load:
    """How much: clients at once, threads of each, and rounds of each thread, or seconds instead."""

    clients: int
    threads: int
    rounds: int
    seconds: float = 0.0

    @property
    def total(self) -> int:
        """Rounds of all together."""
        return self.clients * self.threads * self.rounds


Loads = dict[Scope, Load]


def load_of(context: CaseContext, loads: Loads) -> Load:
    """The load of the run's scope, longer or shorter as the run's duration scale says."""
    load, scale = loads[context.scope], context.duration_scale
    rounds = max(min(load.rounds, _FEWEST_ROUNDS), round(load.rounds * scale))
    return replace(load, rounds=rounds, seconds=load.seconds * scale)


def judge(end: ClientEnd, rounds: int) -> None:
    """Raise what a client's verdict means for the case: Failed, Hung or Crashed; SUCCESS has to be complete.

    rounds: that it should have done; 0 where it had a time for them instead, in which it does one at least.
    """
    if end.verdict is Verdict.CRASH:
        raise Crashed(f"a client crashed: {end.message}", end.signal, end.stderr)
    if end.verdict is Verdict.HANG:
        raise Hung(f"a client hung: {end.message}", end.stderr)
    if end.verdict is Verdict.FAILURE:
        raise Failed(f"a client failed: {end.message}")
    if end.lacking and not end.rounds:
        raise NotSupported(end.lacking)
    if end.lacking:
        return
    if rounds:
        checks.equal(end.rounds, rounds, "rounds of a successful client")
    else:
        checks.that(end.rounds > 0, "a successful client has done no round in its time")


def judge_as_planned(plan: Plan, end: ClientEnd) -> None:
    """As judge; a client that should kill itself has to have done so, and by that alone it is no CRASH."""
    if not plan.is_victim:
        timed = plan.until_stopped or plan.seconds > 0
        judge(end, 0 if timed else plan.rounds * plan.threads)
        return
    is_killed = end.verdict is Verdict.CRASH and end.signal == signal.SIGKILL
    if is_killed and (plan.die_at or end.rounds == plan.die_after):
        return
    judge(end, 0)
    checks.fail("end of a client that was to be killed", f"its death after {plan.die_after} rounds", "success")


def judge_all(context: CaseContext, plans: Sequence[Plan], ends: Sequence[ClientEnd], first: int = 1) -> None:
    """Give each client its verdict as a configuration: `client_N`, `victim_N` or `liveness`."""
    for number, (plan, end) in enumerate(zip(plans, ends, strict=True), start=first):
        name = (
            "liveness"
            if plan.until_stopped and not plan.pre_empted
            else f"{'victim' if plan.is_victim else 'client'}_{number}"
        )
        with context.configuration(name if name not in context.configurations else f"{name}_{number}"):
            judge_as_planned(plan, end)


def plan(context: CaseContext, number: int, models: Sequence[VectorHeader], load: Load, **more: Any) -> Plan:
    """What a client does with these models, under the uid of its number. more: further fields of its plan."""
    return ticketed(context, _FIRST_UID + number, models, load, crowd=load.clients * load.threads, **more)


def visitor(context: CaseContext, models: Sequence[VectorHeader]) -> Plan:
    """The plan of a client that comes, infers once and goes."""
    return ticketed(context, VISITOR_UID, models[:1], Load(1, 1, 1))


def ticketed(
    context: CaseContext, uid: int, models: Sequence[VectorHeader], load: Load, tickets: int = 0, **more: Any
) -> Plan:
    """A plan whose threads connect as this uid. tickets: how many, where not one for each thread."""
    given = [ticket_for(context, uid) for _ in range(tickets or load.threads)]
    address, _, folder = given[0]
    fields: dict[str, Any] = {
        "address": address,
        "tickets": tuple(ticket for _, ticket, _ in given),
        "transports": context.subject.memory.transports,
        "version": context.version,
        "models": tuple(StoredModel(each.operation, each.name) for each in models),
        "rounds": load.rounds,
        "seconds": load.seconds,
        "folder": folder,
    }
    return Plan(**{**fields, **more})


def renewed(context: CaseContext, plan: Plan) -> Plan:
    """A visitor's plan with a new ticket: each is good for one connection."""
    address, ticket, folder = ticket_for(context, VISITOR_UID)
    return msgspec.structs.replace(plan, address=address, tickets=(ticket,), folder=folder)


def liveness(context: CaseContext, models: Sequence[VectorHeader], crowd: int) -> Plan:
    """A client that infers the first model until all others have ended: it must never fail (ML-CRS-011)."""
    return ticketed(context, VISITOR_UID - 1, models[:1], Load(1, 1, 1), until_stopped=True, crowd=crowd + 1)


def patience(context: CaseContext, plans: Sequence[Plan]) -> Patience:
    """How long a client may be silent: the driver's own deadlines, for all calls one after the other, and a margin."""
    deadlines = context.manifest.deadlines
    scale = context.manifest.time_scale * max(plan.crowd for plan in plans)
    making = _SLOW_SECONDS if any(plan.graphs for plan in plans) else 0.0
    pause = max(plan.pause for plan in plans)
    start = (deadlines.start + deadlines.call + deadlines.prepare) * scale + making + _MARGIN_SECONDS
    loads = any(plan.work is not Work.INFER or len(plan.models) > 1 for plan in plans)
    step = deadlines.execute + (deadlines.prepare + deadlines.call if loads else 0.0)
    return Patience(start, step * scale + making + pause + _MARGIN_SECONDS)


def supported_models(context: CaseContext, count: int = _MODELS, *, with_constants: bool = False) -> list[VectorHeader]:
    """Up to so many small models of different operations that the device supports; NotSupported without any.

    with_constants: they have tensors among their constants.
    """
    fitting = (header for header in _candidates(context) if not with_constants or _has_constants(header))
    models = list(itertools.islice((header for header in fitting if _is_supported(context, header)), count))
    if not models:
        raise NotSupported("the device supports none of the stored models")
    return models


def supported_operations(context: CaseContext) -> tuple[str, ...]:
    """Names of operations of which the device supports the first small model: what random graphs are made of.

    Up to as many as a run can ask for in a moment, in an order that follows from the seed of the case.
    """
    candidates = [header for header in _candidates(context) if header.operation not in WITHOUT_GRAPHS]
    random.Random(context.seed).shuffle(candidates)
    found = [header.operation for header in candidates[:_ASKED] if _is_supported(context, header)]
    if not found:
        raise NotSupported("the device supports none of the operations that random graphs are made of")
    return tuple(sorted(found))


def _candidates(context: CaseContext) -> Iterator[VectorHeader]:
    for operation in vectors.operations():
        for header in vectors.headers(operation):
            if header.since <= context.version and header.rejected is None and not header.relaxed:
                yield header
                break


def _load(header: VectorHeader) -> Vector:
    return vectors.load(header.operation, header.name)


def _has_constants(header: VectorHeader) -> bool:
    return any(operand.value is not None and operand.dimensions for operand in _load(header).operands.values())


def _is_supported(context: CaseContext, header: VectorHeader) -> bool:
    return all(context.supported_operations(build_model(_load(header), context.version).model))
