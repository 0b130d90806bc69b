"""Compilation: without a cache, saving to one, and from it; how large the cache is (ML-LAT-005)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.caching import CacheClient, outcome
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation, model_of, needs_room
from npu_conformance.mlts.lib import times
from npu_conformance.mlts.lib.loaded_model import LoadedModel, built
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.times import Budget
from npu_conformance.mlts.lib.zoo_cases import PerModel, Side, sides
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import Samples, ZooModel

_LEAST, _MOST = 3, 100
"""Compilations of each kind; the most as in MLTS."""
_PREPARED, _RESTORED = "NNHAL-EXECUTE-018", "NNHAL-CACHE-010"
"""What is broken where a model answers otherwise: one that was compiled again, one that comes from a cache."""


def compile_model(context: CaseContext, model: ZooModel) -> None:
    """Measure the three kinds of compilation, each of which gives a model that answers alike."""
    samples = model.samples(1)
    budget = replace(times.budget_of(context), least=_LEAST, most=_MOST)
    with sides(context) as implementations:
        for side in implementations:
            context.measurements += side.attempt(functools.partial(_measured, side, model, samples, budget)) or ()


def _measured(side: Side, model: ZooModel, samples: Samples, budget: Budget) -> list[Measurement]:
    return list(Compiler(side, model, samples, budget).measurements())


class Compiler:
    """Prepares one model again and again on one implementation, and measures each kind that it has."""

    def __init__(self, side: Side, model: ZooModel, samples: Samples, budget: Budget) -> None:
        self._side, self._model, self._samples, self._budget = side, model, samples, budget
        self._built = built(side.context, model.vector).model
        self._steadiness = Steadiness()

    def measurements(self) -> Iterator[Measurement]:
        """What each kind takes, and how large the cache is where the device keeps one of the model."""
        context = self._side.context
        yield self._repeated("prepare_without_cache", lambda: context.prepare(self._built), _PREPARED)
        client = CacheClient(context) if context.version >= Version.V1_2 else None
        if client is None or not client.caches:
            return
        cache = client.cache()
        yield self._repeated("prepare_saving", lambda: client.save(self._built, client.cache().handles()), _PREPARED)
        saved = client.save(self._built, cache.handles())
        model_of(saved, "prepareModel with cache files")
        size = sum(map(len, cache.contents()))
        if size and outcome(client.restore(cache.handles())) == ErrorStatus.NONE:
            yield self._repeated("prepare_from_cache", lambda: client.restore(cache.handles()), _RESTORED)
            yield Measurement(self._model.name, "cache_size", "bytes", size, beside=self._side.name)

    def _repeated(self, name: str, prepare: Callable[[], Preparation], rule: str) -> Measurement:
        """The times of many preparations, of which the first and the last have to give the same model.

        rule: the requirement that is broken where they do not.
        """
        last: list[Preparation] = []

        def step() -> float:
            started = times.monotonic()
            preparation = prepare()
            seconds = times.monotonic() - started
            needs_room(preparation)
            checks.status(outcome(preparation), {ErrorStatus.NONE}, name.replace("_", " "))
            if not last:
                self._check(preparation, rule)
            last[:] = [preparation]
            return seconds

        seconds = times.samples(self._budget, step)
        self._check(last[0], rule)
        return times.of_seconds(self._model.name, name, seconds, self._side.name)

    def _check(self, preparation: Preparation, rule: str) -> None:
        if preparation.prepared_model is None:
            checks.fail("preparation with status NONE", "a prepared model", "None")
        loaded = LoadedModel(self._side.context, self._model.vector, prepared_model=preparation.prepared_model)
        outputs = Stream(self._model, self._samples, loaded).infer().outputs
        self._steadiness.check(0, outputs, rule)


cases = PerModel(
    "mlts.latency",
    "compilation",
    ("ML-LAT-005", "ML-LAT-001", _PREPARED, _RESTORED),
    "How long it takes to prepare {model}: without a cache, saving to one, and from it.",
    compile_model,
).cases
