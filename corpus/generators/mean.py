"""The generator of MEAN."""

from collections.abc import Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._reductions import CASES, numbers
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.operands import OperandSpec, int32, int32s, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument


def vectors() -> Vectors:
    """Pairwise: type, axes (negative, doubled, unsorted, all), keep_dims; means that end in a half; the limits."""
    rows = pairwise({"type": [FLOAT32, FLOAT16, QUANT8, SIGNED], "case": list(CASES), "keep": [0, 1]})
    for seed, row in enumerate(rows):
        shape, axes = CASES[row["case"]]
        yield _mean(
            f"{SHORT[row['type']]}_{row['case']}_{'kept' if row['keep'] else 'dropped'}",
            numbers(row["type"], shape, seed),
            axes,
            row["keep"],
        )
    yield from many_results("MEAN")
    yield _mean("float32_keep_dims_2", numbers(FLOAT32, (2, 3), 90), (1,), 2, "any positive number keeps the axes")
    for seed, kind in enumerate((FLOAT32, FLOAT16, QUANT8, SIGNED)):
        # Alone, a negative axis that is taken for its absolute value gives another shape or none.
        for name, axis in (("last", -1), ("first", -4)):
            source = numbers(kind, (2, 3, 5, 4), 70 + seed)
            yield _mean(f"{SHORT[kind]}_{name}_axis_negative_alone", source, (axis,), 0)
    yield from _rounding()
    yield from _rejected()
    yield from long_axes("MEAN")


def _rounding() -> Vectors:
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        limits = [element - shift for element in (0, 0, 255, 255, 0, 255, 254, 255)]
        about = "quantised sums must not overflow, and the zero point is not added twice"
        source = tensor(kind, (2, 4), limits, scale=0.5, zero_point=77 - shift)
        yield _mean(f"{SHORT[kind]}_limits", source, (1,), 0, about)
        for name, low in {"lowest": 0, "highest": 250}.items():
            data = GeneratorDocument(kind="integers", seed=3, low=low - shift, high=low + 5 - shift)
            many = tensor(kind, (1, 272), data, scale=0.5, zero_point=77 - shift)
            yield _mean(f"{SHORT[kind]}_{name}_need_17_bits", many, (1,), 0, "272 elements near an end of the type")


def _mean(name: str, source: OperandSpec, axes: Sequence[int], keep: int, about: str = "") -> Vector:
    shape = source.operand.dimensions
    reduced = {axis % len(shape) for axis in axes}
    kept = [1 if axis in reduced else size for axis, size in enumerate(shape) if keep or axis not in reduced]
    operand = source.operand
    return positive(
        name,
        "MEAN",
        {"input": source, "axes": int32s(*axes), "keep_dims": int32(keep)},
        {"output": tensor(operand.type, kept or [1], scale=operand.scale, zero_point=operand.zero_point)},
        hazards=["reduction-keep-dims"],
        description=about,
    )


def _rejected() -> Vectors:
    kept = {"axes": int32s(0), "keep_dims": int32(1)}
    yield from _rejections.ranks_of("MEAN", FLOAT32, FLOAT32, "MEAN.C1", kept)
    cases: tuple[tuple[str, tuple[int, ...], tuple[int, ...], int, tuple[int, ...], str], ...] = (
        ("axis_too_large", (2, 3), (2,), 0, (2,), "C2"),
        ("axis_too_small", (2, 3), (0, -3), 0, (3,), "C2"),
        ("output_keeps_what_is_dropped", (2, 3), (1,), 0, (2, 1), "C4"),
        ("output_drops_what_is_kept", (2, 3), (1,), 1, (2,), "C4"),
        ("output_of_other_axis", (2, 3), (1,), 0, (3,), "C4"),
    )
    for name, shape, axes, keep, declared, clause in cases:
        yield rejected(
            name,
            "MEAN",
            {"input": numbers(FLOAT32, shape, 1), "axes": int32s(*axes), "keep_dims": int32(keep)},
            {"output": tensor(FLOAT32, declared)},
            clause=f"MEAN.{clause}",
        )
    for name, scale, point in (("scale", 0.5, 40), ("zero_point", 0.25, 41)):
        yield rejected(
            f"quant8_output_{name}",
            "MEAN",
            {"input": numbers(QUANT8, (2, 3), 1), "axes": int32s(1), "keep_dims": int32(0)},
            {"output": tensor(QUANT8, (2,), scale=scale, zero_point=point)},
            clause="MEAN.C5",
        )
