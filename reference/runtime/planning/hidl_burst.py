"""HIDL's burst as a client: memory by slots, answers of packets (NNHAL-BURST). Packets travel as messages."""

from __future__ import annotations

import itertools

from npu_conformance.reference.runtime.planning.parts import Answer
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ExecutionTiming,
    MalformedPacketError,
    ResultDimension,
    ResultInformation,
    ResultOperand,
    unpack_result,
)
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory, OutputShape, Timing

CAPACITY = 1 << 16
"""Elements of the longest packet."""


class Slots(hal.BurstCallback):
    """The memory of a burst, by numbers that the client gives."""

    def __init__(self) -> None:
        self._memories: dict[int, Memory] = {}
        self._numbers: dict[int, int] = {}
        self._unused = itertools.count()

    def slot(self, memory: Memory) -> int:
        """The slot of memory; a new one where it has none."""
        if memory.token not in self._numbers:
            number = self._numbers[memory.token] = next(self._unused)
            self._memories[number] = memory
        return self._numbers[memory.token]

    def forget(self, memory: Memory) -> int:
        """Take the slot from memory; returns its number."""
        number = self._numbers.pop(memory.token)
        del self._memories[number]
        return number

    def get_memories(self, slots: tuple[int, ...]) -> tuple[Memory, ...]:
        """See BurstCallback."""
        if not all(slot in self._memories for slot in slots):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"not all of the slots {slots} are known")
        return tuple(self._memories[slot] for slot in slots)


def answer_of_packet(packet: bytes) -> Answer:
    """Status, shapes and timing of a result packet. Raises ServiceError(GENERAL_FAILURE) for one that is malformed."""
    try:
        information, *rest = unpack_result(packet)
    except (MalformedPacketError, ValueError) as error:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"a result that is no packet: {error}") from error
    if not isinstance(information, ResultInformation) or information.packet_size != 1 + len(rest):
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "a result packet that does not know its size")
    shapes: list[OutputShape] = []
    timing: Timing | None = None
    for element in rest:
        if isinstance(element, ResultOperand):
            shapes.append(OutputShape((), element.is_sufficient))
        elif isinstance(element, ResultDimension) and shapes:
            shapes[-1] = OutputShape((*shapes[-1].dimensions, element.size), shapes[-1].is_sufficient)
        elif isinstance(element, ExecutionTiming):
            timing = Timing(element.time_on_device, element.time_in_driver)
    return information.status, shapes, timing
