"""Single operations in realistic sizes, from which the relations of executions start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import (
    BOOL8,
    BYTES,
    FLOATS,
    INT32,
    MOVED,
    SIGNED,
    WITH_INTEGERS,
    Net,
    Tensor,
    like,
)
from npu_conformance.vts.lib.relations.product_operands import bias, output, weights

Result = Callable[[RelationFixture], Any]
"""Makes the operand of a result, without its shape."""


@dataclass(frozen=True)
class Sample:
    """One operation on one input. shape: of the input, NHWC of images.

    images: the operation has a layout argument, which `layout` says how to set. batches: results of batches do not
    depend on each other. sums: data that adds up exactly (see RelationFixture.steps).
    """

    name: str
    operation: str
    shape: tuple[int, ...]
    types: tuple[OperandType, ...]
    build: Callable[[RelationFixture, Net, str, bool], str]
    images: bool = False
    batches: bool = True
    sums: bool = False
    low: float = -2.0

    def data(self, fixture: RelationFixture) -> Tensor:
        """Elements of the input."""
        return fixture.steps(*self.shape) if self.sums else fixture.tensor(*self.shape, low=self.low)


def _plain(operation: str, *arguments: Any, result: Result | None = None) -> Callable[..., str]:
    """An operation on the input and constants; a constant may be made by a function of the fixture."""

    def build(fixture: RelationFixture, net: Net, name: str, nchw: bool) -> str:
        made = [argument(fixture) if callable(argument) else argument for argument in arguments]
        made = [nchw if argument is LAYOUT else argument for argument in made]
        return net.apply(operation, name, *made, result=result(fixture) if result else None)

    return build


class _Layout:
    """Stands for the layout argument."""


LAYOUT = _Layout()


def _filter(*shape: int) -> Callable[[RelationFixture], Tensor]:
    return lambda fixture: weights(fixture, *shape)


def _bias(length: int) -> Callable[[RelationFixture], Tensor]:
    return lambda fixture: bias(fixture, length)


def _other(*shape: int, low: float = -2.0) -> Callable[[RelationFixture], Tensor]:
    return lambda fixture: fixture.tensor(*shape, low=low)


def _fixed(scale: float, unsigned: int) -> Result:
    def result(fixture: RelationFixture) -> Any:
        return (
            like(fixture.operand_type, scale, unsigned - (128 if fixture.operand_type is SIGNED else 0))
            if fixture.operand_type in BYTES
            else like(fixture.operand_type)
        )

    return result


def _coarse(fixture: RelationFixture) -> Any:
    return like(fixture.operand_type, 1 / 4) if fixture.operand_type in BYTES else like(fixture.operand_type)


def _image(
    name: str,
    operation: str,
    shape: Sequence[int],
    types: Sequence[OperandType],
    *arguments: Any,
    result: Result | None = None,
    sums: bool = False,
    batches: bool = True,
) -> Sample:
    build = _plain(operation, *arguments, LAYOUT, result=result)
    return Sample(name, operation, tuple(shape), tuple(types), build, True, batches, sums)


def _flat(
    operation: str,
    shape: Sequence[int],
    types: Sequence[OperandType],
    *arguments: Any,
    result: Result | None = None,
    sums: bool = False,
    batches: bool = True,
    low: float = -2.0,
) -> Sample:
    build = _plain(operation, *arguments, result=result)
    return Sample(operation.lower(), operation, tuple(shape), tuple(types), build, False, batches, sums, low)


_UNARY = {
    "ABS": (*FLOATS, INT32), "EXP": FLOATS, "FLOOR": FLOATS, "HARD_SWISH": MOVED, "NEG": (*FLOATS, INT32),
    "RELU": MOVED, "RELU1": MOVED, "RELU6": MOVED, "SIN": FLOATS,
}  # fmt: skip
_POSITIVE = ("LOG", "RSQRT", "SQRT")
_ROW = (3, 17, 9, 21)

_IMAGES = (
    _image("conv_2d_first_layer", "CONV_2D", (1, 224, 224, 3), MOVED, _filter(8, 3, 3, 3), _bias(8), 1, 2, 2, 3,
           result=output, sums=True, batches=False),
    _image("conv_2d", "CONV_2D", (3, 19, 27, 21), MOVED, _filter(19, 3, 2, 21), _bias(19), 1, 2, 1, 0,
           result=output, sums=True),
    _image("depthwise_conv_2d", "DEPTHWISE_CONV_2D", (3, 19, 27, 21), MOVED, _filter(1, 3, 2, 42), _bias(42), 1, 1, 2,
           2, 1, result=output, sums=True),
    _image("grouped_conv_2d", "GROUPED_CONV_2D", (3, 19, 13, 21), MOVED, _filter(15, 3, 2, 7), _bias(15), 1, 2, 1, 3, 0,
           result=output, sums=True),
    _image("transpose_conv_2d", "TRANSPOSE_CONV_2D", (3, 9, 13, 11), MOVED, _filter(9, 3, 2, 11), _bias(9), 0, 0, 0, 0,
           2, 3, 0, result=output, sums=True),
    _image("average_pool_2d", "AVERAGE_POOL_2D", (3, 29, 23, 21), MOVED, 1, 2, 1, 3, 4, 0, sums=True),
    _image("max_pool_2d", "MAX_POOL_2D", (3, 29, 23, 21), MOVED, 2, 1, 2, 4, 3, 0),
    _image("l2_pool_2d", "L2_POOL_2D", (3, 29, 23, 21), FLOATS, 2, 1, 2, 4, 3, 0, sums=True),
    _image("resize_bilinear", "RESIZE_BILINEAR", (3, 9, 13, 11), MOVED, 31, 17),
    _image("resize_nearest_neighbor", "RESIZE_NEAREST_NEIGHBOR", (3, 9, 13, 11), MOVED, 31, 17),
    _image("depth_to_space", "DEPTH_TO_SPACE", (3, 9, 13, 36), MOVED, 3),
    _image("space_to_depth", "SPACE_TO_DEPTH", (3, 18, 26, 11), MOVED, 2),
    _image("batch_to_space_nd", "BATCH_TO_SPACE_ND", (12, 9, 13, 11), MOVED, (3, 2), batches=False),
    _image("space_to_batch_nd", "SPACE_TO_BATCH_ND", (3, 17, 26, 11), MOVED, (3, 2), [[1, 0], [3, 1]], batches=False),
    _image("instance_normalization", "INSTANCE_NORMALIZATION", (3, 9, 13, 11), FLOATS, 1.5, 0.5, 1.0),
)  # fmt: skip

_FLAT = (
    _flat("FULLY_CONNECTED", (19, 768), MOVED, _filter(37, 768), _bias(37), 0, result=output, sums=True),
    _flat("BATCH_MATMUL", (3, 13, 131), (*FLOATS, SIGNED), _filter(3, 131, 23), False, False, result=output, sums=True,
          batches=False),
    _flat("ADD", _ROW, WITH_INTEGERS, _other(9, 21), 0, result=_coarse),
    _flat("SUB", _ROW, WITH_INTEGERS, _other(1, 21), 0, result=_coarse),
    _flat("MUL", _ROW, WITH_INTEGERS, _other(17, 1, 21), 0, result=_coarse),
    _flat("DIV", _ROW, FLOATS, _other(21, low=1.0), 0),
    _flat("POW", _ROW, FLOATS, _other(21), low=0.5),
    _flat("MAXIMUM", _ROW, WITH_INTEGERS, _other(9, 21)),
    _flat("MINIMUM", _ROW, WITH_INTEGERS, _other(9, 21)),
    _flat("PRELU", _ROW, MOVED, _other(21), result=_coarse),
    _flat("ELU", _ROW, FLOATS, 1.5),
    _flat("EQUAL", _ROW, (*WITH_INTEGERS, BOOL8), _other(21), result=lambda _: like(BOOL8)),
    _flat("LOGICAL_AND", _ROW, (BOOL8,), _other(21)),
    _flat("LOGICAL_NOT", _ROW, (BOOL8,)),
    _flat("LOGISTIC", _ROW, MOVED, result=_fixed(1 / 256, 0)),
    _flat("TANH", _ROW, MOVED, result=_fixed(1 / 128, 128)),
    _flat("SOFTMAX", (7, 1001), MOVED, 0.5, result=_fixed(1 / 256, 0)),
    _flat("LOG_SOFTMAX", (7, 101), FLOATS, 0.5, -1),
    _flat("L2_NORMALIZATION", (3, 17, 9, 21), MOVED, result=_fixed(1 / 128, 128)),
    _flat("LOCAL_RESPONSE_NORMALIZATION", (3, 17, 9, 21), FLOATS, 2, 1.0, 0.25, 0.5),
    _flat("MEAN", (3, 17, 9, 21), MOVED, (1, 2), 0, sums=True),
    _flat("REDUCE_MAX", (3, 17, 9, 21), MOVED, (3, 1), False),
    _flat("REDUCE_MIN", (3, 17, 9, 21), MOVED, (2,), True),
    _flat("REDUCE_SUM", (3, 17, 9, 21), FLOATS, (1, 2), False, sums=True),
    _flat("REDUCE_ANY", (3, 17, 9, 21), (BOOL8,), (1, 3), False),
    _flat("ARGMAX", (3, 17, 131), WITH_INTEGERS, 2, result=lambda _: like(INT32)),
    _flat("TRANSPOSE", (3, 17, 9, 21), MOVED, (0, 3, 1, 2)),
    _flat("RESHAPE", (6, 17, 9), MOVED, (-1, 9)),
    _flat("PAD", (3, 17, 9, 21), MOVED, [[0, 0], [1, 2], [0, 3], [4, 0]]),
    _flat("MIRROR_PAD", (3, 17, 9, 21), WITH_INTEGERS, [[0, 0], [5, 2], [0, 3], [4, 0]], 0),
    _flat("SLICE", (3, 17, 9, 21), WITH_INTEGERS, (0, 3, 0, 5), (-1, 11, 9, 15)),
    _flat("STRIDED_SLICE", (3, 17, 9, 21), MOVED, (0, 1, 8, 2), (3, 17, 0, 20), (1, 3, -2, 2), 1, 0, 0),
    _flat("TILE", (3, 17, 9), WITH_INTEGERS, (1, 2, 3)),
    _flat("GATHER", (3, 17, 9, 21), WITH_INTEGERS, 3, tuple(range(20, 1, -3))),
    _flat("REVERSE", (3, 17, 9, 21), WITH_INTEGERS, (2,)),
    _flat("CHANNEL_SHUFFLE", (3, 17, 9, 21), MOVED, 7, 3),
    _flat("EXPAND_DIMS", (3, 17, 9), WITH_INTEGERS, 2),
    _flat("CONCATENATION", (3, 17, 9), MOVED, _other(3, 17, 5), 2, batches=False),
    *(_flat(operation, _ROW, types) for operation, types in _UNARY.items()),
    *(_flat(operation, _ROW, FLOATS, low=0.5) for operation in _POSITIVE),
)  # fmt: skip

SAMPLES = (*_IMAGES, *_FLAT)
