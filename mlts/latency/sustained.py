"""Sustained load: whether an inference takes longer the longer the device is busy."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib import times
from npu_conformance.mlts.lib.loaded_model import LoadedModel
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.times import Budget
from npu_conformance.mlts.lib.zoo_cases import PerModel
from npu_conformance.specs.documents.results import Measurement

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import ZooModel

_PARTS = 10
_SLOWER = 1.2
"""As many times as long as in the first part, an inference of the last part shows that the device cannot go on so."""
_SECONDS = {Scope.SMOKE: 0.05, Scope.DEFAULT: 0.1, Scope.FULL: 60.0}


def execute_long(context: CaseContext, model: ZooModel) -> None:
    """Measure the drift from the first to the last tenth of the time; a minute of it, in the full scope, can warn."""
    stream = Stream(model, model.samples(4), LoadedModel(context, model.vector), Steadiness())
    budget = Budget(0.0, _SECONDS[context.scope] * context.duration_scale, least=_PARTS)
    seconds = times.samples(budget, lambda: stream.infer().seconds)
    part = len(seconds) // _PARTS
    drift = statistics.median(seconds[-part:]) / statistics.median(seconds[:part])
    context.measurements += [
        times.of_seconds(model.name, "sustained", seconds),
        Measurement(model.name, "drift", "ratio", drift, count=len(seconds)),
    ]
    if context.scope is Scope.FULL and drift > _SLOWER:
        context.warn_quality(f"after {budget.run:g} s of inference one takes {drift:.2f} times as long as before")


cases = PerModel(
    "mlts.latency",
    "sustained",
    ("ML-LAT-004", "NNHAL-EXECUTE-018"),
    "Whether inferences of {model} take longer when they go on for a while: a minute in the full scope.",
    execute_long,
).cases
