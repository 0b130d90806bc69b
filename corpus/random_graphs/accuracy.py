"""How accurate AOSP's random graph test wants results, by class of the operation and type of the result.

Source: runtime/test/fuzzing (RandomGraphGenerator, operation signatures) and TestHarness.cpp. These bounds decide
whether AOSP's own test would fail (RGG-006), and up to where an error counts that operations before may have made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.corpus.random_graphs.recipes import SMALL
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType


@dataclass(frozen=True)
class Bound:
    """bias: of the mean difference; square: of the mean squared one. atol, rtol: of each element."""

    bias: float
    square: float
    atol: float
    rtol: float = 0.0


@dataclass(frozen=True)
class Criterion:
    """The bounds of a class; floats differ relatively where they are beyond 1, quantised ones by stored values."""

    single: Bound
    half: Bound
    quantized: Bound

    def bound(self, operand_type: AnyOperandType) -> Bound | None:
        """The bounds of a type; None for booleans and int32, which have rules of their own."""
        info = OPERAND_TYPES[operand_type]
        if info.is_quantized:
            return self.quantized
        return {"float32": self.single, "float16": self.half}.get(info.dtype)


STRICT = Criterion(Bound(1e-7, 1e-10, 1e-6, 1e-6), Bound(1e-4, 1e-8, 1e-3, 1e-3), Bound(0.1, 0.1, 1))
MEDIUM = Criterion(Bound(1e-6, 1e-8, 1e-5, 1e-5), Bound(1e-3, 1e-5, 1e-2, 1e-2), Bound(1.2, 1.2, 2))
RELAXED = Criterion(Bound(3e-5, 1e-6, 1e-3, 1e-3), Bound(5e-3, 1e-3, 1.0, 1.0), Bound(1.5, 1.5, 10))
CONVOLUTION = Criterion(Bound(4e-4, 1e-5, 2e-2, 2e-2), Bound(5e-2, 1e-2, 1.0, 1.0), Bound(1.5, 1.5, 10))
SMALL_GRAPH = Criterion(Bound(4e-4, 1e-5, 1e-2, 1e-2), Bound(5e-2, 1e-2, 1.0, 1.0), Bound(2, 2, 12))
LARGE_GRAPH = Criterion(Bound(1e-2, 1e-4, 1e-1, 1e-1), Bound(1e-1, 5e-2, 1.0, 1.0), Bound(2, 2, 12))

MOVED = frozenset({
    "ARGMAX", "ARGMIN", "BATCH_TO_SPACE_ND", "CHANNEL_SHUFFLE", "DEPTH_TO_SPACE", "EMBEDDING_LOOKUP", "EQUAL",
    "EXPAND_DIMS", "FILL", "GATHER", "GREATER", "GREATER_EQUAL", "HASHTABLE_LOOKUP", "LESS", "LESS_EQUAL",
    "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "MIRROR_PAD", "NOT_EQUAL", "PACK", "PAD", "PAD_V2", "RANK", "RESHAPE",
    "REVERSE", "SELECT", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SQUEEZE", "STRIDED_SLICE", "TILE", "TOPK_V2",
    "TRANSPOSE",
})  # fmt: skip
"""Operations that move elements, compare them or look them up: AOSP's strict class."""

_MEDIUM = frozenset({
    "ADD", "SUB", "MUL", "FLOOR", "RELU", "RELU1", "RELU6", "MAXIMUM", "MINIMUM", "PRELU", "ABS", "NEG",
    "CONCATENATION", "SPLIT", "QUANTIZE", "DEQUANTIZE", "CAST", "ELU", "HARD_SWISH",
})  # fmt: skip
_CONVOLUTIONS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D"})


def criterion(vector: Vector) -> Criterion:
    """The class of a graph: that of its operation, or of its size."""
    if len(vector.operations) > 1:
        return SMALL_GRAPH if len(vector.operations) <= SMALL else LARGE_GRAPH
    operation = vector.operations[0].type
    if operation in MOVED:
        return STRICT
    if operation in _CONVOLUTIONS:
        return CONVOLUTION
    return MEDIUM if operation in _MEDIUM else RELAXED


def furthest(vector: Vector) -> Criterion:
    """The bounds beyond which an error that operations before may have made leaves an element undecided."""
    return SMALL_GRAPH if len(vector.operations) <= SMALL else LARGE_GRAPH
