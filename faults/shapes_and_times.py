"""Faults in what an execution reports beside its results: shapes of outputs, and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import answering, fault
from npu_conformance.faults.outputs import mapped
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

Result = types.ExecutionResult
Shapes = tuple[types.OutputShape, ...]


def _of_insufficient(change: Callable[[Shapes], Shapes]) -> type[FaultyPreparedModel]:
    """The synchronous path with other shapes where an output does not fit."""

    def whole(result: Result, _: bool) -> Result:
        if result.output_sufficient_size:
            return result
        return replace(result, output_shapes=change(result.output_shapes))

    return answering(whole)


def _flags_swapped(shapes: Shapes) -> Shapes:
    flags = [shape.is_sufficient for shape in reversed(shapes)]
    return tuple(replace(shape, is_sufficient=flag) for shape, flag in zip(shapes, flags, strict=True))


def _no_flags(shapes: Shapes) -> Shapes:
    return tuple(replace(shape, is_sufficient=True) for shape in shapes)


def _one_less(shapes: Shapes) -> Shapes:
    """A shape of as many elements as fit."""
    return tuple(
        shape
        if shape.is_sufficient or not shape.dimensions
        else replace(shape, dimensions=(*shape.dimensions[:-1], max(shape.dimensions[-1] - 1, 1)))
        for shape in shapes
    )


def _without_rank(shapes: Shapes) -> Shapes:
    return tuple(shape if shape.is_sufficient else replace(shape, dimensions=()) for shape in shapes)


class _InsufficientIsAnError(FaultyPreparedModel):
    def execute_synchronously(self, *arguments: Any) -> Result:
        result = self.inner.execute_synchronously(*arguments)
        if not result.output_sufficient_size:
            raise ServiceError(ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, "an output does not fit")
        return result


class _UsesPadding(FaultyPreparedModel):
    """Uses padding as room for output data."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        def roomy(argument: types.RequestArgument) -> types.RequestArgument:
            place = argument.location
            location = replace(place, length=place.length + place.padding, padding=0)
            return replace(argument, location=location)

        outputs = tuple(map(roomy, request.outputs))
        return self.inner.execute_synchronously(replace(request, outputs=outputs), *rest)


class _WritesWhatFits(FaultyPreparedModel):
    """Writes beyond an output that does not fit, up to the next multiple of four bytes."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        for argument, shape in zip(request.outputs, result.output_shapes, strict=False):
            if not shape.is_sufficient:
                end = argument.location.offset + argument.location.length
                pool = mapped(self.context.memory, request, argument)
                if pool is not None:
                    pool[end : -(-end // 4) * 4] = bytes(-end % 4)
        return result


class _WritesZeroSized(FaultyPreparedModel):
    """Clears the first byte of every output, even of one without elements."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, *rest)
        for argument, shape in zip(request.outputs, result.output_shapes, strict=True):
            pool = mapped(self.context.memory, request, argument)
            if pool is not None and 0 in shape.dimensions:
                pool[argument.location.offset] = 0
        return result


class _ShapesOfBefore(FaultyPreparedModel):
    """Reports the shapes of the execution before."""

    _known: Shapes = ()

    def execute_synchronously(self, *arguments: Any) -> Result:
        result = self.inner.execute_synchronously(*arguments)
        before, self._known = self._known or result.output_shapes, result.output_shapes
        return replace(result, output_shapes=before)


class _SizesOfTheFirst(FaultyPreparedModel):
    """Sizes that the model leaves open are those of the first execution for ever."""

    _sizes: list[tuple[int, ...]] | None = None

    def execute_synchronously(self, request: types.Request, *rest: Any) -> Result:
        sizes = [argument.dimensions for argument in request.inputs]
        self._sizes = self._sizes or sizes
        if sizes != self._sizes:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "sizes have changed")
        return self.inner.execute_synchronously(request, *rest)


