"""The generator of DEQUANTIZE."""

from collections.abc import Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, all_bytes, stored_bytes
from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SYMMETRIC = OperandType.TENSOR_QUANT8_SYMM
_PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
_NAMES = {**SHORT, _SYMMETRIC: "quant8_symm", _PER_CHANNEL: "per_channel"}


def vectors() -> Vectors:
    """Every pair of types, every rank, every stored value; per channel along each kind of dimension."""
    yield from _ranks()
    yield from _every_value()
    yield from _per_channel()
    for kind, target in ((QUANT8, FLOAT32), (SIGNED, FLOAT16)):
        yield zero_sized(
            f"{_NAMES[kind]}_to_{_NAMES[target]}_zero_sized",
            "DEQUANTIZE",
            tensor(kind, (0, 2, 2, 3), scale=0.5, zero_point=3),
            {"input": None},
            {"output": tensor(target, (0, 2, 2, 3))},
        )
    yield from _rejections.declared("DEQUANTIZE", QUANT8, FLOAT32, "C3")
    yield from _rejections.ranks_of("DEQUANTIZE", QUANT8, FLOAT32, "DEQUANTIZE.C1", {})


def _ranks() -> Vectors:
    rows = pairwise(
        {"from": [QUANT8, SIGNED, _SYMMETRIC], "to": [FLOAT32, FLOAT16], "shape": list(RANKS), "scale": [0.5, 0.1, 3.0]}
    )
    for seed, row in enumerate(rows):
        kind, shape = row["from"], row["shape"]
        point = {QUANT8: 100, SIGNED: -28, _SYMMETRIC: 0}[kind]
        yield positive(
            f"{_NAMES[kind]}_to_{_NAMES[row['to']]}_rank{len(shape)}_{seed}",
            "DEQUANTIZE",
            {
                "input": tensor(
                    kind,
                    shape,
                    stored_bytes(seed, shape, 0 if kind is QUANT8 else 128),
                    scale=row["scale"],
                    zero_point=point,
                )
            },
            {"output": tensor(row["to"], shape)},
        )


def _every_value() -> Vectors:
    for kind, point in ((QUANT8, 0), (QUANT8, 255), (SIGNED, -128), (SIGNED, 127), (_SYMMETRIC, 0)):
        yield positive(
            f"{_NAMES[kind]}_every_value_{point % 256}",
            "DEQUANTIZE",
            {"input": tensor(kind, (8, 32), all_bytes(0 if kind is QUANT8 else 128), scale=0.0235, zero_point=point)},
            {"output": tensor(FLOAT32, (8, 32))},
            description=f"zero point {point}",
        )


def _per_channel() -> Vectors:
    shapes = {0: (3, 2), 1: (2, 3), 2: (2, 1, 3), 3: (2, 1, 2, 3)}
    for target in (FLOAT32, FLOAT16):
        for channel_dim, shape in shapes.items():
            yield _of_channels(f"per_channel_to_{_NAMES[target]}_dimension_{channel_dim}", target, shape, channel_dim)
        for channel_dim in range(3):
            name = f"per_channel_to_{_NAMES[target]}_cube_dimension_{channel_dim}"
            yield _of_channels(name, target, (3, 3, 3), channel_dim, "every dimension is as long as the list of scales")
    scales = [(1 + channel % 13) / 64 for channel in range(LONG)]
    yield _of_channels("per_channel_to_float32_axis_of_300", FLOAT32, (2, LONG), 1, BEHIND_255, scales)


def _of_channels(
    name: str,
    target: OperandType,
    shape: tuple[int, ...],
    channel_dim: int,
    description: str = "",
    scales: Sequence[float] = (0.3, 2.7, 0.0625),
) -> Vector:
    data = stored_bytes(channel_dim, shape, 128)
    return positive(
        name,
        "DEQUANTIZE",
        {"input": tensor(_PER_CHANNEL, shape, data, channel_quant=(scales, channel_dim))},
        {"output": tensor(target, shape)},
        description=description,
    )
