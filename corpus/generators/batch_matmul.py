"""The generator of BATCH_MATMUL."""

from typing import Any

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators.base import Vectors, positive, rejected, rejection
from npu_conformance.corpus.generators.data import WIDE, dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import Data, Operands, boolean, constant, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument, Phase

OPERATION = "BATCH_MATMUL"
KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8_signed": SIGNED, "int32": INT32}
BATCHES: dict[str, tuple[int, ...]] = {"rank2": (), "rank3": (3,), "rank4": (2, 3)}
SIZES = {"wide": (2, 3, 4), "tall": (4, 2, 3), "row": (1, 5, 2), "one": (3, 1, 2)}
"""Rows, inner size, columns: never two alike, so that a forgotten transposition shows in a shape."""

SCALES = {"dyadic": (1 / 16, 1 / 32, 1 / 8), "odd": (0.0431, 0.0217, 0.0873)}
Shape = tuple[int, ...]


def vectors() -> Vectors:
    """Pairwise: type, rank, sizes, transpositions; squares; corners of types; a real size; rejections."""
    yield from _cover()
    yield from _squares()
    yield from _by_hand()
    yield from _corners()
    yield from _found_late()
    yield from many_results("BATCH_MATMUL")
    yield from _long_rows()
    yield from _shared()
    yield from _rejected()
    yield from long_axes(OPERATION)


def _operands(
    kind: str,
    shapes: tuple[Shape, Shape, Shape],
    turns: tuple[bool, bool],
    data: tuple[Data, Data],
    scales: tuple[float, float, float] = SCALES["dyadic"],
    zero_points: tuple[int, int, int] = (-7, 11, 5),
) -> tuple[Operands, Operands]:
    """shapes: of both inputs as they are stored, and of the output."""

    def quantized(position: int) -> dict[str, Any]:
        if kind != "quant8_signed":
            return {}
        return {"scale": scales[position], "zero_point": zero_points[position]}

    inputs = {
        "a": tensor(KINDS[kind], shapes[0], data[0], **quantized(0)),
        "b": tensor(KINDS[kind], shapes[1], data[1], **quantized(1)),
        "adj_x": boolean(turns[0]),
        "adj_y": boolean(turns[1]),
    }
    return inputs, {"output": tensor(KINDS[kind], shapes[2], **quantized(2))}


def _shared() -> Vectors:
    inputs: Operands = {
        "a": tensor(QUANT8, (2, 3), integers(81, (2, 3), 0, 255)),
        "b": tensor(QUANT8, (3, 4), integers(82, (3, 4), 0, 255)),
        "adj_x": boolean(False),
        "adj_y": boolean(False),
    }
    outputs = {"output": tensor(QUANT8, (2, 4))}
    scales, points = (1 / 128, 1 / 100, 1 / 40), (110, 140, 120)
    yield from shared_quantization(OPERATION, inputs, outputs, scales, points, types=(SIGNED,))


def _shapes(batch: Shape, sizes: tuple[int, int, int], turns: tuple[bool, bool]) -> tuple[Shape, Shape, Shape]:
    rows, inner, columns = sizes
    first = (inner, rows) if turns[0] else (rows, inner)
    second = (columns, inner) if turns[1] else (inner, columns)
    return (*batch, *first), (*batch, *second), (*batch, rows, columns)


def _seeded(kind: str, shape: Shape, seed: int) -> Any:
    """Quarters whose products add up exactly in float16, or integers."""
    if kind.startswith("float"):
        return dyadic(seed, shape, -2.0, 2.0, 0.25)
    return integers(seed, shape, -128, 127) if kind == "quant8_signed" else integers(seed, shape, -1000, 1000)


def _positive(
    name: str,
    kind: str,
    batch: Shape,
    sizes: tuple[int, int, int],
    turns: tuple[bool, bool] = (False, False),
    data: tuple[Data, Data] | None = None,
    *,
    scales: tuple[float, float, float] = SCALES["dyadic"],
    zero_points: tuple[int, int, int] = (-7, 11, 5),
    **details: Any,
) -> Vector:
    shapes = _shapes(batch, sizes, turns)
    seed = sum(map(ord, name))
    given = data or (_seeded(kind, shapes[0], seed), _seeded(kind, shapes[1], seed + 1000))
    inputs, outputs = _operands(kind, shapes, turns, given, scales, zero_points)
    return positive(name, OPERATION, inputs, outputs, since="fl6", **details)


def _cover() -> Vectors:
    parameters: dict[str, list[Any]] = {
        "kind": list(KINDS),
        "rank": list(BATCHES),
        "sizes": list(SIZES),
        "a": ["a", "at"],
        "b": ["b", "bt"],
        "scales": list(SCALES),
    }
    for row in pairwise(parameters):
        kind, turns = row["kind"], (row["a"] == "at", row["b"] == "bt")
        words = [kind, row["rank"], row["sizes"], row["a"], row["b"]]
        words += [row["scales"]] if kind == "quant8_signed" else []
        scales = SCALES[row["scales"]]
        yield _positive("_".join(words), kind, BATCHES[row["rank"]], SIZES[row["sizes"]], turns, scales=scales)


