"""The client's side of HIDL's burst packets: results, judged byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ELEMENT_SIZE,
    ExecutionTiming,
    MalformedPacketError,
    ResultDimension,
    ResultElement,
    ResultInformation,
    ResultOperand,
    pack,
    unpack_result,
)
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import OutputShape, Timing
from npu_conformance.specs.versions import Version

_Element = TypeVar("_Element", bound=ResultElement)


def read_result(packet: bytes) -> Execution:
    """What a result packet says. Failed where it breaks the format (NNHAL-BURST-003, -007)."""
    try:
        elements = unpack_result(packet)
    except MalformedPacketError as error:
        raise Failed(f"result packet: {error}: {packet.hex(' ', 4)}") from None
    if pack(elements) != packet:
        _not_clean(packet, elements)
    reader = _Reader(elements)
    information = reader.take(ResultInformation)
    checks.equal(information.packet_size, len(elements), "packet size of the result packet")
    shapes = tuple(reader.shape() for _ in range(information.number_of_operands))
    timing = reader.take(ExecutionTiming)
    reader.end()
    return Execution(information.status, shapes, Timing(timing.time_on_device, timing.time_in_driver))


@checks.about("NNHAL-BURST-007")
def _not_clean(packet: bytes, elements: Sequence[ResultElement]) -> None:
    """Bytes without a name are zero, and truth values 0 or 1: else something of the driver's memory shows."""
    for number, (found, expected) in enumerate(zip(_split(packet), (pack([one]) for one in elements), strict=True)):
        if found != expected:
            what = f"unused bytes of element {number} of the result packet ({type(elements[number]).__name__})"
            checks.fail(what, expected.hex(" ", 4), found.hex(" ", 4))


def _split(packet: bytes) -> list[bytes]:
    return [packet[start : start + ELEMENT_SIZE] for start in range(0, len(packet), ELEMENT_SIZE)]


class _Reader:
    def __init__(self, elements: Sequence[ResultElement]) -> None:
        self._elements = elements
        self._at = 0

    def take(self, kind: type[_Element]) -> _Element:
        element = self._elements[self._at] if self._at < len(self._elements) else None
        if not isinstance(element, kind):
            found = "the end" if element is None else type(element).__name__
            checks.fail(f"element {self._at} of the result packet", kind.__name__, found)
        self._at += 1
        return element

    def shape(self) -> OutputShape:
        operand = self.take(ResultOperand)
        sizes = tuple(self.take(ResultDimension).size for _ in range(operand.number_of_dimensions))
        return OutputShape(sizes, operand.is_sufficient)

    def end(self) -> None:
        checks.equal(len(self._elements), self._at, "number of elements of the result packet")


def failed(execution: Execution, what: str) -> None:
    """See that a result is an error, without shapes and times (NNHAL-BURST-004)."""
    checks.that(execution.status != ErrorStatus.NONE, f"{what}: expected an error, found NONE")
    answer = f"{what}, answered with {status_name(execution.status)}"
    checks.equal(execution.output_shapes, (), f"output shapes of {answer}")
    none = Version.V1_2.unavailable_time
    checks.equal(execution.timing, Timing(none, none), f"timing of {answer}")
