"""Vectors that ADD, SUB, MUL and DIV share: activations, broadcasting, quantisation, corner shapes."""

import numpy

from npu_conformance.corpus.generators._elementwise import SHAPES, SHORT, stored_bytes
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import WIDE, dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType

QUANTIZATIONS = {
    "equal": ((0.5, 0.5), (60, 60)),
    "zero_points": ((0.5, 0.5), (128, 3)),
    "scales": ((0.25, 1.0), (100, 120)),
    "offset": ((0.1, 0.7), (200, 30)),
}
"""Scales and (unsigned) zero points of the two inputs; the output's are chosen to fit the results."""

_REACH = {FusedActivation.RELU1: 2.5, FusedActivation.RELU6: 10.0}
"""How far results go where an activation cuts: well beyond the cut, and the cut is many quanta from zero."""

_SHAPES = {**SHAPES, "same": ((3, 4), (3, 4), (3, 4)), "row": ((3, 4), (4,), (3, 4))}
_REAL = {"ADD": numpy.add, "SUB": numpy.subtract, "MUL": numpy.multiply}


def operands(first: OperandSpec, second: OperandSpec, activation: int = 0) -> Operands:
    """The three inputs of an arithmetic operation."""
    return {"input0": first, "input1": second, "activation": int32(activation)}


def floats(operation: str) -> Vectors:
    """Pairwise: type, activation, shapes; then data that needs every bit of a float32."""
    rows = pairwise({"type": [FLOAT32, FLOAT16], "activation": list(FusedActivation), "shapes": list(SHAPES)})
    for seed, row in enumerate(rows):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        data = _divisors(seed + 100, second) if operation == "DIV" else dyadic(seed + 100, second)
        yield positive(
            f"{SHORT[kind]}_{row['activation'].name.lower()}_{row['shapes']}",
            operation,
            operands(tensor(kind, first, dyadic(seed, first)), tensor(kind, second, data), row["activation"]),
            {"output": tensor(kind, output)},
            hazards=["activation-in-quanta"],
        )
    yield positive(
        "float32_all_bits",
        operation,
        operands(tensor(FLOAT32, (3, 5), uniform(7, (3, 5))), tensor(FLOAT32, (3, 5), uniform(8, (3, 5), 0.5, 2.0))),
        {"output": tensor(FLOAT32, (3, 5))},
        description="values that float16 arithmetic inside would round away",
    )
    yield _negative_zeros(operation)
    yield positive(
        "float32_one_element",
        operation,
        operands(tensor(FLOAT32, (1,), [1.5]), tensor(FLOAT32, (1, 1, 1, 1), [-0.25])),
        {"output": tensor(FLOAT32, (1, 1, 1, 1))},
        description="ranks 1 and 4",
    )


_NEGATIVE_ZEROS = {
    "ADD": ([-0.0, -0.0, 0.0, 1.0, 4.0], [-0.0, 0.0, -0.0, -1.0, 2.0]),
    "SUB": ([-0.0, -0.0, 0.0, 1.0, 4.0], [0.0, -0.0, 0.0, 1.0, 2.0]),
    "MUL": ([-0.0, 2.0, -3.0, -0.0, 4.0], [2.0, -0.0, 0.0, -1.0, 2.0]),
    "DIV": ([-0.0, 0.0, -0.0, 0.0, 4.0], [2.0, -4.0, -1.0, 3.0, 2.0]),
}
"""Pairs whose results are zeros of either sign, and one more."""


def _negative_zeros(operation: str) -> Vector:
    first, second = _NEGATIVE_ZEROS[operation]
    return positive(
        "float32_negative_zeros",
        operation,
        operands(tensor(FLOAT32, (5,), first), tensor(FLOAT32, (5,), second)),
        {"output": tensor(FLOAT32, (5,))},
        description="zeros of either sign, as IEEE 754 says; the public floor does not look at the sign",
    )


