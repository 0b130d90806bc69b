"""Inference: the first one, then one after the other, with inputs that are new and with one that is known."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.mlts.lib import times, told
from npu_conformance.mlts.lib.known_inputs import KnownInputs
from npu_conformance.mlts.lib.loaded_model import Inference, LoadedModel, built
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.times import Budget
from npu_conformance.mlts.lib.zoo_cases import PerModel, Side, sides
from npu_conformance.specs.documents.results import Measurement

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import Samples, ZooModel

_ITEMS = 16
_KNOWN = 0
"""The item that is repeated."""


def infer(context: CaseContext, model: ZooModel) -> None:
    """Measure every way of executing that frameworks use, with the first inference for itself."""
    built(context, model.vector)
    samples = model.samples(_ITEMS)
    budget = times.budget_of(context)
    with sides(context) as implementations:
        for executor in ("", "burst"):
            if not executor or executor in executors(context.version):
                with context.configuration(executor or executors(context.version)[0]):
                    _measure(context, model, samples, implementations, executor, budget)


def _measure(
    context: CaseContext,
    model: ZooModel,
    samples: Samples,
    implementations: tuple[Side, ...],
    executor: str,
    budget: Budget,
) -> None:
    started = [_started(side, model, samples, executor) for side in implementations]
    samplers = [sampler for sampler in started if sampler is not None]
    for sampler in samplers:
        sampler.side.attempt(functools.partial(sampler.warm_up, budget))
    times.samples(budget, lambda: _block(samplers))
    for sampler in samplers:
        context.measurements += sampler.measurements("burst" if executor else "inference")
    told.judge(context, samplers[0].inferences.fresh)
    _judge_known(context, samplers[0])


def _started(side: Side, model: ZooModel, samples: Samples, executor: str) -> Sampler | None:
    return side.attempt(lambda: Sampler(side, model, samples, executor))


def _block(samplers: Sequence[Sampler]) -> float:
    """A turn of each implementation; the seconds that count of the one under test."""
    seconds = [sampler.side.attempt(sampler.inferences.turn) for sampler in samplers]
    assert seconds[0] is not None
    return seconds[0]


def _judge_known(context: CaseContext, sampler: Sampler) -> None:
    """Warn where answers to the input that is repeated come sooner than others: they are kept."""
    if told := sampler.inferences.told:
        context.warn_quality(f"{told}: the device seems to keep answers, and its latency is not that of an inference")


class Sampler:
    """One implementation with a model prepared; its inferences are kept."""

    def __init__(self, side: Side, model: ZooModel, samples: Samples, executor: str) -> None:
        if executor not in executors(side.context.version):
            executor = ""
        self.side, self.name = side, model.name
        self.inferences = KnownInputs(self._infer, self._repeat)
        self._steady_known = Steadiness()
        self._loaded = LoadedModel(side.context, model.vector, executor=executor)
        self._stream = Stream(model, samples, self._loaded, Steadiness())
        self._first = self._stream.infer().seconds

    def warm_up(self, budget: Budget) -> None:
        """Execute for a while without counting."""
        spent = 0.0
        while spent < budget.warm_up:
            spent += self._stream.infer().seconds

    def _infer(self) -> Inference:
        return self._stream.infer()

    def _repeat(self) -> Inference:
        inference = self._stream.repeat(_KNOWN)
        self._steady_known.check(_KNOWN, inference.outputs)
        return inference

    def measurements(self, way: str) -> Iterator[Measurement]:
        """What was measured, by the way in which the model was executed; nothing of what never began."""
        single = {"prepare": self._loaded.prepare_seconds, "first_inference": self._first} if way == "inference" else {}
        for name, seconds in single.items():
            yield times.of_seconds(self.name, name, [seconds], self.side.name)
        fresh = self.inferences.fresh
        on_device = [inference.on_device for inference in fresh if inference.on_device is not None]
        for name, samples in ((way, [one.seconds for one in fresh]), (f"{way}_on_device", on_device)):
            if samples:
                yield times.of_seconds(self.name, name, samples, self.side.name)


cases = PerModel(
    "mlts.latency",
    "inference",
    (
        "ML-LAT-001",
        "ML-LAT-002",
        "ML-LAT-004",
        "ML-ACC-006",
        "NNHAL-EXECUTE-018",
        "NNHAL-TIMING-004",
        "NNHAL-TIMING-005",
        "NNHAL-TIMING-006",
    ),
    "How long {model} takes to infer, the first time and then; its answers to an input stay the same.",
    infer,
).cases
