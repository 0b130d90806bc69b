"""Throughput: inferences a second, of one caller and of several at once, each with a prepared model of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib import times
from npu_conformance.mlts.lib.loaded_model import LoadedModel
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.zoo_cases import PerModel, Side, sides
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.errors import InterfaceError

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import Samples, ZooModel

_CALLERS = (1, 2, 4)
_LEAST = 10
"""Inferences of each caller."""


def execute_at_once(context: CaseContext, model: ZooModel) -> None:
    """Measure as many callers as the driver takes at once; one that has no room for them may refuse."""
    seconds = times.budget_of(context).run / len(_CALLERS)
    with sides(context) as implementations:
        for side in implementations:
            for callers in (count for count in _CALLERS if count <= max(1, side.context.manifest.concurrent_calls)):
                try:
                    measured = side.attempt(functools.partial(_measured, side, model, callers, seconds))
                except NotApplicable:
                    if callers == 1:
                        raise
                    break
                context.measurements += [measured] if measured else []


def _measured(side: Side, model: ZooModel, callers: int, seconds: float) -> Measurement:
    """Inferences a second of so many callers, who all begin and end together."""
    work = [_Caller(side, model, model.samples(2, seed=number), callers) for number in range(callers)]
    started = times.monotonic()
    until = started + seconds
    calls: list[Callable[[], int]] = [functools.partial(one.infer_until, until) for one in work]
    counts = [calls[0]()] if callers == 1 else side.context.run_concurrently(calls)
    for count in counts:
        if isinstance(count, InterfaceError):
            raise count
    total = sum(count for count in counts if isinstance(count, int))
    rate = total / (times.monotonic() - started)
    return Measurement(model.name, f"throughput_{callers}", "per second", rate, count=total, beside=side.name)


class _Caller:
    """One caller, with data of its own. Its answers to an item stay the same, whatever the others do."""

    def __init__(self, side: Side, model: ZooModel, samples: Samples, callers: int) -> None:
        loaded = LoadedModel(side.context, model.vector)
        loaded.is_beside_others = callers > 1
        self._stream = Stream(model, samples, loaded, Steadiness())

    def infer_until(self, until: float) -> int:
        """Execute until a time, some times at least; the number of inferences."""
        count = 0
        while count < _LEAST or times.monotonic() < until:
            self._stream.infer()
            count += 1
        return count


cases = PerModel(
    "mlts.latency",
    "throughput",
    ("ML-LAT-001", "NNHAL-EXECUTE-018"),
    "How many inferences of {model} are done in a second, by one caller and by several at once.",
    execute_at_once,
).cases
