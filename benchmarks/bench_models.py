"""Measures what the harness adds to an inference of a model of the zoo: to the HAL's call, and around it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from npu_conformance.corpus import zoo
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.mlts.lib.loaded_model import LoadedModel

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_MODEL = "digits_conv"
_REPEATS = 400
_MICROSECONDS = 1e6


def figures() -> Iterator[Figure]:
    """In turns, so that a disturbance hits both alike: the call as it is timed, and what is around it."""
    model = zoo.load(_MODEL)
    samples = model.samples(1)
    inputs = {name: array[0] for name, array in samples.inputs.items()}
    with closing(open_subject("reference", {"clock": "real"}, "inprocess")) as subject:
        context = CaseContext(Case("benchmarks.models.inference.overhead", lambda context: None, ()), subject)
        loaded = LoadedModel(context, model.vector)
        call, timed, whole = _medians(loaded, inputs)
        context.close()
    yield Figure("Harness inside of the timed call of an inference", timed - call, "us", f"the call: {call:.0f} us", 50)
    yield Figure("Harness around it: inputs, outputs, checks", whole - timed, "us", f"timed: {timed:.0f} us")


def _medians(loaded: LoadedModel, inputs: Mapping[str, Array]) -> tuple[float, float, float]:
    """Microseconds of the bare call, of the call as the harness times it, and of the whole inference."""
    bare, timed, whole = list[float](), list[float](), list[float]()
    for _ in range(_REPEATS):
        bare.append(_seconds(lambda: loaded.prepared_model.execute_synchronously(loaded.request, True, -1, -1)))
        started = time.perf_counter()
        timed.append(loaded.infer(inputs).seconds)
        whole.append(time.perf_counter() - started)
    call, inside, around = (_MICROSECONDS * statistics.median(found) for found in (bare, timed, whole))
    return call, inside, around


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
