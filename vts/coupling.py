"""Quantization coupling (1.3): the signed and the unsigned 8-bit form of an operation are both supported or neither.

The cases here are the operations whose results may differ; where they must agree, the case of a vector compares them.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import VectorHeader
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
        pair = _pair(operation)
        if pair is not None:
            yield _support_case(operation, *pair)


def _pair(operation: str) -> tuple[VectorHeader, VectorHeader] | None:
    """The first two vectors whose types are those of the unsigned and of the signed form; None where there are none."""
    positive = [header for header in vectors.headers(operation) if header.rejected is None]
    by_types = {header.types: header for header in reversed(positive)}
    for types, unsigned in by_types.items():
        signed = by_types.get(tuple(_SIGNED.name if kind == _UNSIGNED.name else kind for kind in types))
        if _UNSIGNED.name in types and signed is not None:
            return unsigned, signed
    return None


def _support_case(operation: str, unsigned: VectorHeader, signed: VectorHeader) -> Case:
    def run(context: CaseContext) -> None:
        supported = [supports(context, vectors.load(operation, one.name)) for one in (signed, unsigned)]
        supported_alike(*supported)
        if not any(supported):
            raise NotSupported(f"{operation} is not supported in 8 bit")

    return Case(
        f"vts.coupling.{operation}.supported_alike",
        run,
        ("NNHAL-SUPPORT-008", "NNHAL-SUPPORT-009"),
        "The signed and the unsigned form are both supported, or neither; results may differ.",
        since=Version.V1_3,
        group=Group.VALIDATION,
        operations=(operation,),
        types=signed.types,
    )
