"""What the functions of the NNAPI C API take and answer.

An object of the API is a *handle*: a positive number, 0 where the pointer is null. An out-parameter is a bool where it
is passed: True for a place to write to, False for a null pointer. What the callee wrote there comes with the result
code in an answer; UNTOUCHED where it wrote nothing.
"""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.wire_types import Float, HasFloat, Wire

NULL = 0
UNTOUCHED = -1


class Pointer(Wire, frozen=True):
    """An address in the caller's memory: a pool that both sides reach, and an offset in bytes. None is a null pointer.

    The callee reads and writes the bytes themselves, as long as the header allows it to keep the pointer.
    """

    memory: Memory
    offset: int = 0


class OperandDescription(HasFloat, frozen=True):
    """ANeuralNetworksOperandType. dimension_count: of the dimensions, as the app says.

    dimensions: None is a null pointer. Any tuple is a pointer that is not null, also an empty one: with a count of 0 it
    is refused (FW-MDL-002).
    """

    type: int
    dimension_count: int = 0
    dimensions: tuple[int, ...] | None = None
    scale: Float = 0.0
    zero_point: int = 0

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("scale",)


class PerChannelDescription(HasFloat, frozen=True):
    """ANeuralNetworksSymmPerChannelQuantParams. scales: None is a null pointer."""

    channel_dim: int
    scale_count: int
    scales: tuple[Float, ...] | None

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("scales",)


class Handle(Wire, frozen=True):
    """A result code, and the handle that was written."""

    result: int
    handle: int = UNTOUCHED


class Number(Wire, frozen=True):
    """A result code, and the number that was written."""

    result: int
    value: int = UNTOUCHED


class Numbers(Wire, frozen=True):
    """A result code, and the numbers that were written; empty where none were."""

    result: int
    values: tuple[int, ...] = ()


class Text(Wire, frozen=True):
    """A result code, and the text that was written; None where none was."""

    result: int
    value: str | None = None


class Flag(Wire, frozen=True):
    """A result code, and the bool that was written; None where none was."""

    result: int
    value: bool | None = None


class Flags(Wire, frozen=True):
    """A result code, and the bools that were written; empty where none were."""

    result: int
    values: tuple[bool, ...] = ()


class FenceAnswer(Wire, frozen=True):
    """A result code, and the fence whose descriptor was written; None where that is -1."""

    result: int
    fence: Fence | None = None
