"""Python values as arguments of C functions, and places for C functions to write to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npu_conformance.adapters.nnapi_c.declarations import ffi
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN
from npu_conformance.specs.neuralnetworks.runtime.types import UNTOUCHED, OperandDescription, PerChannelDescription

NULL = ffi.NULL
_FILLING = 0x5A
"""What every byte of a place holds before the call: no code, count or pointer looks like it."""


class Written:
    """A place that a C function writes to, or a null pointer where none is wanted.

    kind: the C type of an element. room: how many elements may be written.
    """

    def __init__(self, kind: str, wanted: bool, room: int = 1) -> None:
        self.pointer = ffi.new(f"{kind}[]", room) if wanted else NULL
        self._room = room if wanted else 0
        if wanted:
            ffi.buffer(self.pointer)[:] = bytes([_FILLING]) * ffi.sizeof(self.pointer)
            self._untouched = self.pointer[room - 1]

    def value(self) -> int:
        """The number that was written; UNTOUCHED where none was."""
        values = self.values()
        return values[0] if values else UNTOUCHED

    def values(self) -> tuple[int, ...]:
        """The numbers from the first on that were written."""
        found = []
        for index in range(self._room):
            if self.pointer[index] == self._untouched:
                break
            found.append(int(self.pointer[index]))
        return tuple(found)

    def text(self) -> str | None:
        """The text whose address was written; None where none was, or a null pointer."""
        if not self._room or self.pointer[0] in (self._untouched, NULL):
            return None
        data: bytes = ffi.string(self.pointer[0])
        return data.decode(errors="replace")


class Structure:
    """A struct with the array that it refers to. pointer: to the struct, or null."""

    def __init__(self, pointer: Any, array: Any = NULL) -> None:
        self.pointer, self._array = pointer, array


def operand_type(description: OperandDescription | None) -> Structure:
    """An ANeuralNetworksOperandType; null for None."""
    if description is None:
        return Structure(NULL)
    dimensions = numbers(description.dimensions)
    made = ffi.new("ANeuralNetworksOperandType *")
    made.type = as_c("int32_t", description.type)
    made.dimensionCount = as_c("uint32_t", description.dimension_count)
    made.dimensions = dimensions
    made.scale = description.scale
    made.zeroPoint = as_c("int32_t", description.zero_point)
    return Structure(made, dimensions)


def per_channel(description: PerChannelDescription | None) -> Structure:
    """An ANeuralNetworksSymmPerChannelQuantParams; null for None."""
    if description is None:
        return Structure(NULL)
    scales = NULL if description.scales is None else ffi.new("float[]", description.scales or 1)
    made = ffi.new("ANeuralNetworksSymmPerChannelQuantParams *")
    made.channelDim = as_c("uint32_t", description.channel_dim)
    made.scaleCount = as_c("uint32_t", description.scale_count)
    made.scales = scales
    return Structure(made, scales)


def numbers(values: Sequence[int] | None, kind: str = "uint32_t") -> Any:
    """An array of integers: null for None, a valid pointer also where there are none."""
    if values is None:
        return NULL
    return ffi.new(f"{kind}[]", [as_c(kind, value) for value in values] or 1)


def text(value: str | None) -> Any:
    """A C string; null for None."""
    return NULL if value is None else ffi.new("char[]", value.encode(errors="surrogateescape"))


def cache_token(value: bytes | None) -> Any:
    """A token, of which a runtime always reads 32 bytes; null for None."""
    return NULL if value is None else ffi.new("uint8_t[]", value.ljust(BYTE_SIZE_OF_CACHE_TOKEN, b"\0"))


def as_c(kind: str, value: int) -> int:
    """What becomes of an integer that is converted to a C type: too large a one wraps around, as in C."""
    return int(ffi.cast(kind, value))
