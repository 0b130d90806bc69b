"""The generator of HASHTABLE_LOOKUP."""

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.corpus import oracles
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._moves import late, result, source, special_floats, unknown
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32s, tensor
from npu_conformance.corpus.generators.types import INT32, QUANT8
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation

OPERATION = "HASHTABLE_LOOKUP"
LOWEST, HIGHEST = -(2**31), 2**31 - 1
CASES: dict[str, tuple[Sequence[int], Sequence[int], tuple[int, ...]]] = {
    "rank2": ((20, 40, 10, 20), (10, 20, 30), (2,)),
    "between_and_beyond": ((5, 10, 15, 30, 35), (10, 20, 30), (3,)),
    "negative_keys": ((-7, 0, -1, -8, 3), (-8, -7, -1, 3), (2,)),
    "extreme_keys": ((HIGHEST, 0, LOWEST, -1), (LOWEST, -1, HIGHEST), (2,)),
    "one_key": ((4, 5, 6), (5,), (3,)),
    "next_to_each_other": ((0, 4, 2, 1), (0, 1, 2, 3), (1,)),
    "rank3": ((8, 9, 2), (2, 5, 9), (2, 2)),
    "rank4": ((5, 4, 2), (2, 5), (1, 3, 2)),
}
"""Lookups, keys, dimensions of a row."""


def vectors() -> Vectors:
    """Every type; hits and misses on every side; misses beside a zero point; hits used on; open shapes; rejections."""
    for kind in ("float32", "int32", "quant8"):
        for turn, (name, (lookups, keys, row)) in enumerate(CASES.items()):
            values = source(kind, (len(keys), *row), first=40)
            indices = int32s(*lookups) if turn % 3 == 2 else late(int32s(*lookups))
            known = late(int32s(*keys)) if turn % 3 == 1 else int32s(*keys)
            output = result(kind, (len(lookups), *row))
            yield _positive(f"{kind}_{name}", _arguments(indices, known, values), output, len(lookups))
    yield from many_results("HASHTABLE_LOOKUP")
    for zero_point in (0, 100, 255):
        point = {"zero_point": zero_point}
        inputs = _arguments(int32s(3, 4, 1), int32s(1, 2, 3), source("quant8", (3, 2), first=50, **point))
        about = f"a miss gives stored zeros, which are {-zero_point} times the scale"
        yield _positive(f"quant8_zero_point_{zero_point}", inputs, result("quant8", (3, 2), **point), 3, about)
    inputs = _arguments(int32s(2, 7, 1), int32s(1, 2), special_floats("float32", (2, 3)))
    yield _positive("float32_special_values", inputs, result("float32", (3, 3)), 3)
    yield _used_hits()
    yield from _opened()
    yield from _rejected()
    yield from long_axes(OPERATION)


def _used_hits() -> Vector:
    """The hits as real numbers: the public rule takes a stored 1 for a 0, but not 1.0 for 0.0."""
    inputs = _arguments(late(int32s(20, 11, 10, 30)), int32s(10, 20, 30), source("float32", (3, 2)))
    alone = positive("float32_hits_dequantized", OPERATION, inputs, _outputs(result("float32", (4, 2)), 4))
    real = VectorOperand(result("float32", (4,)).operand.type, (4,))
    operations = (*alone.operations, VectorOperation("DEQUANTIZE", ("hits",), ("real_hits",)))
    operands = {**alone.operands, "real_hits": real}
    both = replace(
        alone, operands=operands, operations=operations, outputs=("output", "real_hits"), hazards=("lookup-misses",)
    )
    (example,) = alone.examples
    expected = oracles.evaluate(both.main, example.inputs)
    return replace(both, examples=(Example(example.inputs, expected),), description="hits are 1.0, misses 0.0")


def _opened() -> Vectors:
    """Sizes and ranks that the model leaves to the request."""
    values = source("float32", (3, 2))
    sizes = _arguments(
        unknown(late(int32s(9, 3, 5)), (0,)), unknown(late(int32s(3, 5, 7)), (0,)), unknown(values, (0, 0))
    )
    yield positive(
        "float32_unknown_sizes", OPERATION, sizes, _outputs(result("float32", (3, 2)), 3), hazards=["lookup-misses"]
    )
    ranks = {key: unknown(spec, ()) for key, spec in sizes.items()}
    for name, output in {"ranks": _outputs(result("float32", (3, 2)), 3), "everything": _outputs()}.items():
        yield positive(f"float32_unknown_{name}", OPERATION, ranks, output, since="1.2", hazards=["lookup-misses"])


def _rejected() -> Vectors:
    lookups, keys, values = int32s(2, 7), int32s(1, 2, 3), source("float32", (3, 4))
    right = _outputs(result("float32", (2, 4)), 2)
    for name, wrong in {"few": int32s(1, 2), "many": int32s(1, 2, 3, 4)}.items():
        yield _rejection(f"too_{name}_keys", "C2", _arguments(lookups, wrong, values), right)
    late_keys = unknown(late(int32s(1, 2)), (0,))
    yield _rejection("too_few_keys_at_execution", "C2", _arguments(lookups, late_keys, values), right)
    flat = {"lookups": constant(INT32, (1, 2), (2, 7)), "keys": constant(INT32, (3, 1), (1, 2, 3))}
    for name, operand in flat.items():
        inputs = {**_arguments(lookups, keys, values), name: operand}
        yield _rejection(f"{name}_rank_2", RANK_CLAUSE, inputs, right)
        inputs = {**inputs, name: unknown(late(operand), ())}
        yield _rejection(f"{name}_rank_2_at_execution", "C1", inputs, _outputs(), "1.2")
    inputs = _arguments(lookups, keys, values)
    for name, shape in {"too_many_rows": (3, 4), "too_wide": (2, 5), "of_higher_rank": (1, 2, 4)}.items():
        yield _rejection(f"output_{name}", "C5", inputs, _outputs(result("float32", shape), 2))
    yield _rejection("too_many_hits", "C5", inputs, _outputs(result("float32", (2, 4)), 3))
    for name, scale, zero_point in (("scale_half", 0.5, 0), ("scale_2", 2.0, 0), ("zero_point", 1.0, 1)):
        hits = tensor(QUANT8, (2,), scale=scale, zero_point=zero_point)
        yield _rejection(f"hits_{name}", "C7", inputs, {**right, "hits": hits})
    bytes_ = _arguments(lookups, keys, source("quant8", (3, 4)))
    for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
        other = _outputs(result("quant8", (2, 4), scale=scale, zero_point=zero_point), 2)
        yield _rejection(f"quant8_output_{name}", "C6", bytes_, other)


def _arguments(lookups: OperandSpec, keys: OperandSpec, values: OperandSpec) -> Operands:
    return {"lookups": lookups, "keys": keys, "values": values}


def _outputs(output: OperandSpec | None = None, count: int | None = None) -> Operands:
    """The outputs; without arguments of unknown rank."""
    hits = tensor(QUANT8, () if count is None else (count,), scale=1.0)
    return {"output": output or result("float32", ()), "hits": hits}


def _positive(name: str, inputs: Operands, output: OperandSpec, count: int, description: str = "") -> Vector:
    return positive(
        name, OPERATION, inputs, _outputs(output, count), hazards=["lookup-misses"], description=description
    )


def _rejection(name: str, clause: str, inputs: Operands, outputs: Operands, since: str = "1.0") -> Vector:
    return rejection(OPERATION, name, clause, inputs, outputs, since)
