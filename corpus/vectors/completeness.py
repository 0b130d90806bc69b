"""What a vector of any form needs to be judged: examples, a value for each input and output, shapes that fit.

Without it a driver would be blamed for what the vector lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Graph, VectorOperand


def require_kind(kind: str, operations: Sequence[str], where: str, path: str) -> None:
    """Raise DocumentError for a multinomial vector of other operations: only its draws can be counted."""
    if kind == "multinomial" and list(operations) != ["RANDOM_MULTINOMIAL"]:
        raise DocumentError(where, path, "expected RANDOM_MULTINOMIAL alone in a vector of kind multinomial")


def require_examples(examples: Sequence[object], where: str) -> None:
    """Raise DocumentError where there is no example; a vector that is rejected needs none."""
    if not examples:
        raise DocumentError(where, "$.examples", "expected at least one example")


def require_inputs(found: Mapping[str, object], graph: Graph, where: str, path: str) -> None:
    """Raise DocumentError unless each input that is not omitted has values, and nothing else has."""
    _require_each(found, {name for name in graph.inputs if not graph.operands[name].omitted}, where, path)


def require_outputs(found: Mapping[str, object], graph: Graph, where: str, path: str) -> None:
    """Raise DocumentError unless each output has values, and nothing else has."""
    _require_each(found, set(graph.outputs), where, path)


def require_fitting(operand: VectorOperand, dimensions: Sequence[int], where: str, path: str) -> None:
    """Raise DocumentError for a shape that is not the operand's, whose rank or sizes (0) may be open."""
    declared, info = operand.dimensions, OPERAND_TYPES[operand.type]
    if not declared and (info.is_tensor or info.size == 0):  # of a scalar of OEM the vendor decides
        return
    fits = len(declared) == len(dimensions) and all(
        one in (0, other) for one, other in zip(declared, dimensions, strict=True)
    )
    if not fits:
        raise DocumentError(where, path, f"expected to fit {list(declared)}, found {list(dimensions)}")


def _require_each(found: Mapping[str, object], expected: set[str], where: str, path: str) -> None:
    missing, unknown = sorted(expected - set(found)), sorted(set(found) - expected)
    if missing or unknown:
        problem = f"no values for {missing[0]!r}" if missing else f"values for {unknown[0]!r}, which has none"
        raise DocumentError(where, path, problem)
