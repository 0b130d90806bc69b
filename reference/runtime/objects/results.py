"""What a computation leaves: its result code, the shapes of its outputs, its durations."""

from __future__ import annotations

from npu_conformance.reference.runtime.backend import Outcome
from npu_conformance.reference.runtime.objects.arguments import Arguments
from npu_conformance.reference.runtime.objects.operands import bad_data, bad_state
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.neuralnetworks.types import OutputShape, Timing

_HAS_SHAPES = (ResultCode.NO_ERROR, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
_FENCED = (DurationCode.FENCED_ON_HARDWARE, DurationCode.FENCED_IN_DRIVER)
_ON_HARDWARE = (DurationCode.ON_HARDWARE, DurationCode.FENCED_ON_HARDWARE)


class Results:
    """The results of one computation. shapes: of all outputs."""

    def __init__(self, outcome: Outcome, outputs: Arguments) -> None:
        self._outcome = outcome
        self.result = outcome.result
        self.shapes: tuple[OutputShape, ...] = ()
        if self.result in _HAS_SHAPES:
            self._take_shapes(outputs)

    def _take_shapes(self, outputs: Arguments) -> None:
        """Shapes may only fill in what the app left unknown; else the computation has failed."""
        given = [one.argument.dimensions for one in outputs.given()]
        self.shapes = self._outcome.shapes or tuple(OutputShape(dimensions, True) for dimensions in given)
        if len(self.shapes) != len(given) or not all(map(_agrees, given, self.shapes)):
            self.result = ResultCode.OP_FAILED

    def shape(self, index: int) -> OutputShape:
        """The shape of an output (FW-EXE-017). Raises BAD_STATE after a failure that tells no shapes, BAD_DATA."""
        if self.result not in _HAS_SHAPES:
            raise bad_state("the computation has failed")
        if not 0 <= index < len(self.shapes):
            raise bad_data(f"output {index} of {len(self.shapes)}")
        return self.shapes[index]

    def duration(self, code: int) -> int:
        """A time in nanoseconds (FW-EXE-019, -020). Raises BAD_STATE after a failure."""
        if self.result != ResultCode.NO_ERROR:
            raise bad_state("the computation has failed")
        timing: Timing | None = self._outcome.timing
        if code in _FENCED:
            timing = self._outcome.fenced_timing or timing
        if timing is None:
            return UNAVAILABLE_DURATION
        return timing.time_on_device if code in _ON_HARDWARE else timing.time_in_driver


def _agrees(given: tuple[int, ...], found: OutputShape) -> bool:
    if not given or given == found.dimensions:
        return True
    if len(given) != len(found.dimensions):
        return not found.is_sufficient and not found.dimensions
    return all(one in (0, other) for one, other in zip(given, found.dimensions, strict=True))
