"""Siblings of faults that campaigns missed for long, written before the mutators were mended, and not looked at then.

Option `bug` says which one: its fuzzer, a slash, and its name.
"""

from __future__ import annotations

from typing import Any

import numpy
from msgspec.structs import replace

from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.fuzz_only.graphs import FaultyGraph, Values, _computing
from npu_conformance.faults.fuzz_only.managers import _Counting as CountingManager
from npu_conformance.faults.fuzz_only.runtimes import _Counting as CountingRuntime
from npu_conformance.faults.fuzz_only.runtimes import _runtime
from npu_conformance.faults.fuzz_only.schedulers import _runs_as, _scheduling
from npu_conformance.faults.npu_manager.boundary import Callback, faulty_manager
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Operation
from npu_conformance.specs.npu.types import CompletionStatus, ModelLoadRequest
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST

_OK = ResultCode.NO_ERROR


class _FirstId(CountingManager):
    """A request of the least id of 32 bits is not cancelled."""

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        if request.id != -(2**31):
            super().cancel_model_load(request)


class _WeakCancelled(CountingManager):
    """The cancellation of a request of the smallest size and priority 1000 is told twice."""

    def on_model_load_request_complete(self, callback: Callback, request: ModelLoadRequest, status: int) -> None:
        super().on_model_load_request_complete(callback, request, status)
        if status == CompletionStatus.CANCELLED and request.size == 0 and request.priority == 1000:
            super().on_model_load_request_complete(callback, request, status)


def _without_device(given: InferenceRun) -> InferenceRun:
    """A run on somebody's behalf with the strongest job and a device loses the device."""
    is_odd = given.original_uid != -1 and given.job_priority == 0 and given.device_number is not None
    return replace(given, device_number=None) if is_odd else given


def _without_group(given: InferenceRun) -> InferenceRun:
    """A run whose feature has an empty name loses its group."""
    return replace(given, group_id=None) if given.feature_id == "" and given.group_id is not None else given


class _ReusableAfterTiming(CountingRuntime):
    """An execution that was made reusable, and then not, cannot be timed and computed."""

    def answer(self, name: str, *arguments: Any) -> Any:
        answer = super().answer(name, *arguments)
        is_odd = name == "execution_compute" and answer == _OK
        if is_odd and self.done["execution_set_reusable", arguments[0]] > 1:
            return ResultCode.OP_FAILED
        return answer


class _LargeChoices(FaultyGraph):
    """The larger of two int32 beyond 2^24 is found as float32."""

    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        if operation.type in (OperationType.MAXIMUM, OperationType.MINIMUM) and array.dtype == numpy.int32:
            values[operation.outputs[0]] = array.astype(numpy.float32).astype(numpy.int32)


class _ManyBytes(FaultyGraph):
    """CONCATENATION of four or more tensors of bytes loses an element."""

    def behind(self, position: int, operation: Operation, values: Values) -> None:
        array = values[operation.outputs[0]]
        is_odd = operation.type == OperationType.CONCATENATION and array.dtype in (numpy.uint8, numpy.int8)
        if is_odd and len(operation.inputs) > 4:
            self.corrupt(operation.outputs[0], values)


class _ManyParts(FaultyGraph):
    """The fourth part of a SPLIT of float16 loses an element."""

    def behind(self, position: int, operation: Operation, values: Values) -> None:
        outputs = operation.outputs
        if operation.type == OperationType.SPLIT and len(outputs) > 3 and values[outputs[0]].dtype == numpy.float16:
            self.corrupt(outputs[3], values)


BUGS: dict[str, FaultySubject] = {
    "manager/first-id": faulty_manager(_FirstId),
    "manager/weak-cancelled": faulty_manager(_WeakCancelled),
    "scheduling/loses-device": _scheduling(_runs_as(_without_device)),
    "scheduling/loses-group": _scheduling(_runs_as(_without_group)),
    "runtime/reusable-twice": _runtime(_ReusableAfterTiming),
    "differential/large-choices": _computing(_LargeChoices),
    "differential/many-bytes": _computing(_ManyBytes),
    "differential/many-parts": _computing(_ManyParts),
}


def _chosen(options: Any) -> FaultySubject:
    return BUGS[options.get("bug", "manager/first-id")]


def _manifest(options: Any) -> Manifest:
    faulty = _chosen(options)
    has_clock = any(name.endswith("_control") for name in faulty.interfaces)
    return Manifest(
        name="sibling",
        vendor="tests",
        version="1",
        interfaces=faulty.interfaces,
        options={"bug": "which one"},
        **{"virtual_clock": has_clock, **faulty.manifest()},
    )


plugin = Plugin(_manifest, lambda context: _create(context))


def _create(context: Context) -> Subject:
    return _chosen(context.options).create(context, NEWEST)
