"""Quantization coupling (1.3): the signed and the unsigned 8-bit form of an operation are both supported or neither.

The cases here are the operations whose results may differ; where they must agree, the case of a vector compares them.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.quantization_coupling import supported_alike
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.support import supports

_UNSIGNED, _SIGNED = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED


def cases() -> Iterator[Case]:
    """One for each operation whose two forms need not agree, but must both be there."""
    for operation in sorted(allowed.NOT_COUPLED & set(vectors.operations())):
        unsigned, signed = _unsigned(operation)
        if unsigned:
            yield _support_case(operation, unsigned, signed)


def _unsigned(operation: str) -> tuple[list[str], tuple[str, ...]]:
    """The vectors whose types have a signed form, of which there are vectors too; and the types of the first of these.

    Nothing else says of what types these operations have both forms.
    """
    positive = [header for header in vectors.headers(operation) if header.rejected is None]
    known = {header.types for header in positive}
    pairs = [(header.name, _signed_types(header.types)) for header in positive if _UNSIGNED.name in header.types]
    found = [(name, types) for name, types in pairs if types in known]
    return [name for name, _ in found], found[0][1] if found else ()


def _signed_types(types: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_SIGNED.name if kind == _UNSIGNED.name else kind for kind in types)


def _twin(vector: Vector) -> Vector:
    """The model, with all that was unsigned in signed 8 bit. What PAD_V2 pads with is a stored element in a scalar."""
    twin = variations.signed(vector)
    if vector.operation != "PAD_V2":
        return twin
    name = vector.operations[0].inputs[2]
    padding = vector.operands[name]
    if padding.value is None:  # it comes with the request
        return twin
    value = padding.value.copy()
    value -= 128
    return replace(twin, operands={**twin.operands, name: replace(padding, value=value)})


def _answers(context: CaseContext, vector: Vector) -> list[bool]:
    """Whether the vector's model is supported, and its twin: both are, or neither."""
    signed, unsigned = (supports(context, one) for one in (_twin(vector), vector))
    with checks.telling(lambda: f"the unsigned one is that of {vector.operation}.{vector.name}"):
        supported_alike(signed, unsigned)
    return [signed, unsigned]


def _support_case(operation: str, unsigned: list[str], types: tuple[str, ...]) -> Case:
    def run(context: CaseContext) -> None:
        answers = [_answers(context, vectors.load(operation, name)) for name in unsigned]
        if not any(map(any, answers)):
            raise NotSupported(f"{operation} is not supported in 8 bit")

    return Case(
        f"vts.coupling.{operation}.supported_alike",
        run,
        ("NNHAL-SUPPORT-008", "NNHAL-SUPPORT-009"),
        "A model in unsigned 8 bit and its signed twin are both supported, or neither; results may differ.",
        since=Version.V1_3,
        group=Group.VALIDATION,
        operations=(operation,),
        types=types,
    )
