"""Faults in execution: in its answers, whatever it computes, and in what it does to memory.

Those inside the reference are source edits, in executions.json.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, answering, called_a_failure, fault, faulty_models
from npu_conformance.faults.outputs import Outputs, mapped, regions
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.plugin import MemoryMap
from npu_conformance.specs.versions import Version

_NONE, _INVALID, _GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE
Result = types.ExecutionResult
Shapes = tuple[types.OutputShape, ...]
Pools = tuple[types.RequestMemoryPool, ...]


def _timing(change: Callable[[types.Timing, bool], types.Timing]) -> type[FaultyPreparedModel]:
    return answering(lambda result, asked: replace(result, timing=change(result.timing, asked)))


def _shapes(
    change: Callable[[tuple[types.OutputShape, ...]], tuple[types.OutputShape, ...]],
) -> type[FaultyPreparedModel]:
    return answering(lambda result, _: replace(result, output_shapes=change(result.output_shapes)))


def _dimensions(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> type[FaultyPreparedModel]:
    return _shapes(lambda shapes: tuple(replace(shape, dimensions=change(shape.dimensions)) for shape in shapes))


def _all_sufficient(result: Result, _: bool) -> Result:
    shapes = tuple(replace(shape, is_sufficient=True) for shape in result.output_shapes)
    return replace(result, output_sufficient_size=True, output_shapes=shapes)


def _time_of_failure(result: Result, asked: bool) -> Result:
    return result if result.output_sufficient_size else replace(result, timing=types.Timing(5, 9))


class _Once(FaultyPreparedModel):
    """Works at the first execution only."""

    _used = False

    def execute_synchronously(self, *arguments: Any) -> Result:
        if self._used:
            raise ServiceError(_GENERAL, "used up")
        self._used = True
        return self.inner.execute_synchronously(*arguments)


class _KeepsTheFirstResult(FaultyPreparedModel):
    """Executes once; afterwards answers the same and writes nothing."""

    _first: Result | None = None

    def execute_synchronously(self, *arguments: Any) -> Result:
        if self._first is None:
            self._first = self.inner.execute_synchronously(*arguments)
        return self._first


class _SaysGeneralFailure(FaultyPreparedModel):
    """Finds an invalid request, and calls it a failure."""

    def execute_synchronously(self, *arguments: Any) -> Result:
        with called_a_failure():
            return self.inner.execute_synchronously(*arguments)


class _RefusesUnknownOutputs(FaultyPreparedModel):
    """Reports outputs of unknown size as an argument error."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        model: types.Model = self.inner.model  # type: ignore[attr-defined]
        if any(0 in model.main.operands[index].dimensions for index in model.main.output_indexes):
            raise ServiceError(_INVALID, "an output of unknown size")
        return self.inner.execute_synchronously(request, *rest)


def _repairing(repair: Callable[[types.Request], types.Request]) -> type[FaultyPreparedModel]:
    """Executions that correct a request instead of rejecting it."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
            return self.inner.execute_synchronously(repair(request), *rest)

    return Model


def _each_argument(
    repair: Callable[[types.RequestArgument, types.Request], types.RequestArgument],
) -> type[FaultyPreparedModel]:
    """repair: gets an argument and its request."""

    def whole(request: types.Request) -> types.Request:
        inputs, outputs = (tuple(repair(one, request) for one in ones) for ones in (request.inputs, request.outputs))
        return replace(request, inputs=inputs, outputs=outputs)

    return _repairing(whole)


def _each_location(
    repair: Callable[[types.DataLocation, Pools], types.DataLocation],
) -> type[FaultyPreparedModel]:
    return _each_argument(
        lambda argument, request: replace(argument, location=repair(argument.location, request.pools))
    )


def last_for_missing(place: types.DataLocation, pools: Pools) -> types.DataLocation:
    """A pool that does not exist means the last one."""
    return place if 0 <= place.pool_index < len(pools) else replace(place, pool_index=max(len(pools) - 1, 0))


def moved_inside(place: types.DataLocation, pools: Pools) -> types.DataLocation:
    """What reaches beyond its pool ends where the pool ends."""
    pool = pools[place.pool_index].pool if 0 <= place.pool_index < len(pools) else None
    if pool is None or place.offset + place.length <= pool.size:
        return place
    return replace(place, offset=max(pool.size - place.length, 0))


def _wrapped(place: types.DataLocation, _: Pools) -> types.DataLocation:
    return replace(place, offset=0) if place.offset + place.length >= 2**32 else place


def _cut(request: types.Request) -> types.Request:
    return replace(request, inputs=request.inputs[:2], outputs=request.outputs[:1])


def _notifying(
    notify: Callable[[hal.ExecutionCallback, tuple[Any, ...]], None],
) -> type[FaultyPreparedModel]:
    """Asynchronous executions that notify otherwise. notify: gets the client's callback and the answer."""

    class Model(FaultyPreparedModel):
        def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
            notify(callback, answer)

    return Model


