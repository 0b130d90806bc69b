"""Faults that whole models show, with data behind one another: what a single execution of a single operation does not.

Each changes what the reference's executions leave in the output memory, by what came before or by how fast they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.outputs import Regions, regions
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_SECONDS = 0.02
"""How much longer an inference of the slow ones takes: many times as long as that of a small model."""


class _Watched(FaultyPreparedModel):
    """Executions, single or in a burst, with a step behind each. number: of executions of this model so far."""

    number = 0

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        result = self.inner.execute_synchronously(request, *rest)
        self.number += 1
        inputs, outputs = (regions(self.context.memory, request, ones) for ones in (request.inputs, request.outputs))
        self.behind(inputs, outputs)
        return result

    def behind(self, inputs: Regions, outputs: Regions) -> None:
        """Change the outputs of an execution that has ended."""
        raise NotImplementedError


class _Canned(_Watched):
    """The answer to the very first input is the answer to all."""

    _answer: tuple[bytes, ...] = ()

    def behind(self, inputs: Regions, outputs: Regions) -> None:
        self._answer = self._answer or tuple(map(bytes, outputs))
        for region, kept in zip(outputs, self._answer, strict=True):
            region[: len(kept)] = kept


class _Late(_Watched):
    """An answer is that to the input before, as of a pipeline that nobody waits for."""

    _before: tuple[bytes, ...] = ()

    def behind(self, inputs: Regions, outputs: Regions) -> None:
        now = tuple(map(bytes, outputs))
        for region, kept in zip(outputs, self._before or now, strict=True):
            region[: len(kept)] = kept
        self._before = now


class _KnowsByTheBeginning(_Watched):
    """Answers are kept by the first bytes of the input: pictures with the same corner have one answer."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: dict[bytes, tuple[bytes, ...]] = {}

    def behind(self, inputs: Regions, outputs: Regions) -> None:
        known = self._kept.setdefault(bytes(inputs[0][:1]), tuple(map(bytes, outputs)))
        for region, kept in zip(outputs, known, strict=True):
            region[: len(kept)] = kept


def _behind(step: Callable[[int, Regions], None]) -> type[FaultyPreparedModel]:
    """step: gets the number of the execution and its outputs."""

    class Model(_Watched):
        def behind(self, inputs: Regions, outputs: Regions) -> None:
            step(self.number, outputs)

    return Model


def _cleared(outputs: Regions) -> None:
    for region in outputs:
        region[:] = bytes(len(region))


def _reversed(outputs: Regions) -> None:
    """Classes in the other order: scores of four bytes from the last to the first."""
    for region in outputs:
        scores = [bytes(region[start : start + 4]) for start in range(0, len(region), 4)]
        region[:] = b"".join(reversed(scores))


def _no_numbers(outputs: Regions) -> None:
    for region in outputs:
        numpy.frombuffer(region, numpy.float32)[:1] = numpy.nan


def _doubled(outputs: Regions) -> None:
    for region in outputs:
        numpy.frombuffer(region, numpy.float32)[:] *= 2.0


def _every(period: int, change: Callable[[Regions], None]) -> Callable[[int, Regions], None]:
    return lambda number, outputs: change(outputs) if number % period == 0 else None


def _from(first: int, change: Callable[[Regions], None]) -> Callable[[int, Regions], None]:
    return lambda number, outputs: change(outputs) if number >= first else None


class _KeepsAnswers(FaultyPreparedModel):
    """Works out each new input at length; an input that it has seen is answered at once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._last = b""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        given = b"".join(map(bytes, regions(self.context.memory, request, request.inputs)))
        if given != self._last:
            time.sleep(_SECONDS)
        self._last = given
        return self.inner.execute_synchronously(request, *rest)


def _forgetting(context: Context, version: Version) -> Subject:
    """Models that come from a cache have lost their weights: they answer zeros."""
    forgetful = type("Forgetful", (_behind(_from(1, _cleared)),), {"context": context})

    class Device(FaultyDevice):
        def prepare_model_from_cache(self, *arguments: Any) -> None:
            self.prepared_model = forgetful
            try:
                super().prepare_model_from_cache(*arguments)
            finally:
                self.prepared_model = FaultyPreparedModel

    return Subject(device=Device(ReferenceDevice(context, version)))


_DIGITS = "mlts.accuracy.digits_conv.answers mlts.accuracy.digits_separable_int8.answers"
_WAVES = "mlts.accuracy.denoiser_lstm.answers"

FAULTS = (
    fault("canned", "The answer to the first input is the answer to all.", "ML-ACC-004 ML-ACC-001",
          f"{_DIGITS} {_WAVES}", _Canned, family="model"),
    fault("late", "An answer is the one to the input before.", "ML-ACC-004 ML-ACC-001", _DIGITS, _Late,
          family="model"),
    fault("known-by-the-beginning", "Inputs that begin alike get one answer.", "ML-ACC-004",
          "mlts.accuracy.digits_separable_int8.answers", _KnowsByTheBeginning, family="model"),
    fault("every-third-cleared", "Every third execution of a model leaves zeros.", "ML-ACC-004 NNHAL-EXECUTE-018",
          f"{_DIGITS} mlts.latency.digits_conv.inference mlts.latency.digits_conv.throughput",
          _behind(_every(3, _cleared)), family="model"),
    fault("wrong-from-the-twentieth", "From its 20th execution on a model answers zeros.",
          "ML-ACC-004 NNHAL-EXECUTE-018",
          f"{_DIGITS} mlts.latency.digits_conv.inference", _behind(_from(20, _cleared)), family="model"),
    fault("classes-reversed", "The scores of the classes are in reverse order.", "ML-ACC-001 ML-ACC-004",
          "mlts.accuracy.digits_conv.answers mlts.accuracy.phones_lstm.answers", _behind(_from(1, _reversed)),
          family="model"),
    fault("no-numbers", "A model of speech answers with NaN in each tenth frame.", "ML-ACC-004",
          "mlts.accuracy.phones_lstm.answers mlts.accuracy.voice_lstm.answers mlts.accuracy.denoiser_lstm.answers",
          _behind(_every(10, _no_numbers)), family="model"),
    fault("pitch-off", "The pitch of speech, and all else in a frame, is twice what it has to be.",
          "ML-ACC-002", "mlts.accuracy.voice_lstm.answers", _behind(_from(1, _doubled)), family="model"),
    fault("cache-without-weights", "A model that comes from a cache answers zeros.", "ML-LAT-005 NNHAL-CACHE-010",
          "mlts.latency.digits_conv.compilation", FaultySubject(_forgetting), family="model"),
    fault("answers-kept", "Inputs that are repeated are answered at once, and others are worked out.", "ML-LAT-001",
          "mlts.latency.digits_conv.inference", _KeepsAnswers, detected_as="quality-warning", family="model"),
)  # fmt: skip
"""Faults that models with data show."""