def _squares() -> Vectors:
    """Square matrices, in which a forgotten transposition shows in the values alone."""
    for name, turns in {
        "a_b": (False, False),
        "at_b": (True, False),
        "a_bt": (False, True),
        "at_bt": (True, True),
    }.items():
        for kind in ("float32", "quant8_signed"):
            yield _positive(f"{kind}_square_{name}", kind, (2,), (3, 3, 3), turns)
            yield _positive(f"{kind}_square_rank4_{name}", kind, (2, 2), (2, 2, 2), turns)


def _by_hand() -> Vectors:
    """[[1, 2], [3, 4]] times [[5, 6], [7, 8]], and transposed."""
    derivations = {
        "a_b": ((False, False), "1*5 + 2*7, 1*6 + 2*8; 3*5 + 4*7, 3*6 + 4*8: 19 22; 43 50"),
        "at_b": ((True, False), "1*5 + 3*7, 1*6 + 3*8; 2*5 + 4*7, 2*6 + 4*8: 26 30; 38 44"),
        "a_bt": ((False, True), "1*5 + 2*6, 1*7 + 2*8; 3*5 + 4*6, 3*7 + 4*8: 17 23; 39 53"),
    }
    data = [1, 2, 3, 4], [5, 6, 7, 8]
    for name, (turns, derivation) in derivations.items():
        for kind in ("float32", "int32"):
            yield _positive(f"{kind}_by_hand_{name}", kind, (), (2, 2, 2), turns, data, description=derivation)
    shifted = [-6, -5, -4, -3], [16, 17, 18, 19]
    about = (
        "without zero points 1 2; 3 4 and 5 6; 7 8: 19 22; 43 50 times 1/512 is 2.375 2.75; 5.375 6.25 of 1/64; plus 5"
    )
    scales = (1 / 16, 1 / 32, 1 / 64)
    name = "quant8_signed_by_hand"
    yield _positive(name, "quant8_signed", (), (2, 2, 2), data=shifted, scales=scales, description=about)


def _corners() -> Vectors:
    """Zero points at the ends, saturation, wraparound, all bits of floats."""
    for name, points in {"low": (-128, -128, -128), "high": (127, 127, -128), "mixed": (-128, 127, 127)}.items():
        scales = (1 / 16, 1 / 32, 1.0)
        yield _positive(
            f"quant8_signed_zero_points_{name}", "quant8_signed", (2,), (3, 4, 2), zero_points=points, scales=scales
        )
    about = "sums far beyond both ends of the output's range"
    scales = (0.5, 0.25, 0.3)
    yield _positive("quant8_signed_saturates", "quant8_signed", (2,), (3, 4, 2), scales=scales, description=about)
    fine = integers(1, (2, 3, 4), -9, -5), integers(2, (2, 4, 2), 9, 13)
    about = "the output is finer than the product of the scales"
    scales = (0.5, 0.25, 0.05)
    yield _positive(
        "quant8_signed_fine_output", "quant8_signed", (2,), (3, 4, 2), data=fine, scales=scales, description=about
    )
    large = [2**30, 2**16, -(2**31), 3, 7, -(2**20)], [5, 2**16, -3, 2**31 - 1, 2**17, -1]
    about = "products and sums beyond 32 bits wrap around"
    yield _positive("int32_wraps", "int32", (), (2, 3, 2), data=large, description=about)
    larger = WIDE, [2**31 - 5, 3, -(2**31) + 7, 2**31 - 7, -9, WIDE[4]]
    about = "sums beyond the 53 bits that a float64 holds"
    yield _positive("int32_wraps_beyond_53_bits", "int32", (), (2, 3, 2), data=larger, description=about)
    bits = uniform(41, (2, 3, 2), 0.5, 1.0), uniform(42, (2, 2, 5), 0.5, 1.0)
    yield _positive(
        "float32_all_bits", "float32", (2,), (3, 2, 5), data=bits, description="values that need all 24 bits"
    )
    # Sums of 16 products below a half: float32 keeps them within 1e-5 in any order.
    blocks = uniform(43, (1, 2, 16), -1.0, 1.0), uniform(44, (1, 16, 8), -0.5, 0.5)
    about = "values that need all 24 bits, in rows of whole blocks of 16"
    yield _positive("float32_all_bits_in_blocks", "float32", (1,), (2, 16, 8), data=blocks, description=about)


