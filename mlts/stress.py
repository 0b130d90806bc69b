"""Inference stress: several client processes, each executing a model of its own many times, all at once.

Bounded by the number of inferences, never by time. Each client has its verdict as a configuration, `case#client_1`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Group, Scope
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import Crashed, Failed, Hung, NotSupported
from npu_conformance.mlts.connection import ticket_for
from npu_conformance.mlts.reports import Plan, Verdict
from npu_conformance.mlts.supervision import ClientEnd, Patience, run_clients
from npu_conformance.specs import vectors
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.vectors import VectorHeader

cases = Behaviours("mlts.stress.parallel_inference", group=Group.EXECUTION)


@dataclass(frozen=True)
class Load:
    """How much: clients at once, and inferences of each."""

    clients: int
    inferences: int


LOADS = {Scope.SMOKE: Load(2, 20), Scope.DEFAULT: Load(3, 200), Scope.FULL: Load(6, 5000)}
_MODELS = 4
_FIRST_UID = 10_201
_MARGIN_SECONDS = 5.0
"""Beyond the driver's own deadlines, so that a hung driver is reported by its client and only a hung client here."""


@cases.case("processes", "ML-CRS-001", "ML-CRS-002", "ML-CRS-007", "ML-CRS-012", scope=Scope.SMOKE)
def processes(trial: Trial) -> None:
    """Every client process executes all its inferences with right results, and the driver answers afterwards."""
    load = LOADS[trial.scope]
    models = _supported_models(trial)
    plans = [plan(trial, number, next(models), load.inferences) for number in range(load.clients)]
    for number, end in enumerate(run_clients(plans, patience(trial)), start=1):
        with trial.configuration(f"client_{number}"):
            judge(end, load.inferences)
    checks.that(trial.is_alive(), "the driver does not answer after the clients have gone")


@cases.case("early_termination", "ML-CRS-004", "ML-CRS-006", "ML-CRS-007", "ML-CRS-012")
def early_termination(trial: Trial) -> None:
    """A client that is killed in the middle disturbs neither the other clients nor the driver."""
    load = LOADS[trial.scope]
    models = _supported_models(trial)
    victim = plan(trial, 0, next(models), load.inferences, die_after=max(1, load.inferences // 4))
    others = [plan(trial, number, next(models), load.inferences) for number in range(1, load.clients)]
    killed, *ends = run_clients([victim, *others], patience(trial))
    for number, end in enumerate(ends, start=1):
        with trial.configuration(f"client_{number}"):
            judge(end, load.inferences)
    with trial.configuration("victim"):
        checks.equal((killed.verdict, killed.inferences), (Verdict.CRASH, victim.die_after), "end of the killed client")
    checks.that(trial.is_alive(), "the driver does not answer after a client was killed")


def judge(end: ClientEnd, inferences: int) -> None:
    """Raise what a client's verdict means for the case: Failed, Hung or Crashed; SUCCESS has to be complete."""
    if end.verdict is Verdict.CRASH:
        raise Crashed(f"a client crashed: {end.message}", end.signal, end.stderr)
    if end.verdict is Verdict.HANG:
        raise Hung(f"a client hung: {end.message}", end.stderr)
    if end.verdict is Verdict.FAILURE:
        raise Failed(f"a client failed: {end.message}")
    checks.equal(end.inferences, inferences, "inferences of a successful client")


def plan(trial: Trial, number: int, model: VectorHeader, inferences: int, *, die_after: int = 0) -> Plan:
    """What a client does with a model, under the uid of its number."""
    address, ticket = ticket_for(trial, _FIRST_UID + number)
    return Plan(
        address=address,
        ticket=ticket,
        transports=trial.subject.memory.transports,
        version=trial.version,
        operation=model.operation,
        vector=model.name,
        inferences=inferences,
        die_after=die_after,
    )


def patience(trial: Trial) -> Patience:
    """How long a client may be silent: the driver's own deadlines and a margin."""
    deadlines, scale = trial.manifest.deadlines, trial.manifest.time_scale
    start = (deadlines.start + deadlines.call + deadlines.prepare) * scale + _MARGIN_SECONDS
    return Patience(start, deadlines.execute * scale + _MARGIN_SECONDS)


def _supported_models(trial: Trial) -> Iterator[VectorHeader]:
    """Endlessly, up to four small models of different operations that the device supports; NotSupported without any."""
    found = itertools.islice(filter(lambda header: _is_supported(trial, header), _candidates(trial)), _MODELS)
    models = list(found)
    if not models:
        raise NotSupported("the device supports none of the stored models")
    return itertools.cycle(models)


def _candidates(trial: Trial) -> Iterator[VectorHeader]:
    for operation in vectors.operations():
        for header in vectors.headers(operation):
            if header.since <= trial.version and header.rejected is None and not header.relaxed:
                yield header
                break


def _is_supported(trial: Trial, header: VectorHeader) -> bool:
    vector = vectors.load(header.operation, header.name)
    return all(trial.supported_operations(build_model(vector, trial.version).model))
