"""The generator of CAST."""

from collections.abc import Mapping, Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejected
from npu_conformance.corpus.generators.data import WIDE
from npu_conformance.corpus.generators.operands import OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_DATA: Mapping[OperandType, Sequence[float]] = {
    FLOAT32: [0.0, 1.0, -1.0, 2.75, -2.75, 0.5, -0.5, 99.875, 200.25, 254.0],
    FLOAT16: [0.0, 1.0, -1.0, 3.5, -3.5, 0.75, -0.25, 100.0, 199.5, 255.0],
    INT32: [0, 1, -1, 7, -300, 255, 256, 100, 2000, -17],
    QUANT8: [0, 1, 255, 128, 127, 200, 3, 64, 254, 99],
}
_IDENTITIES: Mapping[OperandType, Sequence[float]] = {
    OperandType.TENSOR_BOOL8: [0, 1, 1, 0, 1, 0],
    OperandType.TENSOR_QUANT16_ASYMM: [0, 1, 65535, 32768, 12345, 300],
    OperandType.TENSOR_QUANT16_SYMM: [0, 1, -1, 32767, -32768, 300],
    SIGNED: [0, 1, -1, 127, -128, 77],
    OperandType.TENSOR_QUANT8_SYMM: [0, 1, -1, 127, -128, 77],
}
_NAMES = {
    FLOAT32: "float32",
    FLOAT16: "float16",
    INT32: "int32",
    QUANT8: "quant8",
    OperandType.TENSOR_BOOL8: "bool8",
    OperandType.TENSOR_QUANT16_ASYMM: "quant16_asymm",
    OperandType.TENSOR_QUANT16_SYMM: "quant16_symm",
    SIGNED: "quant8_signed",
    OperandType.TENSOR_QUANT8_SYMM: "quant8_symm",
}
_QUANTIZED = {kind for kind in _NAMES if "QUANT" in kind.name}


def vectors() -> Vectors:
    """Every pair of types with scales and zero points that must be ignored; truncation; saturation; identities."""
    for source, data in _DATA.items():
        for target in _DATA:
            yield _cast(f"{_NAMES[source]}_to_{_NAMES[target]}", source, target, (2, 5), data)
    for kind, data in _IDENTITIES.items():
        yield _cast(f"{_NAMES[kind]}_identity", kind, kind, (3, 1, 2), data)
    yield from _edges()
    yield from _rejections.declared("CAST", FLOAT32, INT32, "C2")
    yield _to_signed()


def _cast(
    name: str,
    source: OperandType,
    target: OperandType,
    shape: tuple[int, ...],
    data: Sequence[float],
    about: str = "",
    excluded: Sequence[str] = (),
) -> Vector:
    return positive(
        name,
        "CAST",
        {"input": _typed(source, shape, data, 0.5, 7)},
        {"output": _typed(target, shape, None, 0.25, 100)},
        hazards=["cast-stored-values"],
        description=about,
        excluded=excluded,
    )


def _typed(
    kind: OperandType, shape: tuple[int, ...], data: Sequence[float] | None, scale: float, point: int
) -> OperandSpec:
    if kind not in _QUANTIZED:
        return tensor(kind, shape, data)
    symmetric = kind in (OperandType.TENSOR_QUANT16_SYMM, OperandType.TENSOR_QUANT8_SYMM)
    return tensor(kind, shape, data, scale=scale, zero_point=0 if symmetric else point)


def _edges() -> Vectors:
    outside = [-0.75, -1.5, -300.0, 255.5, 256.0, 1000.0, 17.75, 128.5, 254.99]
    for source in (FLOAT32, FLOAT16):
        about = "towards zero, then saturated"
        yield _cast(f"{_NAMES[source]}_to_quant8_saturation", source, QUANT8, (9,), outside, about)
    wide = [16777217, -16777219, 2**31 - 1, -(2**31), 1000, -3]
    yield _cast("int32_to_float32_wide", INT32, FLOAT32, (6,), wide, "integers that a float32 has to round")
    yield _cast("int32_to_int32_wide", INT32, INT32, (6,), WIDE, "float32 would round by more than one")
    far = [100000.75, -70001.5, 16777215.0, 2147483520.0, -2147483648.0, 8388607.5]
    about = "up to the largest float32 that an int32 holds"
    yield _cast("float32_to_int32_wide", FLOAT32, INT32, (6,), far, about, excluded=[INTERNAL])
    yield _cast("int32_to_float16_wide", INT32, FLOAT16, (4,), [2049, -2051, 65504, -3], "integers to round")
    yield _cast("int32_to_quant8_saturation", INT32, QUANT8, (5,), [-1, 256, 2**31 - 1, -(2**31), 254])
    for rank in (1, 3, 4, 5):
        shape = (2,) + (1,) * (rank - 2) + (3,) if rank > 1 else (6,)
        yield _cast(f"float32_to_int32_rank{rank}", FLOAT32, INT32, shape, [1.9, -1.9, 0.3, 7.0, -8.5, 123.6])


def _to_signed() -> Vector:
    """To the signed type there is only the identity (1.3)."""
    return rejected(
        "float32_to_quant8_signed",
        "CAST",
        {"input": tensor(FLOAT32, (2, 3), [1.0, -2.0, 3.0, -4.0, 5.0, -6.0])},
        {"output": tensor(SIGNED, (2, 3), scale=1.0)},
        clause="MODEL.P3",
        since="1.3",
    )
