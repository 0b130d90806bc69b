"""Faults of what a driver keeps of models and of inputs: compiled code, answers, what was loaded from a cache.

Each stands around the executor of a prepared model, and so concerns every way to execute alike.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import fault, faulty_models
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.outputs import regions
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
class Shared:
    """What all prepared models of a device share."""

    answers: dict[object, list[Array]] = field(default_factory=dict)
    code: weakref.WeakValueDictionary[str, Any] = field(default_factory=weakref.WeakValueDictionary)
    released: int = 0
    states: dict[object, list[Array]] = field(default_factory=dict)
    loaded: int = 0

    def count(self, engine: Engine) -> None:
        """Count a model as loaded until its executor is gone."""
        self.loaded += 1
        weakref.finalize(engine, self._uncount)

    def _uncount(self) -> None:
        self.loaded -= 1


class Engine:
    """The executor of one prepared model. model, shared: for the subclasses. inner: the reference's. runs: so far."""

    def __init__(self, inner: Runnable, model: types.Model, shared: Shared) -> None:
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


def around(kind: type[Engine], *, restored_only: bool = False) -> FaultySubject:
    """The reference with this executor. restored_only: only models that come from a cache have it."""

    def create(context: Context, version: Version) -> Subject:
        shared = Shared()

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


class _CodeByStructure(Engine):
    """Keeps compiled code, weights included, by the structure of a model."""

    def made(self) -> None:
        graph = self.model.main
        structure = repr((graph.operations, [(each.type, each.dimensions) for each in graph.operands]))
        self.inner = self.shared.code.setdefault(structure, self.inner)


class _AnswersKept(Engine):
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


class _WrongBehindARelease(Engine):
    """Loses its place in the device's memory when another model is released."""

    def made(self) -> None:
        self.released = self.shared.released
        weakref.finalize(self, _count_release, self.shared)

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        outputs = self.inner.run(inputs, limits)
        return outputs if self.shared.released == self.released else _moved(outputs)


def _count_release(shared: Shared) -> None:
    shared.released += 1


class _RightOnce(Engine):
    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        outputs = self.inner.run(inputs, limits)
        return outputs if self.runs == 1 else _moved(outputs)


def _is_large(request: types.Request) -> bool:
    return sum(argument.location.length for argument in request.inputs) >= _LARGE


_LONG_NS = 60 * 10**9
"""Longer than any execution here."""


class _LargeFenced(FaultyPreparedModel):
    """Fenced executions of large inputs leave their outputs as they were."""

    def execute_fenced(self, request: types.Request, *rest: Any) -> hal.FencedExecutionResult:
        kept = (
            [(region, bytes(region)) for region in regions(self.context.memory, request, request.outputs)]
            if _is_large(request)
            else []
        )
        result = self.inner.execute_fenced(request, *rest)
        if kept and result.sync_fence is not None:
            result.sync_fence.wait(_LONG_NS)
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
        for region in regions(self._model.context.memory, self._request, self._request.outputs):
            region[:] = bytes(len(region))
        self._client.notify(status, output_shapes, timing)


class _KeepsState(Engine):
    """Goes on with the states that it has, where a client gives any: those of whoever came last."""

    def place(self) -> object:
        """What states are kept by."""
        return id(self)

    def answered(self, inputs: Inputs, limits: Limits) -> list[Array]:
        given = list(inputs)
        kept = self.shared.states.get(self.place())
        states = self._states(given)
        if kept is not None and any(_has_content(given[number]) for number in states):
            for number, state in zip(states, kept, strict=True):
                given[number] = state
        outputs = self.inner.run(given, limits)
        self.shared.states[self.place()] = [output.copy() for output in outputs[: len(states)]]
        return outputs

    def _states(self, inputs: Inputs) -> list[int]:
        """The inputs that are states: those after the first one."""
        return [number for number, one in enumerate(inputs) if number and one is not None]


class _KeepsStateByStructure(_KeepsState):
    """The same for all models of one structure."""

    def place(self) -> object:
        return repr(self.model.main.operations)


class _OneScratch(FaultyPreparedModel):
    """Executions at once share the memory of their inputs: the later one's are there. shared: those that run."""

    shared: list[types.Request]

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        self.shared.append(request)
        try:
            time.sleep(0.005)  # so that others can begin meanwhile
            return self.inner.execute_synchronously(_with_inputs_of(request, self.shared[-1]), *rest)
        finally:
            self.shared.remove(request)


def _with_inputs_of(request: types.Request, other: types.Request) -> types.Request:
    """The request with the inputs of another one, whose pools come behind its own."""
    moved = tuple(
        replace(one, location=replace(one.location, pool_index=one.location.pool_index + len(request.pools)))
        for one in other.inputs
    )
    return request if other is request else replace(request, inputs=moved, pools=(*request.pools, *other.pools))


def _has_content(array: Array | None) -> bool:
    return array is not None and bool(array.any())


_TWINS = "mlts.together.digits_conv.twins mlts.together.digits_separable_int8.twins"
_STREAMS = "mlts.together.denoiser_lstm.streams mlts.together.phones_lstm.streams"
_ALIKE = "mlts.together.digits_conv.alike mlts.together.denoiser_lstm.alike"

FAULTS = (
    fault("code-by-structure", "A model gets the weights of one that is loaded and has the same structure.",
          "NNHAL-PREPARE-013", _TWINS, around(_CodeByStructure), family="model"),
    fault("answers-by-structure", "Models of one structure have one memory of answers.", "NNHAL-PREPARE-013",
          _TWINS, around(_ByStructureAndInput), family="model"),
    fault("answers-by-first-half", "Inputs whose first halves are the same get one answer.", "NNHAL-EXECUTE-001",
          _ALIKE, around(_ByBeginning), family="model"),
    fault("answers-by-sum", "Inputs of one sum get one answer.", "NNHAL-EXECUTE-001", "mlts.together.digits_conv.alike",
          around(_BySum), family="model"),
    fault("wrong-behind-a-release", "A release makes the other models wrong.", "NNHAL-PREPARE-013",
          f"{_TWINS} mlts.latency.digits_conv.compilation", around(_WrongBehindARelease), family="model"),
    fault("cache-right-once", "A model from a cache is right at its first execution alone.",
          "NNHAL-PREPARE-013 ML-LAT-005", _TWINS, around(_RightOnce, restored_only=True), family="model"),
    fault("large-fenced", "Fenced executions of large inputs write nothing.", "NNHAL-EXECUTE-008",
          "mlts.together.digits_conv.ways", _LargeFenced, Version.V1_3, family="model"),
    fault("large-asynchronous", "Asynchronous executions of large inputs write zeros.", "NNHAL-EXECUTE-008",
          "mlts.together.digits_conv.ways", _LargeAsynchronous, Version.V1_2, family="model"),
    fault("state-of-another-stream", "A model goes on with the states of whoever used it last.",
          "NNHAL-PREPARE-013 ML-ACC-006", _STREAMS, around(_KeepsState), family="model"),
    fault("state-of-another-model", "Models of one structure go on with each other's states.",
          "NNHAL-PREPARE-013 ML-ACC-006", _STREAMS, around(_KeepsStateByStructure), family="model"),
    fault("inputs-of-another-stream", "Of two executions at once both have the inputs of the later one.",
          "NNHAL-PREPARE-013", f"{_STREAMS} mlts.together.digits_conv.streams",
          faulty_models(_OneScratch, shared=list), family="model"),
)  # fmt: skip
"""Faults of what a driver keeps of models."""
