"""The generator of LSH_PROJECTION. No sum of hashes is so near 0 that its sign hangs on rounding; some are exactly 0.

The public rule takes a stored 1 for a 0, but not 1.0 for 0.0: what only the bits of a dense projection show is cast.
"""

from collections.abc import Sequence
from math import prod

from msgspec.structs import replace

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._moves import KINDS, late, quantization, unknown
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejection
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Data, OperandSpec, int32, left_out, omitted, tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32, QUANT8
from npu_conformance.corpus.oracles.lsh_projection import DENSE, SPARSE
from npu_conformance.corpus.vectors import Vector

OPERATION = "LSH_PROJECTION"
DEPRECATED = 1
TYPES = {"dense": DENSE, "sparse": SPARSE, "deprecated": DEPRECATED}
SEEDS = ("float32", "float16")
SOURCES = ("float32", "float16", "int32", "quant8")
ROWS = {"1": (3,), "3": (3, 3), "4": (2, 4), "5": (3, 5), "12": (2, 2, 6), "13": (3, 13), "28": (2, 7, 2, 2),
        "29": (3, 29), "60": (2, 60), "61": (2, 61), "124": (2, 124), "125": (1, 125), "200": (2, 200)}  # fmt: skip
"""Dimensions of data of bytes, by the length of a row: four bytes more than that are hashed, in ways by length."""


def vectors() -> Vectors:
    """Types and kinds; lengths of rows; weights; numbers of bits; omissions; open shapes; rejections."""
    for seed_kind in SEEDS:
        for source_kind in SOURCES:
            for name in TYPES:
                called = f"{name}_{seed_kind}_hash_of_{source_kind}"
                yield _plain(called, name, seed_kind, _source(source_kind, (3, 2)), excluded=_inexact(source_kind))
    for length, dimensions in ROWS.items():
        yield _plain(f"sparse_rows_of_{length}_bytes", "sparse", "float32", _source("quant8", dimensions), 2, 5)
    yield from _weighted()
    yield from _wide()
    yield from _forms()
    yield from _opened()
    yield from _rejected()


def _weighted() -> Vectors:
    source, seeds = _source("int32", (3, 2)), _seeds("float32", 4, 2)
    for name, numbers in {
        "one_row_counts": (0.0, 1.0, 0.0),
        "negative": (-0.5, -2.0, -1.0),
        "of_either_sign": (0.75, -2.0, 1.5),
        "far_apart": (2.0**-10, 1.0, 2.0**10),
        "large": (60000.0, 30000.0, -20000.0),
    }.items():
        alone = _positive(f"dense_weights_{name}", seeds, source, _weights("float32", numbers), "dense")
        yield alone
        yield _as_reals(alone)
    half = _positive(
        "dense_float16_weights", _seeds("float16", 4, 2), source, _weights("float16", (0.1, -2, 3)), "dense"
    )
    yield _as_reals(half)
    tiny = _weights("float32", (2.0**-70, 2.0**-71, 2.0**-70))
    lost = ("float16", "relaxed")
    yield _as_reals(_positive("dense_weights_tiny", seeds, source, tiny, "dense", excluded=lost))
    few = _seeds("float32", 1, 2)
    zero = "a sum of exactly 0 is not positive: every bit is 0"
    nothing = _weights("float32", (0.0, 0.0, 0.0))
    yield _as_reals(_positive("dense_weights_zero", few, source, nothing, "dense", description=zero))
    same = tensor(INT32, (2, 2), [7, -9, 7, -9])
    opposite = _weights("float32", (1.0, -1.0))
    yield _as_reals(_positive("dense_rows_cancel", few, same, opposite, "dense", description=zero))