def _twice(client: hal.ExecutionCallback, answer: tuple[Any, ...]) -> None:
    client.notify(*answer)
    client.notify(*answer)


def _never(client: hal.ExecutionCallback, answer: tuple[Any, ...]) -> None:
    pass


def _another_error(client: hal.ExecutionCallback, answer: tuple[Any, ...]) -> None:
    status, *rest = answer
    client.notify(_GENERAL if status == _INVALID else status, *rest)


def _failure_is_none(client: hal.ExecutionCallback, answer: tuple[Any, ...]) -> None:
    _, *rest = answer
    client.notify(_NONE, *rest)


def _touching(touch: Callable[[types.Request, MemoryMap], None]) -> type[FaultyPreparedModel]:
    """Synchronous executions after which memory is touched."""

    class Model(FaultyPreparedModel):
        def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
            result = self.inner.execute_synchronously(request, *rest)
            touch(request, self.context.memory)
            return result

    return Model


def _scratch(request: types.Request, memory: MemoryMap) -> None:
    for region in filter(None, regions(memory, request, request.inputs)):
        region[0] ^= 1


def _beyond(request: types.Request, memory: MemoryMap) -> None:
    place, pool = request.outputs[-1].location, mapped(memory, request, request.outputs[-1])
    if pool is not None:
        end = place.offset + place.length
        pool[end : end + 4] = bytes(len(pool[end : end + 4]))


def _before(request: types.Request, memory: MemoryMap) -> None:
    last = max(request.outputs, key=lambda argument: argument.location.offset)
    pool = mapped(memory, request, last)
    if pool is not None and last.location.offset:
        pool[last.location.offset - 1] = 0


_ANY = "vts.generated.RELU.float32_*"


class _SecondLoopWrong(FaultyPreparedModel):
    """Adds to the output of the second of two loops."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        result = self.inner.execute_synchronously(request, *rest)
        model: Any = self.inner
        if [one.type for one in model.model.main.operations].count(OperationType.WHILE) == 2:
            outputs = Outputs(self.context.memory, request)
            *others, last = outputs.read()
            outputs.write([*others, struct.pack("<f", struct.unpack("<f", last)[0] + 1)])
        return result


class _FailsBranches(FaultyPreparedModel):
    """Executes no IF."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        model: Any = self.inner
        if OperationType.IF in {one.type for one in model.model.main.operations}:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "no IF")
        return self.inner.execute_synchronously(request, *rest)


class _FailsTimed(FaultyPreparedModel):
    """Fails in every form where times are asked for."""

    def execute_synchronously(self, request: types.Request, measure_timing: bool, *rest: Any) -> types.ExecutionResult:
        if measure_timing:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no times")
        return self.inner.execute_synchronously(request, measure_timing, *rest)

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, *rest: Any
    ) -> types.ExecutionResult:
        if config.measure_timing:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no times")
        return self.inner.execute_synchronously_with_config(request, config, *rest)

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        if config.measure_timing:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no times")
        return self.inner.create_reusable_execution(request, config)