def without_elements(operation: str) -> Vector:
    """A tensor without elements, against one that broadcasts (since 1.2)."""
    return zero_sized(
        "float32_zero_sized",
        operation,
        tensor(FLOAT32, (0, 2, 2, 3)),
        {"input0": None, "input1": constant(FLOAT32, (3,), [1.0, 2.0, 0.5]), "activation": int32(0)},
        {"output": tensor(FLOAT32, (0, 2, 2, 3))},
    )


def _divisors(seed: int, shape: tuple[int, ...]) -> list[float]:
    """Powers of two of either sign: quotients are exact."""
    powers = integers(seed, shape, -2, 2).ravel()
    signs = integers(seed + 1, shape, 0, 1).ravel()
    return [float((-1.0) ** sign * 2.0**power) for sign, power in zip(signs, powers, strict=True)]


def quantized(operation: str) -> Vectors:
    """Pairwise: type, activation, shapes, scales and zero points, with the limits of the type among the data."""
    rows = pairwise(
        {
            "type": [QUANT8, SIGNED],
            "activation": list(FusedActivation),
            "shapes": ["same", "row", "both", "rank4"],
            "quantization": list(QUANTIZATIONS),
        }
    )
    for seed, row in enumerate(rows):
        yield _quantized(operation, seed, row["type"], row["activation"], row["shapes"], row["quantization"])
    yield _output_zero_point_0(operation)
    yield from _shared(operation)


def _shared(operation: str) -> Vectors:
    first, second = (tensor(QUANT8, (3, 4), stored_bytes(seed, (3, 4), 0)) for seed in (71, 72))
    scales = (1 / 256, 1 / 100, 1 / 40) if operation == "MUL" else (0.5, 0.3, 0.7)
    points = (0, 30, 100) if operation == "SUB" else (0, 255, 100)
    yield from shared_quantization(
        operation, operands(first, second), {"output": tensor(QUANT8, (3, 4))}, scales, points
    )


def _output_zero_point_0(operation: str) -> Vector:
    first = tensor(QUANT8, (2, 3), [200, 180, 160, 240, 255, 190], scale=0.5, zero_point=7)
    second = tensor(QUANT8, (2, 3), [30, 40, 50, 20, 60, 35], scale=0.5, zero_point=3)
    output = tensor(QUANT8, (2, 3), scale=16.0 if operation == "MUL" else 1.0)
    about = "a zero point of 0 is one like any other"
    return positive(
        "quant8_output_zero_point_0", operation, operands(first, second), {"output": output}, description=about
    )


def _quantized(
    operation: str, seed: int, kind: OperandType, activation: FusedActivation, shapes: str, quantization: str
) -> Vector:
    first, second, output = _SHAPES[shapes]
    scales, points = QUANTIZATIONS[quantization]
    if operation == "SUB":
        # The mirror image, so that results lie on both sides of zero as those of ADD do.
        points = (points[0], 255 - points[1])
    data = stored_bytes(seed, first, 0), stored_bytes(seed + 50, second, 0)
    scales, fitted = _fitted(operation, activation, (first, second), data, scales, points)
    shift = 128 if kind is SIGNED else 0
    sources = [
        tensor(kind, shape, [element - shift for element in elements], scale=scale, zero_point=point - shift)
        for shape, elements, scale, point in zip((first, second), data, scales, points, strict=True)
    ]
    return positive(
        f"{SHORT[kind]}_{activation.name.lower()}_{shapes}_{quantization}",
        operation,
        operands(sources[0], sources[1], activation),
        {"output": tensor(kind, output, scale=fitted[0], zero_point=fitted[1] - shift)},
        hazards=["activation-in-quanta", "mul-scale-product"] if operation == "MUL" else ["activation-in-quanta"],
    )


