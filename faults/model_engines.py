"""Faults of what a driver keeps of models and of inputs: compiled code, answers, what was loaded from a cache.

Each stands around the executor of a prepared model, and so concerns every way to execute alike.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.models import regions
from npu_conformance.reference.device.executor import Limits, Runnable
from npu_conformance.reference.device.tensors import Array
from npu_conformance.reference.hal.cache import Compiled
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

Inputs = Sequence[Array | None]
_LARGE = 512
"""Bytes of inputs from which an execution is large."""


@dataclass
class _Shared:
    """What all prepared models of a device share."""

    answers: dict[object, list[Array]] = field(default_factory=dict)
    code: weakref.WeakValueDictionary[str, Any] = field(default_factory=weakref.WeakValueDictionary)
    released: int = 0


class _Engine:
    """The executor of one prepared model. model, shared: for the subclasses. inner: the reference's."""

    def __init__(self, inner: Runnable, model: types.Model, shared: _Shared) -> None:
        self.inner, self.model, self.shared = inner, model, shared
        self.runs = 0
        self.made()

    def made(self) -> None:
        """Begin."""

    def run(self, inputs: Inputs, limits: Limits, /) -> list[Array]:
        """Execute."""
        self.runs += 1
        return self.answered(inputs, limits)

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        """Answer rightly."""
        return self.inner.run(inputs, limits)


def _around(kind: type[_Engine], *, restored_only: bool = False) -> FaultySubject:
    """The reference with this executor. restored_only: only models that come from a cache have it."""

    def create(context: Context, version: Version) -> Subject:
        shared = _Shared()

        class Device(ReferenceDevice):
            is_restoring = False

            def _executor(self, model: types.Model, pools: list[memoryview]) -> Runnable:
                made = super()._executor(model, pools)
                return made if restored_only and not self.is_restoring else kind(made, model, shared)

            def _restored(self, compiled: Compiled) -> ReferencePreparedModel:
                self.is_restoring = True
                try:
                    return super()._restored(compiled)
                finally:
                    self.is_restoring = False

        return Subject(device=Device(context, version))

    return FaultySubject(create)


def _moved(outputs: list[Array]) -> list[Array]:
    return [numpy.roll(output, 1) for output in outputs]


class _CodeByStructure(_Engine):
    """Keeps compiled code, weights included, by the structure of a model."""

    def made(self) -> None:
        graph = self.model.main
        structure = repr((graph.operations, [(each.type, each.dimensions) for each in graph.operands]))
        self.inner = self.shared.code.setdefault(structure, self.inner)


class _AnswersKept(_Engine):
    """Keeps answers by something that inputs have in common."""

    def key(self, inputs: Inputs) -> object:
        """What the answer is kept by."""
        raise NotImplementedError

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        key = self.key(inputs)
        if key not in self.shared.answers:
            self.shared.answers[key] = self.inner.run(inputs, limits)
        return [output.copy() for output in self.shared.answers[key]]


class _ByStructureAndInput(_AnswersKept):
    def key(self, inputs: Inputs) -> object:
        return repr(self.model.main.operations), tuple(b"" if one is None else one.tobytes() for one in inputs)


class _ByBeginning(_AnswersKept):
    def key(self, inputs: Inputs) -> object:
        return id(self), tuple(b"" if one is None else one.tobytes()[: one.nbytes // 2] for one in inputs)


class _BySum(_AnswersKept):
    def key(self, inputs: Inputs) -> object:
        return id(self), tuple(0.0 if one is None else round(float(one.sum(dtype=numpy.float64)), 3) for one in inputs)


class _WrongBehindARelease(_Engine):
    """Loses its place in the device's memory when another model is released."""

    def made(self) -> None:
        self.released = self.shared.released
        weakref.finalize(self, _count_release, self.shared)

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        outputs = self.inner.run(inputs, limits)
        return outputs if self.shared.released == self.released else _moved(outputs)


def _count_release(shared: _Shared) -> None:
    shared.released += 1


class _RightOnce(_Engine):
    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        outputs = self.inner.run(inputs, limits)
        return outputs if self.runs == 1 else _moved(outputs)


def _is_large(request: types.Request) -> bool:
    return sum(argument.location.length for argument in request.inputs) >= _LARGE


class _LargeFenced(FaultyPreparedModel):
    """Fenced executions of large inputs leave their outputs as they were."""

    def execute_fenced(self, request: types.Request, *rest: Any) -> hal.FencedExecutionResult:
        kept = (
            [(region, bytes(region)) for region in regions(self, request, request.outputs)]
            if _is_large(request)
            else []
        )
        result = self.inner.execute_fenced(request, *rest)
        for region, content in kept:
            region[:] = content
        return result


class _LargeAsynchronous(FaultyPreparedModel):
    """Asynchronous executions of large inputs leave zeros."""

    def execute(
        self, request: types.Request, measure: bool, deadline: int, loop: int, callback: hal.ExecutionCallback | None
    ) -> None:
        told = _Clearing(callback, self, request) if _is_large(request) and callback is not None else callback
        self.inner.execute(request, measure, deadline, loop, told)


class _Clearing(hal.ExecutionCallback):
    def __init__(self, client: hal.ExecutionCallback, model: FaultyPreparedModel, request: types.Request) -> None:
        self._client, self._model, self._request = client, model, request

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        for region in regions(self._model, self._request, self._request.outputs):
            region[:] = bytes(len(region))
        self._client.notify(status, output_shapes, timing)


_TWINS = "mlts.together.digits_conv.twins mlts.together.digits_separable_int8.twins"
_ALIKE = "mlts.together.digits_conv.alike mlts.together.denoiser_lstm.alike"

FAULTS = (
    fault("code-by-structure", "A model gets the weights of one that is loaded and has the same structure.",
          "NNHAL-PREPARE-014", _TWINS, _around(_CodeByStructure), family="model"),
    fault("answers-by-structure", "Models of one structure have one memory of answers.", "NNHAL-PREPARE-014",
          "mlts.together.digits_conv.twins", _around(_ByStructureAndInput), family="model"),
    fault("answers-by-first-half", "Inputs whose first halves are the same get one answer.", "ML-ACC-004", _ALIKE,
          _around(_ByBeginning), family="model"),
    fault("answers-by-sum", "Inputs of one sum get one answer.", "ML-ACC-004", "mlts.together.digits_conv.alike",
          _around(_BySum), family="model"),
    fault("wrong-behind-a-release", "A release makes the other models wrong.", "NNHAL-PREPARE-014",
          f"{_TWINS} mlts.latency.digits_conv.compilation", _around(_WrongBehindARelease), family="model"),
    fault("cache-right-once", "A model from a cache is right at its first execution alone.",
          "NNHAL-PREPARE-014 ML-LAT-005", _TWINS, _around(_RightOnce, restored_only=True), family="model"),
    fault("large-fenced", "Fenced executions of large inputs write nothing.", "NNHAL-PREPARE-014",
          "mlts.together.digits_conv.ways", _LargeFenced, Version.V1_3, family="model"),
    fault("large-asynchronous", "Asynchronous executions of large inputs write zeros.", "NNHAL-PREPARE-014",
          "mlts.together.digits_conv.ways", _LargeAsynchronous, Version.V1_2, family="model"),
)  # fmt: skip
"""Faults of what a driver keeps of models."""
