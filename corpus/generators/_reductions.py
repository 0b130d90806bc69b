"""What the generators of MEAN and the REDUCE operations share, and all that those of the latter have in common."""

from collections.abc import Callable, Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT as _SHORT
from npu_conformance.corpus.generators._elementwise import stored_bytes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32s, scalar, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

SHORT = {**_SHORT, BOOL8: "bool8"}
Shape = tuple[int, ...]
Data = Callable[[OperandType, Shape, int], OperandSpec]
"""An input of a type and shape with seeded data."""

CASES: dict[str, tuple[Shape, Shape]] = {
    "rank1": ((5,), (0,)),
    "rank2_rows": ((4, 3), (0,)),
    "rank2_columns": ((4, 3), (1,)),
    "rank3_middle": ((2, 3, 4), (1,)),
    "rank3_outer": ((2, 3, 4), (0, 2)),
    "rank4_spatial": ((2, 3, 2, 4), (1, 2)),
    "rank4_negative": ((2, 3, 2, 4), (-1, -3)),
    "rank4_doubled": ((2, 3, 2, 4), (1, -3, 1)),
    "rank4_unsorted": ((2, 3, 2, 4), (3, 0)),
    "everything": ((2, 3, 2), (2, 0, 1)),
}
"""Shape of the input and axes."""


def numbers(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    """Multiples of 1/8, whose sums are exact in float16; stored bytes up to both limits; truth values."""
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape, dyadic(seed, shape))
    if kind is BOOL8:
        return tensor(kind, shape, integers(seed, shape, 0, 1))
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, shape, stored_bytes(seed, shape, shift), scale=0.25, zero_point=40 - shift)


def reduction(
    name: str,
    operation: str,
    source: OperandSpec,
    axes: Sequence[int],
    keep: bool,
    about: str = "",
    hazard: str = "reduction-keep-dims",
) -> Vector:
    """A vector of a REDUCE operation with constant axes."""
    shape = source.shape
    gone = {axis % len(shape) for axis in axes}
    left = [1 if axis in gone else size for axis, size in enumerate(shape) if keep or axis not in gone]
    operand = source.operand
    return positive(
        name,
        operation,
        {"input": source, "axes": int32s(*axes), "keep_dims": boolean(keep)},
        {"output": tensor(operand.type, left or [1], scale=operand.scale, zero_point=operand.zero_point)},
        hazards=[hazard],
        description=about,
    )


def cases(operation: str, kinds: Sequence[OperandType], data: Data) -> Vectors:
    """Pairwise: type, axes (negative, doubled, unsorted, all), keep_dims; a negative axis alone; open dimensions."""
    rows = pairwise({"type": kinds, "case": list(CASES), "keep": [False, True]})
    for seed, row in enumerate(rows):
        kind, (shape, axes) = row["type"], CASES[row["case"]]
        name = f"{SHORT[kind]}_{row['case']}_{'kept' if row['keep'] else 'dropped'}"
        yield reduction(name, operation, data(kind, shape, seed), axes, row["keep"])
    for seed, kind in enumerate(kinds):
        # Alone, a negative axis that is taken for its absolute value gives another shape or none.
        for name, axis in (("last", -1), ("first", -4)):
            source = data(kind, (2, 3, 5, 4), 70 + seed)
            yield reduction(f"{SHORT[kind]}_{name}_axis_negative_alone", operation, source, (axis,), False)
        about = "no size tells one axis from another"
        cube = data(kind, (3, 3, 3), 90 + seed)
        yield reduction(f"{SHORT[kind]}_cube_axis_1", operation, cube, (1,), False, about)
    yield from many_results(operation)
    yield from _open(operation, kinds[0], data)


def _open(operation: str, kind: OperandType, data: Data) -> Vectors:
    """Sizes or rank that only the request tells; axes and keep_dims that it brings; axes that are all of size 1."""
    for name, declared in (("rank", ()), ("sizes", (0, 3, 0))):
        source = data(kind, (2, 3, 4), 80)
        unknown = tensor(kind, declared, source.data, shape=(2, 3, 4))
        inputs = {"input": unknown, "axes": int32s(-2), "keep_dims": boolean(False)}
        output = tensor(kind, () if name == "rank" else (0, 0))
        yield positive(f"{SHORT[kind]}_unknown_{name}", operation, inputs, {"output": output}, since="1.2")
    axes = tensor(OperandType.TENSOR_INT32, (2,), [2, 0])
    keeps = tensor(OperandType.BOOL, (), [1])
    yield positive(
        f"{SHORT[kind]}_axes_of_the_request",
        operation,
        {"input": data(kind, (2, 3, 4), 81), "axes": axes, "keep_dims": keeps},
        {"output": tensor(kind, (1, 3, 1))},
        hazards=["reduction-keep-dims"],
        description="axes and keep_dims are model inputs",
    )
    yield reduction(f"{SHORT[kind]}_axes_of_size_1", operation, data(kind, (1, 3, 1), 82), (0, 2), False)


def rejections(operation: str, kind: OperandType, data: Data) -> Vectors:
    """Ranks, axes that do not exist, outputs of another shape, and keep_dims of MEAN's type."""
    kept = {"axes": int32s(0), "keep_dims": boolean(True)}
    for found in (False, True):
        yield rejected(
            _rejections.rank5_name(found),
            operation,
            {"input": tensor(kind, () if found else _rejections.RANK5, 1, shape=_rejections.RANK5), **kept},
            {"output": tensor(kind, () if found else _rejections.RANK5)},
            clause=f"{operation}.C1" if found else _rejections.RANK_CLAUSE,
            phase="execution",
        )
    wrong: tuple[tuple[str, Shape, Shape, bool, Shape, str], ...] = (
        ("axis_too_large", (2, 3), (2,), False, (2,), "C2"),
        ("axis_too_small", (2, 3), (0, -3), False, (3,), "C2"),
        ("output_keeps_what_is_dropped", (2, 3), (1,), False, (2, 1), "C4"),
        ("output_drops_what_is_kept", (2, 3), (1,), True, (2,), "C4"),
        ("output_of_other_axis", (2, 3), (1,), False, (3,), "C4"),
    )
    for name, shape, axes, keep, declared, clause in wrong:
        yield rejected(
            name,
            operation,
            {"input": data(kind, shape, 1), "axes": int32s(*axes), "keep_dims": boolean(keep)},
            {"output": tensor(kind, declared)},
            clause=f"{operation}.{clause}",
        )
    yield rejected(
        "keep_dims_of_type_int32",
        operation,
        {"input": data(kind, (2, 3), 1), "axes": int32s(1), "keep_dims": scalar(OperandType.INT32, 0)},
        {"output": tensor(kind, (2,))},
        clause="MODEL.P3",
        since="1.2",
        hazards=["reduction-keep-dims"],
    )


def rejected_quantization(operation: str) -> Vectors:
    """A quantised output whose scale or zero point is not the input's (clause C5)."""
    for name, scale, point in (("scale", 0.5, 40), ("zero_point", 0.25, 41)):
        yield rejected(
            f"quant8_output_{name}",
            operation,
            {"input": numbers(QUANT8, (2, 3), 1), "axes": int32s(1), "keep_dims": boolean(False)},
            {"output": tensor(QUANT8, (2,), scale=scale, zero_point=point)},
            clause=f"{operation}.C5",
        )