class _PlanOfTheFirst(FaultyPreparedModel):
    """The shapes of the outputs of the first execution are a plan that no other execution may leave."""

    _plan: Shapes = ()

    def execute_synchronously(self, *arguments: Any) -> Result:
        result = self.inner.execute_synchronously(*arguments)
        self._plan = self._plan or result.output_shapes
        if result.output_shapes != self._plan:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "another shape than the first")
        return result


class _FailsMeasured(FaultyPreparedModel):
    """Fails with more than one output where times are asked for."""

    def execute_synchronously(self, request: types.Request, measure_timing: bool, *rest: Any) -> Result:
        if measure_timing and len(request.outputs) > 1:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no times of several outputs")
        return self.inner.execute_synchronously(request, measure_timing, *rest)


def _flat_where_unranked(result: Result, _: bool) -> Result:
    def flat(shape: types.OutputShape) -> types.OutputShape:
        return replace(shape, dimensions=(1, *shape.dimensions)) if len(shape.dimensions) == 1 else shape

    return replace(result, output_shapes=tuple(map(flat, result.output_shapes)))


def _empty_is_one(result: Result, _: bool) -> Result:
    shapes = (
        replace(shape, dimensions=tuple(max(size, 1) for size in shape.dimensions)) for shape in result.output_shapes
    )
    return replace(result, output_shapes=tuple(shapes))


class _Timed(FaultyPreparedModel):
    """Measures every execution after one that was to be measured."""

    _last: types.Timing | None = None

    def execute_synchronously(self, request: types.Request, measure_timing: bool, *rest: Any) -> Result:
        result = self.inner.execute_synchronously(request, measure_timing, *rest)
        if measure_timing:
            self._last = result.timing
        return result if self._last is None else replace(result, timing=self._last)


def _scaled(numerator: int, denominator: int) -> type[FaultyPreparedModel]:
    def change(result: Result, _: bool) -> Result:
        times = (result.timing.time_on_device, result.timing.time_in_driver)
        known = [0 <= time < 2**60 for time in times]
        scaled = [
            time * numerator // denominator if is_known else time for time, is_known in zip(times, known, strict=True)
        ]
        return replace(result, timing=types.Timing(*scaled))

    return answering(change)


class _AsynchronousTimesOfRefusals(FaultyPreparedModel):
    """Reports shapes or times of a rejected asynchronous execution."""

    told: tuple[Shapes, types.Timing | None] = ((), types.Timing(3, 4))

    def executed(self, callback: hal.ExecutionCallback, status: int, *rest: Any) -> None:
        callback.notify(status, *(rest if status == ErrorStatus.NONE else self.told))


class _AsynchronousShapesOfRefusals(_AsynchronousTimesOfRefusals):
    told = ((types.OutputShape((2,), True),), types.Timing(2**64 - 1, 2**64 - 1))


class _StatusAndMore(FaultyPreparedModel):
    """Reports shapes from an execution of HAL 1.1, as later versions do."""

    def executed(self, callback: hal.ExecutionCallback, status: int, *rest: Any) -> None:
        callback.notify(status, (types.OutputShape((2,), True),), None)


_ANY = "vts.generated.RELU.float32_*"
_SHAPES = "vts.executions.shapes"

