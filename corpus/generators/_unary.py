"""Vectors that functions of one float tensor share: ABS, NEG, EXP, LOG, SIN, SQRT, RSQRT, FLOOR."""

from collections.abc import Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST

_RANK5 = (2, 1, 3, 1, 2)


def floats(operation: str, low: float, high: float, *, rank5: bool = True, excluded: Sequence[str] = ()) -> Vectors:
    """Both float types in every rank over a range; all bits of a float32; open shapes; a realistic size.

    rank5: whether the operation takes more than four dimensions. excluded: variations that round values of all bits
    first, by which results are not as good.
    """
    for kind in (FLOAT32, FLOAT16):
        for seed, shape in enumerate((*RANKS, _RANK5) if rank5 else RANKS):
            yield _of(f"{SHORT[kind]}_rank{len(shape)}", operation, tensor(kind, shape, dyadic(seed, shape, low, high)))
    yield _of(
        "float32_all_bits",
        operation,
        tensor(FLOAT32, (3, 7), uniform(5, (3, 7), low, high)),
        "values that float16 arithmetic inside would round away",
        excluded,
    )
    yield _of("float32_one_element", operation, tensor(FLOAT32, (1,), [high]))
    open_size = tensor(FLOAT32, (0, 3), dyadic(6, (4, 3), low, high), shape=(4, 3))
    yield _of("float32_open_size", operation, open_size, "the request brings a size")
    open_rank = tensor(FLOAT32, (), dyadic(7, (2, 3, 2), low, high), shape=(2, 3, 2))
    yield _of("float32_open_rank", operation, open_rank, "the request brings the rank")
    data = GeneratorDocument(kind="dyadic", seed=28, low=low, high=high, step=0.125)
    yield _of("float32_realistic", operation, tensor(FLOAT32, (1, 28, 28, 16), data), "a feature map")


def small(operation: str) -> Vector:
    """Numbers near 0 that float16 has, too."""
    return _of("float32_small", operation, tensor(FLOAT32, (4,), [0.0009, 0.0005, 0.0002, 0.0001]), "numbers near 0")


def tiny(operation: str) -> Vector:
    """Numbers nearer to 0, down to the last decades that float32 has in full: no document limits them from below."""
    values = [1e-5, 3e-7, 2e-8, 5e-10, 1e-12, 7e-16, 1e-20, 4e-25, 1e-30, 2e-37]
    source = tensor(FLOAT32, (len(values),), values)
    return _of("float32_tiny", operation, source, "a guard against 0 changes nothing", ["float16", "relaxed"])


def undefined(operation: str, values: Sequence[float]) -> Vectors:
    """Values of whose results the documents do not speak: only the shape is compared, and that the device lives."""
    for kind in (FLOAT32, FLOAT16):
        shape = (len(values),)
        yield positive(
            f"{SHORT[kind]}_undefined_values",
            operation,
            {"input": tensor(kind, shape, values)},
            {"output": tensor(kind, shape)},
            ignored=["output"],
            description="NaN, and what is outside of the function's domain",
        )


def int32(operation: str) -> Vectors:
    """TENSOR_INT32 in every rank, and its limits but for the lowest, which has no counterpart."""
    for seed, shape in enumerate((*RANKS, _RANK5)):
        yield _of(f"int32_rank{len(shape)}", operation, tensor(INT32, shape, integers(seed, shape, -100, 100)))
    yield _of(
        "int32_limits",
        operation,
        tensor(INT32, (7,), [0, -1, 1, -(2**31) + 1, 2**31 - 1, -(2**24) - 1, 2**24 + 1]),
        "float32 would round 2^24 + 1; what becomes of -2^31 is not specified",
    )


def _of(name: str, operation: str, source: OperandSpec, description: str = "", excluded: Sequence[str] = ()) -> Vector:
    output = tensor(source.operand.type, source.operand.dimensions)
    return positive(
        name,
        operation,
        {"input": source},
        {"output": output},
        # An unknown rank is no older, which the types of FLOOR alone would not tell.
        since="1.0" if source.operand.dimensions else "1.2",
        description=description,
        excluded=excluded,
    )


def rejections(operation: str, *, others: Sequence[OperandType], outputs: str) -> Vectors:
    """Types that the operation never has, an output of another type than the input, outputs declared otherwise.

    outputs: number of the clause about declared outputs; empty where its vectors come from elsewhere.
    """
    for kind in others:
        yield _of_type(f"of_{SHORT[kind]}", operation, kind)
    yield rejected(
        "output_of_another_type",
        operation,
        {"input": tensor(FLOAT32, (2,), [1.0, 2.0])},
        {"output": tensor(FLOAT16, (2,))},
        clause="MODEL.P3",
        since=catalogue.operation(operation).since.value,
    )
    if outputs:
        yield from _rejections.declared(operation, FLOAT32, FLOAT32, outputs)


def too_early(operation: str, kind: OperandType, until: str) -> Vector:
    """A type that came later than the operation, in the versions up to `until`."""
    return _of_type(f"{SHORT[kind]}_until_{until.replace('.', '_')}", operation, kind, until)


def _of_type(name: str, operation: str, kind: OperandType, until: str = NEWEST.value) -> Vector:
    scale = 0.5 if OPERAND_TYPES[kind].is_quantized else 0.0
    return rejected(
        name,
        operation,
        {"input": tensor(kind, (2, 3), [1, 2, 3, 4, 5, 6], scale=scale)},
        {"output": tensor(kind, (2, 3), scale=scale)},
        clause="MODEL.P3",
        since=catalogue.operation(operation).since.value,
        until=until,
    )
