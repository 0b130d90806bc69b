"""Implementations that differ from the reference and conform: no case may be red against any of them."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import faulty_device, faulty_models
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operation_view import declared_dimensions
from npu_conformance.specs.plugin import Context, RealClock, Subject
from npu_conformance.specs.versions import NEWEST, Version


class _DeclinesUnknownOutputs(FaultyPreparedModel):
    """Answers GENERAL_FAILURE where an output's size is not known or its memory is too small: VTS lets it."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        main = self.inner.model.main  # type: ignore[attr-defined]
        unknown = [index for index, operand in enumerate(main.operands) if 0 in operand.dimensions]
        # Where sizes inside the graph are unknown too, a case means them to be, and no other answer is allowed.
        declined = bool(unknown) and set(unknown) <= set(main.output_indexes)
        result = self.inner.execute_synchronously(request, *rest)
        if declined or not result.output_sufficient_size:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "output sizes have to be known")
        return result


class _Terse(FaultyPreparedModel):
    """Reports no more than it must: no times, no known shapes, no sizes where an output does not fit."""

    def execute_synchronously(self, *arguments: Any) -> types.ExecutionResult:
        result = self.inner.execute_synchronously(*arguments)
        main, version = self.inner.model.main, self.inner.version  # type: ignore[attr-defined]
        unavailable = version.unavailable_time
        shapes = result.output_shapes
        if not result.output_sufficient_size:
            shapes = tuple(replace(one, dimensions=(0,) * len(one.dimensions)) for one in shapes)
        elif all(_is_known(main.operands[index]) for index in main.output_indexes):
            shapes = ()
        return replace(result, output_shapes=shapes, timing=types.Timing(unavailable, unavailable))


def _is_known(operand: types.Operand) -> bool:
    declared = declared_dimensions(operand)
    return declared is not None and None not in declared


class _NotifiesLater(FaultyDevice):
    """Notifies the end of a preparation from a thread of its own, after the call has returned."""

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if status == ErrorStatus.INVALID_ARGUMENT:
            super().prepared(callback, status, prepared_model)  # an argument error is notified before the call ends
        else:
            threading.Thread(target=super().prepared, args=(callback, status, prepared_model)).start()


class _StrictMemory(FaultyDevice):
    """Accepts only what every device must accept: no constants in pools, no hardware buffers."""

    _has_pools = False

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        return (False,) * len(answers) if model.pools else answers

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        self._has_pools = bool(model.pools)
        super().prepare_model(model, *rest)

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if self._has_pools and status == ErrorStatus.NONE:
            callback.notify(ErrorStatus.GENERAL_FAILURE, None)
        else:
            super().prepared(callback, status, prepared_model)


class _DeclinesBuffers(FaultyDevice):
    """Has no buffers, and does not look at what is asked."""

    def allocate(self, *arguments: Any) -> hal.DeviceBuffer:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no buffers")


class _HasNoRoom(FaultyDevice):
    """Has no room for a buffer of which nothing is wrong."""

    def allocate(self, *arguments: Any) -> hal.DeviceBuffer:
        super().allocate(*arguments)
        raise ServiceError(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, "no device memory is left")


class _ReadsPixels(FaultyPreparedModel):
    """Executes on hardware buffers of any format, which it reads as rows of bytes."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        return self.inner.execute_synchronously(_in_bytes(request), *rest)


def _in_bytes(request: types.Request) -> types.Request:
    """The request with files in place of hardware buffers that are used whole, and locations that name all bytes."""
    places = [argument.location for argument in (*request.inputs, *request.outputs)]
    parts = {place.pool_index for place in places if place.offset or place.length or place.padding}
    memories = {index: pool.pool for index, pool in enumerate(request.pools) if index not in parts}
    whole = {index: memory for index, memory in memories.items() if memory is not None and memory.description}

    def placed(argument: types.RequestArgument) -> types.RequestArgument:
        memory = whole.get(argument.location.pool_index)
        if memory is None or argument.has_no_value:
            return argument
        return replace(argument, location=replace(argument.location, length=memory.size))

    pools = tuple(
        replace(pool, pool=replace(whole[index], kind="ashmem")) if index in whole else pool
        for index, pool in enumerate(request.pools)
    )
    return types.Request(tuple(map(placed, request.inputs)), tuple(map(placed, request.outputs)), pools)


class _SlowClock(RealClock):
    """A millisecond passes whenever somebody looks; time is the client's all the same, as deadlines are."""

    def now_ns(self) -> int:
        """The nanoseconds of the slow clock."""
        time.sleep(0.001)
        return super().now_ns()


def _slow(context: Context, version: Version) -> Subject:
    return Subject(device=ReferenceDevice(dataclasses.replace(context, clock=_SlowClock()), version))


VARIANTS = (
    *(
        Variant(f"reference-{version.value}", f"The reference at HAL {version.value}.", faulty_device(FaultyDevice),
                version)
        for version in Version if version is not NEWEST
    ),
    Variant("reference", "The reference itself.", faulty_device(FaultyDevice)),
    Variant("declines-unknown-outputs", "GENERAL_FAILURE where output sizes are unknown or too small.",
            faulty_models(_DeclinesUnknownOutputs)),
    Variant("terse", "No times, and no shapes but those that must be reported.", faulty_models(_Terse)),
    Variant("notifies-later", "Preparations end in a thread of their own.", faulty_device(_NotifiesLater)),
    Variant("strict-memory", "No model with memory pools is supported.", faulty_device(_StrictMemory)),
    Variant("no-buffers", "GENERAL_FAILURE to every allocation.", faulty_device(_DeclinesBuffers)),
    Variant("no-room", "RESOURCE_EXHAUSTED_PERSISTENT to every valid allocation.", faulty_device(_HasNoRoom)),
    Variant("reads-pixels", "Executes on hardware buffers that are no BLOBs.", faulty_models(_ReadsPixels)),
    Variant("slow", "Every look at the clock takes a millisecond.", FaultySubject(_slow)),
)  # fmt: skip
"""Conforming variants at the boundary; those by source edits are in variants.json."""
