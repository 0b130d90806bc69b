"""A call of an operation that was written in float32, in other types that the operation takes.

Halves become stored integers: of a scale of 0.5 in quantised types, twice as large in int32.
"""

from collections.abc import Iterator
from typing import Any

from npu_conformance.corpus.generators import _moves
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Data, Operands, OperandSpec, int32, materialised, tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32
from npu_conformance.corpus.variations.allowed import NOT_COUPLED
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.combinations import combination_since

Call = tuple[str, Operands, Operands]
"""The name of a type, the inputs and the outputs."""
Quantization = tuple[float, int]
"""Scale and zero point."""

_STEP = 0.5
_MIDDLE = 128
"""The zero point of the unsigned type."""
_SINCE = {"PAD": "1.2", "SPACE_TO_BATCH_ND": "1.2"}
"""Before, what they pad has the zero point 0 (PAD.C4, SPACE_TO_BATCH_ND.C7)."""


def in_other_types(
    name: str,
    operation: str,
    inputs: Operands,
    outputs: Operands,
    description: str,
    quantization: Quantization = (_STEP, _MIDDLE),
) -> Vectors:
    """A vector of the call in quantised types and int32, as far as the operation takes them.

    Signed codes are left out where they are a variation of unsigned ones. quantization: of unsigned outputs.
    """
    for kind, given, results in _calls(operation, inputs, outputs, quantization):
        since = _SINCE.get(operation, "1.0")
        yield positive(f"{kind}_{name}", operation, given, results, since=since, description=description)


def _calls(operation: str, inputs: Operands, outputs: Operands, quantization: Quantization) -> Iterator[Call]:
    taken = {}
    for kind in ("quant8", "quant8_signed", "int32"):
        given = {name: _in_type(kind, name, spec) for name, spec in inputs.items()}
        results = {name: _in_type(kind, name, spec, quantization) for name, spec in outputs.items()}
        if combination_since(operation, _types(given), _types(results)):
            taken[kind] = given, results
    if "quant8" in taken and operation not in NOT_COUPLED:
        taken.pop("quant8_signed", None)
    for kind, call in taken.items():
        yield kind, *call


def _types(operands: Operands) -> tuple[str, ...]:
    return tuple(spec.operand.type.name for spec in operands.values())


def _in_type(kind: str, name: str, spec: OperandSpec, quantization: Quantization = (_STEP, _MIDDLE)) -> OperandSpec:
    """Floats in another type. Biases are int32 with the scales of both factors, values of elements int32 scalars."""
    if name in ("value", "pad_value"):
        return int32(int(_stored(kind, float(materialised(spec)[()]))))
    if spec.operand.type != FLOAT32:
        return spec
    if name == "bias":
        return tensor(INT32, spec.shape, materialised(spec) / _STEP**2, scale=_STEP**2, constant=True)
    scale, zero_point = quantization
    details = _moves.quantization(kind, zero_point, scale)
    return tensor(_moves.KINDS[kind], spec.shape, _data(kind, spec), constant=spec.constant, **details)


def _data(kind: str, spec: OperandSpec) -> Data | None:
    if isinstance(spec.data, GeneratorDocument):
        low, high = _stored(kind, spec.data.low), _stored(kind, spec.data.high)
        return GeneratorDocument(kind="integers", seed=spec.data.seed, low=low, high=high)
    return None if spec.data is None else _stored(kind, spec.data)


def _stored(kind: str, real: Any) -> Any:
    return real / _STEP + (_MIDDLE if kind == "quant8" else 0)
