"""Measures mutated models per second on one core: made, checked by the validator, and rejected through the wire."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.figures import Figure
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.mutations import FAMILIES, needs
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare

_EVERY = 40
_TURNS = 3
_VERSIONS = (Version.V1_3, Version.FL8)


def figures() -> Iterator[Figure]:
    """Harness and host share one core, by seconds of the clock, so that the load of other processes counts as well."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    try:
        for version in _VERSIONS:
            yield from _figures(version)
    finally:
        os.sched_setaffinity(0, cores)


def _figures(version: Version) -> Iterator[Figure]:
    models = _models(version)
    operands = sum(len(model.main.operands) for model in models) / len(models)
    compared = f"{len(models)} models of {operands:.0f} operands on average"
    yield Figure(f"mutants made, {version}", _a_second(models, lambda: _models(version)), "/s", compared)
    checked = _a_second(models, lambda: [validate_model(model, version) for model in models])
    yield Figure(f"mutants checked in process, {version}", checked, "/s", compared, 8000, at_least=True)
    few = models[::4]
    calls = 3 if version >= Version.FL8 else 2
    subject = open_subject("reference", options={"hal": version.value})
    context = CaseContext(Case("vts.validation.benchmark", lambda _: None, ()), subject)

    def refuse() -> None:
        for model in few:
            expect_rejected_at_prepare(context, model)

    try:
        refused = _a_second(few, refuse)
    finally:
        subject.close()
    compared = f"{calls} calls each: {calls * refused:.0f} calls/s"
    yield Figure(f"mutants refused by wire, {version}", refused, "/s", compared, 3000, at_least=True)


def _models(version: Version) -> list[Model]:
    """All mutations, but those with pools, of one vector of so many."""
    headers = [header for header in vectors.all_headers() if header.rejected is None and header.since <= version]
    valid = [build_model(vectors.load(one.operation, one.name), version).model for one in headers[::_EVERY]]
    families = [one for one in FAMILIES if one.since <= version <= one.until and not one.pooled]
    return [
        mutation.model
        for model in valid
        for family in families
        if model.referenced or family.needs is not needs.other_graphs
        for mutation in family.mutate(model, version)
    ]


def _a_second(models: Sequence[Model], work: Callable[[], object]) -> float:
    """Return the best of several turns, the least disturbed one."""
    spent = []
    for _ in range(_TURNS):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return len(models) / min(spent)
