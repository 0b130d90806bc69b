"""A call of an operation that was written in float32, in other types that the operation takes.

Halves become stored integers: of a scale of 0.5 in quantised types, twice as large in int32.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msgspec import structs

from npu_conformance.corpus.generators._moves import KINDS, quantization
from npu_conformance.corpus.generators.operands import Data, Operands, OperandSpec, int32, materialised, tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType

Call = tuple[str, Operands, Operands]
"""The name of a type, the inputs and the outputs."""

_STEP = 0.5
_MIDDLE = 128
"""The zero point of the unsigned type."""


def in_other_types(operation: str, inputs: Operands, outputs: Operands, result_scale: float = _STEP) -> Iterator[Call]:
    """The call with unsigned codes (of which signed ones are a variation), or else signed ones; and in int32.

    Types that the operation does not take are left out. result_scale: of quantised outputs.
    """

    def in_type(kind: str) -> Call | None:
        given = {name: _in_type(kind, name, spec) for name, spec in inputs.items()}
        results = {name: _scaled(_in_type(kind, name, spec), result_scale) for name, spec in outputs.items()}
        is_taken = combination_since(operation, _types(given), _types(results)) is not None
        return (kind, given, results) if is_taken else None

    yield from filter(None, (in_type("quant8") or in_type("quant8_signed"), in_type("int32")))


def _types(operands: Operands) -> tuple[str, ...]:
    return tuple(spec.operand.type.name for spec in operands.values())


def _in_type(kind: str, name: str, spec: OperandSpec) -> OperandSpec:
    """Floats in another type. Biases are int32 with the scales of both factors, values of padding are int32 scalars."""
    if spec.operand.type == OperandType.FLOAT32:
        return int32(int(_stored(kind, float(materialised(spec)[()]))))
    if spec.operand.type != FLOAT32:
        return spec
    if name == "bias":
        return tensor(INT32, spec.shape, materialised(spec) / _STEP**2, scale=_STEP**2, constant=True)
    return tensor(
        KINDS[kind], spec.shape, _data(kind, spec), constant=spec.constant, **quantization(kind, _MIDDLE, _STEP)
    )


def _data(kind: str, spec: OperandSpec) -> Data | None:
    if isinstance(spec.data, GeneratorDocument):
        low, high = _stored(kind, spec.data.low), _stored(kind, spec.data.high)
        return GeneratorDocument(kind="integers", seed=spec.data.seed, low=low, high=high)
    return None if spec.data is None else _stored(kind, spec.data)


def _stored(kind: str, real: Any) -> Any:
    return real / _STEP + (_MIDDLE if kind == "quant8" else 0)


def _scaled(spec: OperandSpec, scale: float) -> OperandSpec:
    is_quantised = spec.operand.scale == _STEP
    return replace(spec, operand=structs.replace(spec.operand, scale=scale)) if is_quantised else spec