def _found_late() -> Vectors:
    """Sizes that only the request gives, and a constant second factor."""
    for kind in ("float32", "int32"):
        shapes = _shapes((2,), (2, 3, 4), (False, True))
        first, second = _seeded(kind, shapes[0], 51), _seeded(kind, shapes[1], 52)
        inputs, outputs = _operands(kind, shapes, (False, True), (first, second))
        late = {
            "a": tensor(KINDS[kind], (0, 2, 0), first, shape=shapes[0]),
            "b": tensor(KINDS[kind], (), second, shape=shapes[1]),
        }
        name = f"{kind}_sizes_from_request"
        yield positive(name, OPERATION, {**inputs, **late}, outputs, since="fl6")
        fixed = {"b": constant(KINDS[kind], shapes[1], second)}
        yield positive(f"{kind}_constant_factor", OPERATION, {**inputs, **fixed}, outputs, since="fl6")
    shapes = _shapes((), (2, 3, 4), (True, False))
    data = _seeded("float32", shapes[0], 53), _seeded("float32", shapes[1], 54)
    inputs, outputs = _operands("float32", shapes, (True, False), data)
    flags = {name: tensor(inputs[name].operand.type, (), inputs[name].data) for name in ("adj_x", "adj_y")}
    yield positive("float32_flags_from_request", OPERATION, {**inputs, **flags}, outputs, since="fl6")


def _long_rows() -> Vectors:
    """Attention between 6 and 5 tokens of 768 features: halves, whose sums are exact in float16, and bytes."""
    floats = tuple(GeneratorDocument(kind="dyadic", seed=61 + i, low=-1.0, high=1.0, step=0.5) for i in (0, 1))
    whole = tuple(GeneratorDocument(kind="integers", seed=61 + i, low=-128, high=127) for i in (0, 1))
    for kind, data in (("float32", floats), ("quant8_signed", whole)):
        scales = (1 / 16, 1 / 32, 16.0)
        about = "queries times keys"
        given = (data[0], data[1])
        name = f"{kind}_attention"
        yield _positive(name, kind, (2,), (6, 768, 5), (False, True), given, scales=scales, description=about)


def _rejected() -> Vectors:
    five = tensor(FLOAT32, (1, 1, 1, 2, 2), [1.0, 2.0, 3.0, 4.0])
    one = tensor(FLOAT32, (4,), [1.0, 2.0, 3.0, 4.0])
    yield _rejection("rank5", RANK_CLAUSE, {"a": five, "b": five, "output": tensor(FLOAT32, (1, 1, 1, 2, 2))})
    yield _rejection("rank1", RANK_CLAUSE, {"a": one, "b": one, "output": tensor(FLOAT32, (1,))})
    late = tensor(FLOAT32, (), five.data, shape=five.shape)
    yield _rejection("rank5_at_execution", "C1", {"a": late, "b": late, "output": tensor(FLOAT32, ())})
    flat = tensor(FLOAT32, (3, 4), dyadic(3, (3, 4)))
    yield _rejection("rank_of_second_smaller", "C2", {"b": flat})
    yield _rejection(
        "rank_of_first_smaller",
        "C2",
        {"a": tensor(FLOAT32, (2, 3), dyadic(4, (2, 3))), "output": tensor(FLOAT32, ())},
    )
    wrong = tensor(FLOAT32, (2, 5, 4), dyadic(5, (2, 5, 4)))
    yield _rejection("inner_sizes", "C3", {"b": wrong})
    yield _rejection("inner_sizes_turned_a", "C3", {"adj_x": boolean(True), "output": tensor(FLOAT32, ())})
    yield _rejection("inner_sizes_turned_b", "C3", {"adj_y": boolean(True), "output": tensor(FLOAT32, ())})
    for name, shape in {"turned": (2, 4, 2), "one_batch": (1, 2, 4), "rank2": (2, 4), "inner": (2, 2, 3)}.items():
        yield _rejection(f"output_{name}", "C6", {"output": tensor(FLOAT32, shape)})
    yield from _rejected_types()


def _rejected_types() -> Vectors:
    second = tensor(FLOAT16, (2, 3, 4), dyadic(6, (2, 3, 4)))
    yield _rejection("mixed_types", "MODEL.P3", {"b": second})
    unsigned = {"a": (2, 2, 3), "b": (2, 3, 4)}
    bytes_ = {name: tensor(QUANT8, shape, integers(7, shape, 0, 255), scale=0.5) for name, shape in unsigned.items()}
    yield _rejection("quant8", "MODEL.P3", {**bytes_, "output": tensor(QUANT8, (2, 2, 4), scale=1.0)})
    inputs, outputs = _sound()
    del inputs["adj_y"]
    yield rejected("refused_one_flag", OPERATION, inputs, outputs, clause="MODEL.P3", since="fl6")


def _sound() -> tuple[Operands, Operands]:
    shapes = _shapes((2,), (2, 3, 4), (False, False))
    data = _seeded("float32", shapes[0], 1), _seeded("float32", shapes[1], 2)
    return _operands("float32", shapes, (False, False), data)


def _rejection(name: str, clause: str, changes: Operands) -> Vector:
    phase: Phase = "model" if clause == "MODEL.P3" else "execution"
    return rejection(OPERATION, name, clause, *_sound(), "fl6", changes=changes, phase=phase)
