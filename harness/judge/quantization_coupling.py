"""Quantization coupling (1.3): the signed and the unsigned 8-bit form of an operation are both supported or neither.

Their results are equal. AOSP's VTS prepares both and compares each with its own expected values; that the two results
belong together is asked by the interface text alone. Rounding may differ: Android's own CPU implementation rounds
halves of stored values up in AVERAGE_POOL_2D where they are unsigned, and away from zero where they are signed; its
two forms of RESIZE_BILINEAR are up to two steps apart, each within one of the right value. So what each form may be off
by itself is no failure; that they are not equal is a quality warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from npu_conformance.corpus import variations
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import RunningCase, outside
from npu_conformance.harness.judge.tolerance import Circumstances, floor
from npu_conformance.specs.neuralnetworks.enums import OperandType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

CONFIGURATION = "unsigned_twin"
REQUIREMENTS = ("NNHAL-SUPPORT-009", "NNHAL-EXECUTE-017")
_AOSP = "AOSP's VTS would fail too: no, it judges each form by itself"
_SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED


def unsigned_counterpart(vector: Vector) -> Vector | None:
    """The unsigned form of a vector of one operation in signed 8 bit; None where it has none that must agree."""
    return variations.unsigned(vector) if len(vector.operations) == 1 and not vector.rejected else None


@checks.about("NNHAL-SUPPORT-009", "NNHAL-SUPPORT-008")
def supported_alike(signed: bool, unsigned: bool) -> None:
    """Fail where only one of the two forms can be prepared (NNHAL-SUPPORT-008, -009)."""
    word = {True: "supported", False: "not supported"}
    checks.that(
        signed == unsigned,
        f"the signed form is {word[signed]}, its unsigned counterpart is {word[unsigned]}: expected both or neither; "
        "AOSP's VTS would fail too: yes",
    )


@checks.about("NNHAL-EXECUTE-017")
def same_results(
    context: RunningCase, vector: Vector, signed: Mapping[str, Array], unsigned: Mapping[str, Array]
) -> None:
    """Compare what the two forms computed: equal but for the offset of 128, give or take what each may be off.

    signed, unsigned: stored elements of the outputs by name.
    """
    for name, actual in signed.items():
        operand_type, expected = vector.operands[name].type, unsigned[name]
        if name in vector.ignored:
            continue
        if operand_type is _SIGNED:
            expected = (expected.astype("int16") - 128).astype("int8")
        tolerance = floor(operand_type, Circumstances(relaxed=vector.relaxed)).judged.of_two_results()
        apart = int(outside(actual, expected, tolerance).sum())
        what = f"output '{name}' against that of the unsigned counterpart (less 128 where it is quantised)"
        checks.that(apart == 0, f"{what}: {apart} of {actual.size} elements differ by more than {tolerance}; {_AOSP}")
        rounded = int((actual != expected).sum()) if operand_type is _SIGNED else 0
        if rounded:
            context.warn_quality(f"{what}: {rounded} of {actual.size} elements are rounded the other way")
