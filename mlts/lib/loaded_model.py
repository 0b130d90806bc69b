"""A model on one implementation, from its preparation on: it infers, and says how long each step took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import BuiltModel, build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions, timing_rules
from npu_conformance.harness.run.executing.executors import bind
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.mlts.lib.times import Clock, monotonic
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel, documented_statuses
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import RequestMemoryPool, Timing
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_HIDL_SECONDS, _AIDL_SECONDS = 1e-6, 1e-9
"""The units of an execution's timing."""


@dataclass(frozen=True)
class Inference:
    """One inference. seconds: of the call alone (ML-LAT-001).

    on_device, in_driver: seconds as the driver tells them; None where it does not.
    """

    outputs: Mapping[str, Array]
    seconds: float
    on_device: float | None = None
    in_driver: float | None = None


def built(context: CaseContext, vector: Vector) -> BuiltModel:
    """The model as the context's device gets it, its constants in shared memory as frameworks have them.

    NotApplicable where the version has no such model, NotSupported where the device lacks an operation of it.
    """
    if vector.since > context.version:
        raise NotApplicable(f"the model needs HAL {vector.since}")
    model = build_model(vector, context.version, create_pool=context.filled_pool)
    answers = context.supported_operations(model.model)
    lacking = {part.type for part, is_supported in zip(vector.operations, answers, strict=True) if not is_supported}
    if lacking:
        raise NotSupported(f"the device does not support {', '.join(sorted(lacking))} of the model")
    return model


class LoadedModel:
    """A prepared model with a request and its pools, which every inference uses again."""

    is_beside_others = False

    def __init__(
        self,
        context: CaseContext,
        vector: Vector,
        *,
        executor: str = "",
        prepared_model: PreparedModel | None = None,
        clock: Clock = monotonic,
    ) -> None:
        """Prepare the model. executor: see executors.bind. prepared_model: where it is prepared already."""
        self.context, self.vector, self._clock = context, vector, clock
        self.prepare_seconds = 0.0
        self.prepared_model = prepared_model or self._prepared()
        self._layout = build_request(vector, _zeros(vector), context.version)
        self._inputs = context.pool(len(self._layout.input_data) or 1)
        self._outputs = context.pool(self._layout.output_size)
        pools = RequestMemoryPool(pool=self._inputs.memory), RequestMemoryPool(pool=self._outputs.memory)
        self._measures = context.version >= Version.V1_2
        options = ExecutionOptions(measure=self._measures)
        self.request = self._layout.request(*pools)
        self._run = bind(context, self.prepared_model, self.request, options, executor)

    def infer(self, inputs: Mapping[str, Array]) -> Inference:
        """Execute once with these elements, by operand name. Failed where the device does not end with NONE.

        NotApplicable where others execute at the same time (`is_beside_others`) and the device says that it is full.
        """
        for name, array in inputs.items():
            self._inputs.write(self._layout.inputs[name].offset, array.tobytes())
        self._outputs.write(0, bytes([FILL]) * self._layout.output_size)
        started = self._clock()
        execution = self._run()
        seconds = self._clock() - started
        if self.is_beside_others and execution.status in _full(self.context.version):
            raise NotApplicable("the device executes one request at a time, and refuses others meanwhile")
        checks.status(execution.status, {ErrorStatus.NONE}, "execution of a prepared model")
        timing_rules(self.context, execution, measured=self._measures)
        content = self._outputs.read(0, self._layout.output_size)
        shapes = {name: self.vector.operands[name].dimensions for name in self.vector.outputs}
        outputs = {name: self._layout.read(name, content, shape) for name, shape in shapes.items()}
        return Inference(outputs, seconds, *self._told(execution.timing))

    def _told(self, timing: Timing | None) -> tuple[float | None, ...]:
        """Seconds on the device and in the driver."""
        if timing is None:
            return None, None
        version = self.context.version
        unit = _AIDL_SECONDS if version.is_aidl else _HIDL_SECONDS
        both = timing.time_on_device, timing.time_in_driver
        return tuple(None if told == version.unavailable_time else told * unit for told in both)

    def _prepared(self) -> PreparedModel:
        model = built(self.context, self.vector).model
        started = self._clock()
        preparation = self.context.prepare(model)
        self.prepare_seconds = self._clock() - started
        return model_of(preparation)


def _full(version: Version) -> frozenset[ErrorStatus]:
    """What a device may say where it has no room for a request beside others; before 1.3 it can only fail."""
    return documented_statuses("R" if version >= Version.V1_3 else "G", version)


def _zeros(vector: Vector) -> Example:
    """An example by which a request is laid out; a model of the zoo leaves no shape open."""
    import numpy

    def zeros(name: str) -> Array:
        operand = vector.operands[name]
        return numpy.zeros(operand.dimensions, OPERAND_TYPES[operand.type].dtype)

    return Example({name: zeros(name) for name in vector.inputs}, {name: zeros(name) for name in vector.outputs})
