"""Operand types and data for operations that only move elements: a result shows where each element came from."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._rejections import RANK5, RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.versions import Version

KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8": QUANT8, "quant8_signed": SIGNED, "int32": INT32}
FIVE = ("float32", "float16", "quant8", "quant8_signed", "int32")
FOUR = ("float32", "float16", "quant8", "quant8_signed")
"""The types that operations without int32 take."""

_PARTS = {"float32": 3, "float16": 4}
_STARTS = {"quant8": 0, "quant8_signed": -128, "int32": -(2**31)}
_STEPS = {"quant8": 1, "quant8_signed": 1, "int32": 65537}


def source(
    kind: str, dimensions: Sequence[int], *, zero_point: int = 3, scale: float = 0.5, first: int = 0
) -> OperandSpec:
    """An input whose elements all differ (up to 256): counted up from the `first` value of the type.

    Thirds in float32 need all its bits: a device that moves them through float16 is seen.
    """
    steps = first + numpy.arange(prod(dimensions)).reshape(dimensions)
    data: Any = (steps - 40) / _PARTS[kind] if kind in _PARTS else _STARTS[kind] + steps * _STEPS[kind]
    return tensor(KINDS[kind], dimensions, data, **quantization(kind, zero_point, scale))


FAR = 70001
"""How many places there are where their numbers need more than 16 bits."""


def bytes_at_load(dimensions: Sequence[int]) -> OperandSpec:
    """A large unsigned input, whose bytes are made from a seed when the vector is loaded."""
    data = GeneratorDocument(kind="integers", seed=dimensions[0], low=0, high=255)
    return tensor(QUANT8, dimensions, data, **quantization("quant8", 3, 0.5))


def result(kind: str, dimensions: Sequence[int], *, zero_point: int = 3, scale: float = 0.5) -> OperandSpec:
    """An output with the quantisation of `source`."""
    return tensor(KINDS[kind], dimensions, **quantization(kind, zero_point, scale))


def quantization(kind: str, zero_point: int, scale: float) -> dict[str, Any]:
    """Scale and zero point of a quantised type, nothing for others. zero_point is that of the unsigned type."""
    if not kind.startswith("quant8"):
        return {}
    return {"scale": scale, "zero_point": zero_point - 128 if kind == "quant8_signed" else zero_point}


def unknown(spec: OperandSpec, dimensions: Sequence[int]) -> OperandSpec:
    """The same data, of which the model says these dimensions only: 0 is an unknown size, () an unknown rank."""
    return replace(spec, operand=structs.replace(spec.operand, dimensions=tuple(dimensions)))


def opened(
    operation: str,
    inputs: Operands,
    output: Sequence[int],
    since: str,
    hazards: Sequence[str] = (),
    key: str = "input",
) -> Vectors:
    """Calls in which the model leaves to the request a size of one input, its rank, the output's rank too.

    output: dimensions. The model knows those of the output, or cannot tell whether they are right. key: which input.
    """
    whole = inputs[key]
    cases = {"size": ((0, *whole.shape[1:]), output), "rank": ((), output), "everything": ((), ())}
    for name, (declared, shape) in cases.items():
        arguments = {**inputs, key: unknown(whole, declared)}
        outputs = {"output": result("float32", shape)}
        oldest = since if declared else max(Version(since), Version.V1_2).value
        yield positive(f"float32_unknown_{name}", operation, arguments, outputs, since=oldest, hazards=hazards)


def late(spec: OperandSpec) -> OperandSpec:
    """The same operand as a model input: its value comes with the request."""
    return replace(spec, constant=False)


def signed_zeros(kind: str, dimensions: Sequence[int]) -> OperandSpec:
    """An input of floats in which zeros of either sign alternate with numbers."""
    return tensor(KINDS[kind], dimensions, numpy.resize([-0.0, 1.5, 0.0, -0.0], prod(dimensions)))


def special_floats(kind: str, dimensions: Sequence[int]) -> OperandSpec:
    """An input of floats with everything that arithmetic would change: zeros of either sign, infinities, NaN."""
    values = [-0.0, numpy.inf, 1.5, numpy.nan, 0.0, -numpy.inf, 65504.0]
    return tensor(KINDS[kind], dimensions, numpy.resize(values, prod(dimensions)))


def rejected_ranks(operation: str, arguments: Operands, since: str = "1.0") -> Vectors:
    """An input of rank 5, which the model says, or which only the request says. arguments: the other inputs."""
    elements = numpy.arange(prod(RANK5)) * 0.25
    declared = {"input": tensor(FLOAT32, RANK5, elements), **arguments}
    yield rejection(operation, "rank5", RANK_CLAUSE, declared, {"output": tensor(FLOAT32, RANK5)}, since)
    found = {"input": tensor(FLOAT32, (), elements, shape=RANK5), **arguments}
    yield rejection(operation, "rank5_at_execution", "C1", found, {"output": tensor(FLOAT32, ())}, "1.2")


def rejected_outputs(
    operation: str,
    arguments: Operands,
    dimensions: tuple[int, ...],
    right: tuple[int, ...],
    clauses: tuple[str, str],
    since: str = "1.0",
    *,
    has_rank: bool = False,
) -> Vectors:
    """Outputs declared with other dimensions than the right ones, or with another quantisation than the input.

    dimensions: those of the input. clauses: numbers of the two clauses; an empty one is left out.
    has_rank: the signature allows only this rank of the output.
    """
    wrong = {"too_large": (*right[:-1], right[-1] + 1), "of_higher_rank": (1, *right), "reversed": right[::-1]}
    for name, shape in wrong.items():
        if shape != right:
            clause = RANK_CLAUSE if has_rank and len(shape) != len(right) else clauses[0]
            inputs = {"input": source("float32", dimensions), **arguments}
            yield rejection(operation, f"output_{name}", clause, inputs, {"output": result("float32", shape)}, since)
    for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)) if clauses[1] else ():
        for kind in ("quant8", "quant8_signed"):
            inputs = {"input": source(kind, dimensions), **arguments}
            output = {"output": result(kind, right, zero_point=zero_point, scale=scale)}
            yield rejection(operation, f"{kind}_output_{name}", clauses[1], inputs, output, "1.2")