def _wide() -> Vectors:
    """Many bits, many hashes. The 32nd bit of a number is its sign."""
    source = _source("int32", (2, 3))
    for name, count, width in (("dense", 2, 32), ("dense", 9, 1), ("sparse", 1, 24), ("sparse", 9, 1),
                               ("sparse", 5, 7), ("sparse", 2, 29), ("deprecated", 3, 31), ("deprecated", 3, 32),
                               ("deprecated", 9, 1)):  # fmt: skip
        yield _plain(f"{name}_{count}_hashes_of_{width}_bits", name, "float32", source, count, width)
    seeds = tensor(FLOAT32, (2, 4), [1e30, -1e-30, 3e-30, 123456.789, -0.1, 0.0, 1 / 3, -7.0])
    reason = ("float16", "relaxed", INTERNAL)
    yield _positive(
        "dense_seeds_of_all_sizes", seeds, source, _weights("float32", (1.5, 0.5)), "dense", excluded=reason
    )
    yield _positive("sparse_seeds_of_all_sizes", seeds, source, _no_weights(2), "sparse", excluded=reason)


def _forms() -> Vectors:
    """Who gives the operands: the model or the request; how the weights are left out."""
    source, seeds = _source("int32", (3, 2)), _seeds("float32", 4, 2)
    for name in ("sparse", "deprecated"):
        yield _positive(f"{name}_weights_left_out", seeds, source, left_out(FLOAT32, (3,)), name)
        yield _positive(f"{name}_weights_of_open_size_left_out", seeds, source, left_out(FLOAT32, (0,)), name)
    numbers = _weights("float32", (0.5, 1.0, -0.75))
    yield _positive("dense_all_late", late(seeds), source, late(numbers), "dense")
    yield _positive("dense_all_constant", seeds, _constant(source), numbers, "dense")
    for zero_point in (0, 255):
        bytes_ = tensor(QUANT8, (2, 3), [0, 1, 127, 128, 254, 255], **quantization("quant8", zero_point, 0.5))
        about = "the stored bytes count, whatever their zero point"
        weights = _weights("float32", (1.0, 0.5))
        yield _positive(f"dense_zero_point_{zero_point}", seeds, bytes_, weights, "dense", description=about)


def _opened() -> Vectors:
    source, seeds = _source("int32", (3, 2)), late(_seeds("float32", 4, 2))
    weights = late(_weights("float32", (0.5, 1.0, -0.75)))
    sizes = (unknown(seeds, (0, 2)), unknown(source, (0, 0)), unknown(weights, (0,)))
    ranks = (unknown(seeds, ()), unknown(source, ()), unknown(weights, ()))
    yield _positive("dense_unknown_sizes", *sizes, "dense", output=(8,))
    yield _positive("dense_unknown_ranks", *ranks, "dense", output=(8,), since="1.2")
    yield _positive("dense_unknown_everything", *ranks, "dense", output=(), since="1.2")
    yield _positive("sparse_unknown_everything", *ranks[:2], _no_weights(3), "sparse", output=(), since="1.2")


def _rejected() -> Vectors:
    seeds, source, weights = _seeds("float32", 4, 2), _source("int32", (3, 2)), _weights("float32", (0.5, 1.0, -0.75))
    for name, dimensions in {"1": (8,), "3": (2, 2, 2)}.items():
        wrong = tensor(FLOAT32, dimensions, dyadic(3, dimensions), constant=True)
        yield _rejection(f"hash_rank_{name}", RANK_CLAUSE, wrong, source, weights)
        yield _rejection(f"hash_rank_{name}_at_execution", "C1", unknown(late(wrong), ()), source, weights, since="1.2")
    square = tensor(FLOAT32, (3, 1), [0.5, 1.0, -0.75], constant=True)
    yield _rejection("weights_rank_2", RANK_CLAUSE, seeds, source, square)
    yield _rejection("weights_rank_2_at_execution", "C1", seeds, source, unknown(late(square), ()), since="1.2")
    yield _rejection("33_bits", "C2", _seeds("float32", 2, 33), source, weights, output=(66,))
    for name, kind in {"0": 0, "4": 4, "minus_1": -1}.items():
        yield _rejection(f"type_{name}", "C3", seeds, source, weights, kind)
        yield _rejection(f"type_{name}_without_weights", "C3", seeds, source, _no_weights(3), kind, (4,))
    few, many = _weights("float32", (0.5, 1.0)), _weights("float32", (0.5, 1.0, 2.0, 1.0))
    yield _rejection("too_few_weights", "C5", seeds, source, few)
    yield _rejection("too_many_weights", "C5", seeds, source, many)
    yield _rejection("too_few_weights_at_execution", "C5", seeds, source, unknown(late(few), (0,)))
    yield _rejection("dense_output_of_sparse", "C8", seeds, source, weights, DENSE, (4,))
    yield _rejection("sparse_output_of_dense", "C8", seeds, source, _no_weights(3), DEPRECATED, (8,))
    yield _rejection("output_rank_2", RANK_CLAUSE, seeds, source, weights, DENSE, (4, 2))