FAULTS = (
    fault("insufficient-flags-swapped", "The output that fits is marked instead of the one that does not.",
          "NNHAL-SHAPE-005", f"{_SHAPES}.insufficient vts.generated.SPLIT.*", _of_insufficient(_flags_swapped)),
    fault("insufficient-marks-none", "An output does not fit, and none is marked.", "NNHAL-SHAPE-005",
          f"{_SHAPES}.insufficient {_ANY}", _of_insufficient(_no_flags)),
    fault("insufficient-shape-of-the-buffer", "The size reported is that for which there is room.", "NNHAL-SHAPE-006",
          f"{_SHAPES}.insufficient {_ANY}", _of_insufficient(_one_less)),
    fault("insufficient-loses-rank", "The rank of an output that does not fit is lost.", "NNHAL-SHAPE-006",
          f"{_SHAPES}.insufficient {_ANY}", _of_insufficient(_without_rank)),
    fault("insufficient-is-an-error", "In AIDL an output that does not fit is an error.", "NNHAL-ERROR-007",
          f"{_SHAPES}.insufficient_is_a_result {_ANY}", _InsufficientIsAnError),
    fault("insufficient-uses-padding", "Padding counts as room for an output.", "NNHAL-SHAPE-008 NNHAL-REQUEST-013",
          f"{_SHAPES}.padding_is_no_room {_ANY}", _UsesPadding),
    fault("insufficient-writes-on", "Bytes behind an output that does not fit are written.", "NNHAL-SHAPE-004",
          f"{_SHAPES}.insufficient {_ANY}", _WritesWhatFits),
    fault("shapes-of-the-request-before", "Shapes are those of the execution before.", "NNHAL-SHAPE-002",
          f"{_SHAPES}.other_sizes", _ShapesOfBefore),
    fault("shapes-of-the-first-request", "Unknown sizes are those of the first execution for ever.",
          "NNHAL-PREPARE-014", f"{_SHAPES}.other_sizes", _SizesOfTheFirst),
    fault("shapes-of-the-first-plan", "Executions with another output shape than the first are GENERAL_FAILURE.",
          "NNHAL-PREPARE-014", "vts.executions.data.computed_shape vts.executions.shapes.of_one_input",
          _PlanOfTheFirst),
    fault("shapes-none-of-measured", "Measured executions with specified outputs, two of them, are GENERAL_FAILURE.",
          "NNHAL-SHAPE-001 NNHAL-EXECUTE-001", f"{_SHAPES}.specified", _FailsMeasured),
    fault("shapes-of-rank-2-at-least", "Vectors are reported as matrices of one row.", "NNHAL-SHAPE-002",
          f"{_SHAPES}.unknown {_SHAPES}.specified", answering(_flat_where_unranked)),
    fault("shapes-of-nothing", "An output without elements is reported to have one.", "NNHAL-SHAPE-010",
          f"{_SHAPES}.zero_sized vts.generated.*zero_sized vts.generated.*batch_zero*", answering(_empty_is_one)),
    fault("shapes-of-nothing-written", "A byte is written for an output without elements.", "NNHAL-SHAPE-010",
          f"{_SHAPES}.zero_sized", _WritesZeroSized),
    fault("shapes-of-a-refusal", "A refused execution is notified with shapes.", "NNHAL-SHAPE-007 NNHAL-ERROR-009",
          "vts.executions.asynchronous.refused_both_ways", _AsynchronousShapesOfRefusals, Version.V1_3),
    fault("shapes-in-1-1", "A notification of HAL 1.1 has shapes.", "NNHAL-SHAPE-011",
          f"vts.executions.asynchronous.status_only {_ANY}", _StatusAndMore, Version.V1_1),
    fault("timing-of-a-refusal", "A refused execution is notified with times.", "NNHAL-TIMING-002 NNHAL-ERROR-009",
          "vts.executions.asynchronous.refused_both_ways", _AsynchronousTimesOfRefusals, Version.V1_2),
    fault("timing-remembered", "Once measured, every execution reports times.", "NNHAL-TIMING-001",
          "vts.executions.times.only_where_asked", _Timed),
    fault("timing-in-microseconds", "Times of AIDL are microseconds.", "NNHAL-TIMING-006",
          "vts.executions.times.of_long_work", _scaled(1, 1000), detected_as="quality-warning"),
    fault("timing-in-nanoseconds", "Times of HIDL are nanoseconds.", "NNHAL-TIMING-005",
          "vts.executions.times.longer_than_the_call", _scaled(1000, 1), Version.V1_3, "quality-warning"),
)  # fmt: skip
"""Faults in shapes and times at the boundary."""
