"""The generator of SOFTMAX."""

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SHAPES = {1: (5,), 2: (2, 3), 3: (3, 2, 4), 4: (2, 3, 2, 4)}
_BETAS = (1.0, 0.25, 3.0)


def vectors() -> Vectors:
    """Every type, rank, beta; every axis of rank 4 in both spellings; values so far apart that only one counts."""
    yield from _ranks()
    yield from _axes()
    yield from _extremes()
    yield from _cubes()
    yield from _many()
    for kind in (FLOAT32, QUANT8):
        shape, scale = (0, 2, 2, 3), 0.1 if kind is QUANT8 else 0.0
        yield zero_sized(
            f"{SHORT[kind]}_zero_sized",
            "SOFTMAX",
            tensor(kind, shape, scale=scale),
            {"input": None, "beta": _beta(kind, 1.0)},
            {"output": _output(kind, shape)},
        )
    yield from long_axes("SOFTMAX")
    yield from _rejected()


def _ranks() -> Vectors:
    rows = pairwise({"type": [FLOAT32, FLOAT16, QUANT8, SIGNED], "rank": list(_SHAPES), "beta": list(_BETAS)})
    for seed, row in enumerate(rows):
        kind, shape, beta = row["type"], _SHAPES[row["rank"]], row["beta"]
        yield positive(
            f"{SHORT[kind]}_rank{len(shape)}_beta{str(beta).replace('.', '_')}",
            "SOFTMAX",
            {"input": _input(kind, shape, seed, 0.02 / beta), "beta": _beta(kind, beta)},
            {"output": _output(kind, shape)},
            since="1.0" if row["rank"] in (2, 4) else "1.2",
            hazards=["softmax-axis"],
        )


def _axes() -> Vectors:
    """Rank 4 along each axis from either end, and other ranks, all with the optional axis (1.2)."""
    cases = [(4, axis) for axis in range(-4, 4)] + [(1, 0), (2, 0), (3, -3), (3, 2)]
    kinds = (FLOAT32, QUANT8, FLOAT16, SIGNED)
    for seed, (rank, axis) in enumerate(cases):
        kind, shape = kinds[seed % 4], _SHAPES[rank]
        spelled = f"minus_{-axis}" if axis < 0 else str(axis)
        yield positive(
            f"{SHORT[kind]}_rank{rank}_axis_{spelled}",
            "SOFTMAX",
            {"input": _input(kind, shape, seed + 30), "beta": _beta(kind, 0.5), "axis": int32(axis)},
            {"output": _output(kind, shape)},
            since="1.2",
            hazards=["softmax-axis"],
        )


def _extremes() -> Vectors:
    far = [1000.0, 0.0, -1000.0, 5.0, 5.0, 5.0, -30.0, -20.0, -20.5]
    for kind in (FLOAT32, FLOAT16):
        yield positive(
            f"{SHORT[kind]}_far_apart",
            "SOFTMAX",
            {"input": tensor(kind, (3, 3), far), "beta": _beta(kind, 1.0)},
            {"output": _output(kind, (3, 3))},
            description="without subtracting the largest value the exponential overflows",
        )
    yield positive(
        "float32_all_bits",
        "SOFTMAX",
        {"input": tensor(FLOAT32, (2, 7), uniform(4, (2, 7))), "beta": _beta(FLOAT32, 1.0)},
        {"output": _output(FLOAT32, (2, 7))},
        description="values that float16 arithmetic inside would round away",
    )
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        data = [element - shift for element in (0, 255, 254, 128, 128, 128, 7, 9, 8)]
        yield positive(
            f"{SHORT[kind]}_limits",
            "SOFTMAX",
            {"input": tensor(kind, (3, 3), data, scale=0.2, zero_point=10 - shift), "beta": _beta(kind, 1.0)},
            {"output": _output(kind, (3, 3))},
        )


def _cubes() -> Vectors:
    for seed, kind in enumerate((FLOAT32, FLOAT16, QUANT8, SIGNED)):
        yield positive(
            f"{SHORT[kind]}_cube_axis_1",
            "SOFTMAX",
            {"input": _input(kind, (3, 3, 3), seed + 90), "beta": _beta(kind, 0.5), "axis": int32(1)},
            {"output": _output(kind, (3, 3, 3))},
            since="1.2",
            hazards=["softmax-axis"],
            description="no size tells one axis from another",
        )


def _many() -> Vectors:
    about = "rows and columns are no multiples of a block"
    for seed, kind in enumerate((FLOAT32, FLOAT16, QUANT8, SIGNED)):
        for shape, beta in (((19, 5), 3.0), ((2, 67), 0.5)):
            yield positive(
                f"{SHORT[kind]}_{shape[0]}_by_{shape[1]}",
                "SOFTMAX",
                {"input": _input(kind, shape, seed + 70), "beta": _beta(kind, beta)},
                {"output": _output(kind, shape)},
                description=about,
            )


def _input(kind: OperandType, shape: tuple[int, ...], seed: int, scale: float = 0.02) -> OperandSpec:
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape, dyadic(seed, shape, -2.0, 2.0))
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, shape, stored_bytes(seed, shape, shift), scale=scale, zero_point=100 - shift)


def _beta(kind: OperandType, beta: float) -> OperandSpec:
    return scalar(OperandType.FLOAT16 if kind is FLOAT16 else OperandType.FLOAT32, beta)


def _output(kind: OperandType, shape: tuple[int, ...]) -> OperandSpec:
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape)
    return tensor(kind, shape, scale=1 / 256, zero_point=-128 if kind is SIGNED else 0)


def _rejected() -> Vectors:
    one = {"beta": _beta(FLOAT32, 1.0)}
    yield from _rejected_shapes(one)
    for name, beta in (("zero", 0.0), ("negative", -0.5)):
        yield rejected(
            f"beta_{name}",
            "SOFTMAX",
            {"input": _input(FLOAT32, (2, 3), 1), "beta": _beta(FLOAT32, beta)},
            {"output": _output(FLOAT32, (2, 3))},
            clause="SOFTMAX.C3",
        )
    for name, axis in (("too_large", 2), ("too_small", -3)):
        yield rejected(
            f"axis_{name}",
            "SOFTMAX",
            {"input": _input(FLOAT32, (2, 3), 1), **one, "axis": int32(axis)},
            {"output": _output(FLOAT32, (2, 3))},
            clause="SOFTMAX.C4",
        )
    yield from _rejections.output_quantization("SOFTMAX", "C7", (1 / 256, 0), one)


def _rejected_shapes(one: Operands) -> Vectors:
    yield from _rejections.ranks_of("SOFTMAX", FLOAT32, FLOAT32, "SOFTMAX.C1", one)
    for name, shape, clause, until in (
        ("rank3_until_1_1", _SHAPES[3], "C2", "1.1"),
        ("rank1_until_1_1", _SHAPES[1], "C2", "1.1"),
    ):
        yield rejected(
            name,
            "SOFTMAX",
            {"input": _input(FLOAT32, shape, 1), **one},
            {"output": _output(FLOAT32, shape)},
            clause=f"SOFTMAX.{clause}",
            until=until,
            hazards=["softmax-axis"],
        )
    for name, declared in (("transposed", (3, 2)), ("of_higher_rank", (1, 2, 3))):
        yield rejected(
            f"output_declared_{name}",
            "SOFTMAX",
            {"input": _input(FLOAT32, (2, 3), 1), **one},
            {"output": _output(FLOAT32, declared)},
            clause="SOFTMAX.C6",
        )
