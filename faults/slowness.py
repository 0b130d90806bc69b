"""Drivers that answer rightly and take long in certain circumstances: after a while, by the data, beside others."""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import fault, faulty_models
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.model_engines import Engine, Inputs, around
from npu_conformance.reference.device.executor import Limits
from npu_conformance.reference.device.tensors import Array
from npu_conformance.specs.neuralnetworks import hal, types

_SECONDS, _LONG_SECONDS = 0.02, 0.2
"""The longer one where an inference is looked at once in a turn, and others may have slowed it down."""
_MANY = 20
_IDLE_SECONDS = 0.1


class _Slow(Engine):
    """Takes so many seconds longer where `is_slow`."""

    seconds = _SECONDS

    def is_slow(self, inputs: Inputs) -> bool:
        """True where this execution takes longer."""
        return True

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        if self.is_slow(inputs):
            time.sleep(self.seconds)
        return self.inner.run(inputs, limits)


class _AfterMany(_Slow):
    def is_slow(self, inputs: Inputs) -> bool:
        return self.runs > _MANY


class _WithEach(Engine):
    """A list that is searched from its beginning gets longer with each execution."""

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        time.sleep(min(self.runs * 0.0002, _SECONDS))
        return self.inner.run(inputs, limits)


class _ForZeros(_Slow):
    def is_slow(self, inputs: Inputs) -> bool:
        return any(one is not None and one.size > 1 and not one.any() for one in inputs)


class _ForLarge(_Slow):
    def is_slow(self, inputs: Inputs) -> bool:
        return any(one is not None and one.size > 1 and _is_full(one) for one in inputs)


def _is_full(array: Array) -> bool:
    """True where all elements are the largest of their type, or far from 0."""
    most = numpy.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1.0
    return bool((array >= most).all())


class _SecondModel(_Slow):
    """Models that are prepared while another one is loaded get the slow part of the device."""

    def made(self) -> None:
        self.number = self.shared.loaded
        self.shared.count(self)

    def is_slow(self, inputs: Inputs) -> bool:
        return self.number > 0


class _BesideMany(_Slow):
    def made(self) -> None:
        self.shared.count(self)

    def is_slow(self, inputs: Inputs) -> bool:
        return self.shared.loaded > 8


class _TwoAtOnce(FaultyPreparedModel):
    """Executions at once wait for each other, and for a while more. shared: those that run."""

    shared: list[object]  # to append and to pop nothing can come between

    def execute_synchronously(self, *arguments: Any) -> types.ExecutionResult:
        self.shared.append(self)
        try:
            time.sleep(_SECONDS)  # so that others can begin meanwhile
            if len(self.shared) > 1:
                time.sleep(_LONG_SECONDS)
            return self.inner.execute_synchronously(*arguments)
        finally:
            self.shared.pop()


class _AfterIdle(_Slow):
    seconds, last = _LONG_SECONDS, 0.0

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        outputs = super().answered(inputs, limits)
        self.last = time.monotonic()
        return outputs

    def is_slow(self, inputs: Inputs) -> bool:
        return time.monotonic() - self.last > _IDLE_SECONDS


class _Fenced(FaultyPreparedModel):
    def execute_fenced(self, *arguments: Any) -> hal.FencedExecutionResult:
        time.sleep(_SECONDS)
        return self.inner.execute_fenced(*arguments)


class _Burst(FaultyPreparedModel):
    def configure_execution_burst(self) -> hal.Burst:
        return _SlowBurst(self.inner.configure_execution_burst())


class _SlowBurst(hal.Burst):
    """A burst whose executions take longer than single ones."""

    def __init__(self, inner: hal.Burst) -> None:
        self._inner = inner

    def execute_synchronously(self, *arguments: Any) -> types.ExecutionResult:
        time.sleep(_SECONDS)
        return self._inner.execute_synchronously(*arguments)

    def release_memory_resource(self, memory_identifier_token: int) -> None:
        self._inner.release_memory_resource(memory_identifier_token)


class _AfterARefusal(FaultyPreparedModel):
    """Once an execution was refused, all of the model check everything at length."""

    refused = False

    def execute_synchronously(self, *arguments: Any) -> types.ExecutionResult:
        if self.refused:
            time.sleep(_SECONDS)
        try:
            return self.inner.execute_synchronously(*arguments)
        except Exception:
            self.refused = True
            raise


def _promised(mechanism: FaultySubject) -> FaultySubject:
    return FaultySubject(mechanism.create, manifest=lambda: {"steady_latency": True})


_STEADY = "ML-LAT-006"
_fault = functools.partial(fault, family="slow", area="mlts.circumstances.latency", detected_as="quality-warning")

FAULTS = (
    _fault("after-many", "From its 21st execution on a model takes much longer.", _STEADY, "after_many",
           around(_AfterMany)),
    _fault("with-each", "An execution takes a little longer than the one before, up to a limit.", _STEADY, "after_many",
           around(_WithEach)),
    _fault("for-zeros", "Inputs that are all zero take much longer.", _STEADY, "by_data", around(_ForZeros)),
    _fault("for-large-values", "Inputs at the end of their range take much longer.", _STEADY, "by_data",
           around(_ForLarge)),
    _fault("second-model", "A model that is prepared beside another one is slow.", _STEADY, "second_model",
           around(_SecondModel)),
    _fault("beside-many", "Every model is slow while nine are loaded.", _STEADY, "beside_many", around(_BesideMany)),
    _fault("when-two-infer", "Two executions at once take many times as long as one after the other.", _STEADY,
           "two_callers", faulty_models(_TwoAtOnce, shared=list)),
    _fault("after-idle", "The first execution after a pause takes much longer.", _STEADY, "after_idle",
           around(_AfterIdle)),
    _fault("from-cache", "A model that comes from a cache is slow.", _STEADY, "from_cache",
           around(_Slow, restored_only=True)),
    _fault("in-bursts", "Executions in a burst take longer than single ones.", _STEADY, "by_the_way", _Burst),
    _fault("when-fenced", "Fenced executions take much longer.", _STEADY, "by_the_way", _Fenced),
    _fault("after-a-refusal", "A model that has refused an execution stays slow.", _STEADY, "after_a_refusal",
           _AfterARefusal),
    _fault("after-many-against-the-promise", "The same, although the manifest promises steady latency.", _STEADY,
           "after_many", _promised(around(_AfterMany)), detected_as="red"),
)  # fmt: skip
"""Faults of what an execution takes."""
