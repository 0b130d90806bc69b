"""The inputs and outputs of kernels: tensors with their quantisation, and what is known of an output beforehand."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy
import numpy.typing

from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Operand, SymmPerChannelQuantParams

Array = numpy.typing.NDArray[Any]

Routine = Callable[[Sequence[Array]], list[Array]]
"""A graph to which an operation refers: from the values of its inputs to those of its outputs."""


class Tensor(msgspec.Struct, frozen=True):
    """An input of a kernel. data: elements as stored, in the operand's shape; a scalar is a tensor of rank 0.

    extension: parameters of an operand of an extension's type.
    """

    operand_type: int
    data: Array
    scale: float = 0.0
    zero_point: int = 0
    channel_quant: SymmPerChannelQuantParams | None = None
    extension: bytes = b""


class OutputInfo(msgspec.Struct, frozen=True):
    """An output of a kernel before it is computed.

    dimensions: the actual ones, by the operation's shape rule; where that leaves a size open (0, as in outputs of
    BOX_WITH_NMS_LIMIT), the kernel decides.
    """

    operand_type: int
    dimensions: tuple[int, ...]
    scale: float = 0.0
    zero_point: int = 0
    extension: bytes = b""


Inputs = Sequence[Tensor | None]
"""The inputs of a kernel in their order: None where an optional one is omitted."""

Outputs = Sequence[OutputInfo]
"""What is known of the outputs of a kernel before they are computed."""


def tensor_of(operand: Operand, data: Array) -> Tensor:
    """The tensor of an operand with these elements."""
    channel_quant = operand.extra_params.channel_quant if operand.extra_params else None
    return Tensor(operand.type, data, operand.scale, operand.zero_point, channel_quant, extension_of(operand))


def extension_of(operand: Operand) -> bytes:
    """The parameters of an operand of an extension's type; empty for any other."""
    return (operand.extra_params.extension or b"") if operand.extra_params else b""


def element_type(operand_type: int) -> numpy.dtype[Any]:
    """The numpy type of one stored element of an operand type."""
    return numpy.dtype(OPERAND_TYPES[operand_type].dtype)


def required(tensor: Tensor | None) -> Tensor:
    """The tensor of an input that is not optional: the rules have rejected its omission."""
    if tensor is None:
        raise ValueError("an input that is not optional was omitted")
    return tensor


def integer(tensor: Tensor | None) -> int:
    """The value of an INT32 or BOOL scalar."""
    return int(required(tensor).data.item())


def integers(tensor: Tensor | None) -> list[int]:
    """The elements of a TENSOR_INT32, row-major."""
    return [int(value) for value in required(tensor).data.ravel()]
