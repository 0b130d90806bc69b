"""What the stress cases need of their clients: how many, with which models, how long to wait, what their ends mean."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung, NotSupported
from npu_conformance.harness.run.app_connection import ticket_for
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib.reports import Plan, Verdict
from npu_conformance.mlts.lib.supervision import ClientEnd, Patience


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


def judge(end: ClientEnd, inferences: int) -> None:
    """Raise what a client's verdict means for the case: Failed, Hung or Crashed; SUCCESS has to be complete."""
    if end.verdict is Verdict.CRASH:
        raise Crashed(f"a client crashed: {end.message}", end.signal, end.stderr)
    if end.verdict is Verdict.HANG:
        raise Hung(f"a client hung: {end.message}", end.stderr)
    if end.verdict is Verdict.FAILURE:
        raise Failed(f"a client failed: {end.message}")
    checks.equal(end.inferences, inferences, "inferences of a successful client")


def plan(context: CaseContext, number: int, model: VectorHeader, inferences: int, *, die_after: int = 0) -> Plan:
    """What a client does with a model, under the uid of its number."""
    address, ticket, folder = ticket_for(context, _FIRST_UID + number)
    return Plan(
        address=address,
        ticket=ticket,
        transports=context.subject.memory.transports,
        version=context.version,
        operation=model.operation,
        vector=model.name,
        inferences=inferences,
        die_after=die_after,
        folder=folder,
    )


def patience(context: CaseContext) -> Patience:
    """How long a client may be silent: the driver's own deadlines and a margin."""
    deadlines, scale = context.manifest.deadlines, context.manifest.time_scale
    start = (deadlines.start + deadlines.call + deadlines.prepare) * scale + _MARGIN_SECONDS
    return Patience(start, deadlines.execute * scale + _MARGIN_SECONDS)


def supported_models(context: CaseContext) -> Iterator[VectorHeader]:
    """Endlessly, up to four small models of different operations that the device supports; NotSupported without any."""
    found = itertools.islice(filter(lambda header: _is_supported(context, header), _candidates(context)), _MODELS)
    models = list(found)
    if not models:
        raise NotSupported("the device supports none of the stored models")
    return itertools.cycle(models)


def _candidates(context: CaseContext) -> Iterator[VectorHeader]:
    for operation in vectors.operations():
        for header in vectors.headers(operation):
            if header.since <= context.version and header.rejected is None and not header.relaxed:
                yield header
                break


def _is_supported(context: CaseContext, header: VectorHeader) -> bool:
    vector = vectors.load(header.operation, header.name)
    return all(context.supported_operations(build_model(vector, context.version).model))