FAULTS = (
    fault("executions-second-loop-wrong", "The second of two loops of a model has a wrong result.",
          "NNHAL-EXECUTE-001", "vts.control_flow.WHILE.one_after_the_other", _SecondLoopWrong),
    fault("executions-no-branches", "Every execution of IF is refused as invalid.", "NNHAL-CONTROLFLOW-005",
          "vts.control_flow.IF.output_of_another_size", _FailsBranches),
    fault("executions-none-timed", "Measured executions are GENERAL_FAILURE in every form.", "NNHAL-EXECUTE-012",
          "vts.extensions.execution_hints.none", _FailsTimed),
    fault("timing-not-asked-for", "Times are reported though nobody asked.", "NNHAL-TIMING-001", _ANY,
          _timing(lambda timing, asked: timing if asked else types.Timing(5, 9))),
    fault("timing-device-above-driver", "The device takes longer than the driver around it.", "NNHAL-TIMING-004",
          _ANY, _timing(lambda timing, asked: types.Timing(9, 5) if asked else timing)),
    fault("timing-negative", "An AIDL time is -5.", "NNHAL-TIMING-006", _ANY,
          _timing(lambda timing, asked: types.Timing(-5, 9) if asked else timing)),
    fault("timing-of-a-failure", "An execution that failed reports times.", "NNHAL-TIMING-002", _ANY,
          answering(_time_of_failure)),
    fault("insufficient-is-success", "An output that does not fit is reported as success.", "NNHAL-SHAPE-004", _ANY,
          answering(_all_sufficient)),
    fault("insufficient-marks-all", "One output does not fit, all are marked.", "NNHAL-SHAPE-005",
          "vts.generated.SPLIT.*", answering(lambda result, _: result if result.output_sufficient_size else replace(
              result, output_shapes=tuple(replace(one, is_sufficient=False) for one in result.output_shapes)))),
    fault("shapes-missing", "Outputs of unknown size get no shapes.", "NNHAL-SHAPE-002", _ANY,
          _shapes(lambda shapes: ())),
    fault("shapes-too-many", "There is a shape too many.", "NNHAL-SHAPE-001", _ANY,
          _shapes(lambda shapes: (*shapes, shapes[0]))),
    fault("shapes-padded", "The reported size of the last dimension is that of a padded tile.", "NNHAL-SHAPE-002",
          _ANY, _dimensions(lambda sizes: (*sizes[:-1], -(-sizes[-1] // 16) * 16))),
    fault("shapes-of-rank-4", "Shapes are filled up to rank 4.", "NNHAL-SHAPE-002",
          "vts.generated.RELU.float32_rank2", _dimensions(lambda sizes: (1,) * (4 - len(sizes)) + sizes)),
    fault("shapes-insufficient-in-success", "A successful execution marks its outputs insufficient.",
          "NNHAL-SHAPE-003", _ANY, _shapes(
              lambda shapes: tuple(replace(shape, is_sufficient=False) for shape in shapes))),
    fault("execute-once", "A prepared model can be executed once.", "NNHAL-EXECUTE-001", _ANY, _Once),
    fault("execute-stale-output", "Later executions repeat the first answer and write nothing.",
          "NNHAL-EXECUTE-001", _ANY, _KeepsTheFirstResult),
    fault("execute-refuses-unknown-outputs", "Outputs of unknown size are an argument error.", "NNHAL-SHAPE-002",
          _ANY, _RefusesUnknownOutputs),
    fault("request-general-failure", "An invalid request is GENERAL_FAILURE.", "NNHAL-REQUEST-001 NNHAL-SHAPE-007",
          "vts.requests.ADD.* vts.executions.shapes.none_of_a_failure", _SaysGeneralFailure),
    fault("request-too-many-arguments", "Arguments that the model does not have are ignored.", "NNHAL-REQUEST-001",
          "vts.requests.ADD.input_added vts.requests.ADD.output_added", _repairing(_cut)),
    fault("request-pool-index", "A pool index that does not exist means the last pool.", "NNHAL-REQUEST-004",
          "vts.requests.ADD.input_in_missing_pool vts.requests.ADD.output_in_missing_pool",
          _each_location(last_for_missing)),
    fault("request-beyond-pool", "What reaches beyond its pool is moved inside.", "NNHAL-REQUEST-005",
          "vts.requests.ADD.input_beyond_pool vts.requests.ADD.output_beyond_pool",
          _each_location(moved_inside)),
    fault("request-offset-wraps", "Offset and length are added in 32 bits, and all is read from 0.",
          "NNHAL-ROBUST-002", "vts.requests.ADD.input_offset_that_wraps",
          _each_location(_wrapped)),
    fault("request-padding-ignored", "Padding is not looked at.", "NNHAL-REQUEST-006",
          "vts.requests.ADD.output_padding_beyond_pool", _each_location(lambda place, _: replace(place, padding=0))),
    fault("request-dimensions-ignored", "Dimensions in a request are not looked at.",
          "NNHAL-REQUEST-007 NNHAL-REQUEST-008",
          "vts.requests.ADD.*_of_other_rank vts.requests.ADD.*_of_other_size",
          _each_argument(lambda argument, _: replace(argument, dimensions=()))),
    fault("request-omitted-ignored", "An argument without value is read where its location says.",
          "NNHAL-REQUEST-003", "vts.requests.ADD.omitted_input_with_location",
          _each_argument(lambda argument, _: replace(argument, has_no_value=False))),
    fault("execute-notifies-twice", "The execution callback is called twice.", "NNHAL-EXECUTE-003",
          _ANY, _notifying(_twice), Version.V1_1),
    fault("execute-never-notifies", "The execution callback is never called.", "NNHAL-EXECUTE-003",
          "vts.generated.RELU.float32_rank2", faulty_models(_notifying(_never), deadlines=IMPATIENT), Version.V1_1),
    fault("execute-notifies-another-error", "INVALID_ARGUMENT is returned, GENERAL_FAILURE notified.",
          "NNHAL-EXECUTE-004", "vts.requests.ADD.*", _notifying(_another_error), Version.V1_1),
    fault("execute-notifies-success", "A refused execution is notified as a success.", "NNHAL-EXECUTE-004",
          "vts.requests.ADD.*", _notifying(_failure_is_none), Version.V1_0),
    fault("memory-input-as-scratch", "The execution writes into its inputs.", "NNHAL-EXECUTE-002", _ANY,
          _touching(_scratch)),
    fault("memory-beyond-the-output", "Four bytes after the last output are cleared.", "NNHAL-EXECUTE-001",
          _ANY, _touching(_beyond)),
    fault("memory-before-the-output", "The byte in front of the output that lies last is cleared.", "NNHAL-EXECUTE-001",
          "vts.generated.SPLIT.*", _touching(_before)),
)  # fmt: skip
"""Faults of executions at the boundary."""