def _as_reals(alone: Vector) -> Vector:
    """The bits of a dense projection."""
    return replace(as_reals(alone, "output"), excluded=tuple(set(alone.excluded) - {"float16"}))


def _inexact(kind: str) -> tuple[str, ...]:
    """Variations in which floats lose bytes, or may."""
    return ("float16", "relaxed") if kind == "float32" else ()


def _source(kind: str, dimensions: Sequence[int]) -> OperandSpec:
    """Data of which halves are exact in every float type."""
    if kind == "quant8":
        numbers: Data = integers(prod(dimensions), dimensions, 0, 255)
    elif kind == "int32":
        numbers = integers(prod(dimensions) + 1, dimensions, -(2**31), 2**31 - 1)
    else:
        numbers = dyadic(8, dimensions)
    return tensor(KINDS[kind], dimensions, numbers, **quantization(kind, 3, 0.5))


def _seeds(kind: str, hashes: int, width: int) -> OperandSpec:
    return tensor(KINDS[kind], (hashes, width), dyadic(11, (hashes, width), -2.0, 2.0, 2.0**-7), constant=True)


def _weights(kind: str, numbers: Sequence[float]) -> OperandSpec:
    return tensor(KINDS[kind], (len(numbers),), numbers, constant=True)


def _no_weights(count: int, kind: str = "float32") -> OperandSpec:
    return omitted(KINDS[kind], (count,))


def _constant(spec: OperandSpec) -> OperandSpec:
    return tensor(spec.operand.type, spec.shape, spec.data, constant=True)


def _plain(
    name: str,
    kind: str,
    seed_kind: str,
    source: OperandSpec,
    hashes: int = 4,
    width: int = 2,
    excluded: Sequence[str] = (),
) -> Vector:
    """A projection; a dense one with different weights."""
    count = source.shape[0]
    given = (
        _weights(seed_kind, [place / 4 for place in range(1, count + 1)])
        if kind == "dense"
        else _no_weights(count, seed_kind)
    )
    return _positive(name, _seeds(seed_kind, hashes, width), source, given, kind, excluded=excluded)


def _positive(
    name: str,
    seeds: OperandSpec,
    source: OperandSpec,
    weights: OperandSpec,
    kind: str,
    *,
    output: tuple[int, ...] | None = None,
    since: str = "1.0",
    description: str = "",
    excluded: Sequence[str] = (),
) -> Vector:
    inputs = {"hash": seeds, "input": source, "weight": weights, "type": int32(TYPES[kind])}
    hashes, width = seeds.shape
    dimensions = output if output is not None else (hashes * width,) if kind == "dense" else (hashes,)
    first = "1.2" if kind == "sparse" else since
    return positive(
        name, OPERATION, inputs, {"output": tensor(INT32, dimensions)}, since=first, description=description,
        excluded=excluded,
    )  # fmt: skip


def _rejection(
    name: str,
    clause: str,
    seeds: OperandSpec,
    source: OperandSpec,
    weights: OperandSpec,
    kind: int = DENSE,
    output: tuple[int, ...] = (8,),
    since: str = "1.0",
) -> Vector:
    inputs = {"hash": seeds, "input": source, "weight": weights, "type": int32(kind)}
    return rejection(OPERATION, name, clause, inputs, {"output": tensor(INT32, output)}, since)
