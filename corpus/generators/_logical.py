"""Vectors of LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT."""

import functools

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import RANKS, SHAPES, Shape, all_bytes, telling
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument


def binary(operation: str) -> Vectors:
    """All vectors of an operation on two tensors."""
    for seed, (name, (first, second, output)) in enumerate(SHAPES.items()):
        yield telling(seed, functools.partial(_random, name, operation, first, second, output))
    yield _positive(
        "truth_table",
        operation,
        {"input0": tensor(BOOL8, (4,), [0, 0, 1, 1]), "input1": tensor(BOOL8, (4,), [0, 1, 0, 1])},
        (4,),
    )
    yield _positive(
        "other_bytes",
        operation,
        {
            "input0": tensor(BOOL8, (8,), [2, 1, 255, 128, 0, 85, 4, 0]),
            "input1": tensor(BOOL8, (8,), [1, 2, 0, 127, 2, 170, 4, 0]),
        },
        (8,),
        "every byte but 0 is true: 2 and 1 are both, though they have no bit in common",
    )
    yield _positive(
        "every_byte", operation, {"input0": _every_byte(), "input1": tensor(BOOL8, (2, 1, 1), [0, 1])}, (2, 32, 8)
    )
    yield _positive("one_element", operation, _pair(9, (1,), (1, 1, 1, 1)), (1, 1, 1, 1))
    yield _positive("row_with_square", operation, _pair(11, (3,), (3, 3)), (3, 3))
    yield _positive("rank5", operation, _pair(10, (2, 1, 3, 1, 2), (1, 2, 1, 2, 1)), (2, 2, 3, 2, 2))
    yield _positive(
        "open_shapes",
        operation,
        {"input0": _open((0, 3), (2, 3), 11), "input1": _open((), (2, 1), 12)},
        (),
        "the request brings the shapes",
    )
    yield _positive(
        "realistic",
        operation,
        {"input0": _mask((1, 56, 56, 1), 56), "input1": _mask((56, 1, 3), 57)},
        (1, 56, 56, 3),
        "two masks over a feature map",
    )
    yield from _rejections.binary(operation, activation=False, mismatch="C1", outputs="C3", kind=BOOL8, result=BOOL8)
    yield _rejections.mixed_types(operation, activation=False, kind=BOOL8, result=BOOL8)
    yield _of_floats(operation, ("input0", "input1"))


def unary(operation: str) -> Vectors:
    """All vectors of an operation on one tensor."""
    for seed, shape in enumerate((*RANKS, (2, 1, 3, 1, 2))):
        data = integers(seed, shape, 0, 1)
        yield _positive(f"rank{len(shape)}", operation, {"input": tensor(BOOL8, shape, data)}, shape)
    for value in (0, 1):
        yield _positive(f"one_element_{value}", operation, {"input": tensor(BOOL8, (1,), [value])}, (1,))
    yield _positive("every_byte", operation, {"input": _every_byte()}, (32, 8), "every byte but 0 is true")
    yield _positive("open_size", operation, {"input": _open((0, 3), (4, 3), 7)}, (0, 3), "the request brings a size")
    yield _positive("open_rank", operation, {"input": _open((), (2, 3, 2), 8)}, (), "the request brings the rank")
    shape = (1, 56, 56, 3)
    yield _positive("realistic", operation, {"input": _mask(shape, 58)}, shape, "a mask over a feature map")
    yield from _rejections.declared(operation, BOOL8, BOOL8, "C2")
    yield _of_floats(operation, ("input",))


def _positive(name: str, operation: str, inputs: Operands, output: Shape, description: str = "") -> Vector:
    return positive(name, operation, inputs, {"output": tensor(BOOL8, output)}, description=description)


def _pair(seed: int, first: Shape, second: Shape) -> Operands:
    return {
        "input0": tensor(BOOL8, first, integers(seed, first, 0, 1)),
        "input1": tensor(BOOL8, second, integers(seed + 30, second, 0, 1)),
    }


def _random(name: str, operation: str, first: Shape, second: Shape, output: Shape, seed: int) -> Vector:
    return _positive(name, operation, _pair(seed, first, second), output)


def _every_byte() -> OperandSpec:
    return tensor(BOOL8, (32, 8), all_bytes(0))


def _open(dimensions: Shape, shape: Shape, seed: int) -> OperandSpec:
    return tensor(BOOL8, dimensions, integers(seed, shape, 0, 1), shape=shape)


def _mask(shape: Shape, seed: int) -> OperandSpec:
    return tensor(BOOL8, shape, GeneratorDocument(kind="integers", seed=seed, low=0, high=1))


def _of_floats(operation: str, names: tuple[str, ...]) -> Vector:
    """A rejection: the operation takes no numbers."""
    return rejected(
        "of_float32",
        operation,
        {name: tensor(FLOAT32, (2,), [0.0, 1.0]) for name in names},
        {"output": tensor(FLOAT32, (2,))},
        clause="MODEL.P3",
        since="1.2",
    )