def _fitted(
    operation: str,
    activation: FusedActivation,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    data: tuple[list[int], list[int]],
    scales: tuple[float, float],
    points: tuple[int, int],
) -> tuple[tuple[float, float], tuple[float, int]]:
    """Scales of the inputs, and (scale, zero point) of an output that keeps most results, but not all, in its range."""
    reals = [
        (numpy.array(elements) - point).reshape(shape) * scale
        for elements, point, shape, scale in zip(data, points, shapes, scales, strict=True)
    ]
    results = _REAL[operation](*reals)
    if activation in _REACH:
        ratio = _REACH[activation] / abs(results).max()
        factor = ratio**0.5 if operation == "MUL" else ratio
        scales, results = (_rounded(scales[0] * factor), _rounded(scales[1] * factor)), results * ratio
    low, high = min(0.0, 0.85 * float(results.min())), max(0.0, 0.85 * float(results.max()))
    scale = _rounded((high - low) / 255)
    return scales, (scale, round(-low / scale))


def _rounded(scale: float) -> float:
    """Three digits are enough for a scale."""
    return float(f"{scale:.3g}")


def int32_row(operation: str) -> Vectors:
    """int32 with broadcasting and negative numbers; DIV rounds towards minus infinity."""
    yield positive(
        "int32_row",
        operation,
        operands(tensor(INT32, (2, 3), [-7, 5, 100000, 3, 0, -12]), tensor(INT32, (3,), [2, -3, 70000])),
        {"output": tensor(INT32, (2, 3))},
        hazards=["int32-arithmetic"],
    )


def int32_wraparound(operation: str) -> Vectors:
    """Two's complement wraparound."""
    top, bottom = 2**31 - 1, -(2**31)
    first, second = [top, bottom, bottom, 65537, top], [1, -1, 1, 65537, bottom]
    yield positive(
        "int32_wraparound",
        operation,
        operands(tensor(INT32, (5,), first), tensor(INT32, (5,), second)),
        {"output": tensor(INT32, (5,))},
        hazards=["int32-arithmetic"],
    )


def int32_wide(operation: str) -> Vectors:
    """Integers of which float32 does not hold the last bits."""
    second = [1, 7, 1, -1, 7, -3]
    yield positive(
        "int32_wide",
        operation,
        operands(tensor(INT32, (6,), WIDE), tensor(INT32, (6,), second)),
        {"output": tensor(INT32, (6,))},
        hazards=["int32-arithmetic"],
        description="float32 would round by more than one",
    )


def scales_far_apart(operation: str) -> Vectors:
    """ADD and SUB: inputs of very different scales, of which the finer one still counts."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        first = [element - shift for element in (0, 90, 255, 128, 17, 200)]
        second = [element - shift for element in (255, 0, 61)]
        yield positive(
            f"{SHORT[kind]}_scales_far_apart",
            operation,
            operands(
                tensor(kind, (2, 3), first, scale=1.0, zero_point=100 - shift),
                tensor(kind, (3,), second, scale=0.01, zero_point=5 - shift),
            ),
            {"output": tensor(kind, (2, 3), scale=0.8, zero_point=120 - shift)},
            hazards=["add-scales-apart"],
        )


def same_operand_twice(operation: str) -> Vectors:
    """One operand as both arguments: it counts twice as consumed, and is read twice."""
    once = tensor(FLOAT32, (2, 3), dyadic(3, (2, 3), 0.5, 4.0))
    vector = positive(
        "float32_same_operand_twice",
        operation,
        {"input0": once, "input1": once, "activation": int32(0)},
        {"output": tensor(FLOAT32, (2, 3))},
    )
    yield merged(vector, "input1", "input0")


def merged(vector: Vector, name: str, into: str) -> Vector:
    """The vector with one model input less: `into` takes the place of `name`, which had the same data."""
    from msgspec.structs import replace

    operands_left = {key: operand for key, operand in vector.operands.items() if key != name}
    (operation,) = vector.operations
    arguments = tuple(into if argument == name else argument for argument in operation.inputs)
    examples = tuple(
        replace(example, inputs={key: array for key, array in example.inputs.items() if key != name})
        for example in vector.examples
    )
    return replace(
        vector,
        operands=operands_left,
        operations=(replace(operation, inputs=arguments),),
        inputs=tuple(key for key in vector.inputs if key != name),
        examples=examples,
    )
